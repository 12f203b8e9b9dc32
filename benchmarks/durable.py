"""Rows of durability: acks=all answered after the record is on the disk, on both sides."""

from __future__ import annotations

from functools import partial

from benchmarks import job
from benchmarks.job import Figures, Job
from benchmarks.rows import Metric, Scale, SharedRow, Site
from benchmarks.spread import Target, at_least

MANY = 64


def synced_produces(producers: int, partitions: int, site: Site, scale: Scale) -> Figures:
    """Each producer has one record of 1 KiB in flight; one producer alone goes round the partitions."""
    kind: job.Kind = "one in flight" if producers == 1 else "many producers"
    with site.topic(partitions) as topic:
        figures = job.run(
            Job.on(
                kind,
                site.port,
                topic,
                producers=producers,
                seconds=scale.seconds,
                warm_seconds=scale.warm_seconds,
            )
        )
        site.verify(topic, figures["all_records"])
    return figures


def row(producers: int, partitions: int, target: Target | None) -> SharedRow:
    who = "1 producer" if producers == 1 else f"{producers} producers"
    where = "1 partition" if partitions == 1 else f"{partitions} partitions"
    metrics = (
        Metric("requests_s", f"fsync before each answer, {who}, {where}", "msg/s", target, "fdatasync_per_s"),
        Metric("p50_us", "p50", "µs"),
        Metric("p99_us", "p99", "µs"),
    )
    return SharedRow(
        f"durable-{producers}-{partitions}p", "durable", metrics, partial(synced_produces, producers, partitions)
    )


ROWS = (
    row(1, 1, None),
    row(1, 6, None),
    row(1, 50, None),
    row(MANY, 1, at_least(5.0)),
    row(MANY, 6, at_least(5.0)),
    row(MANY, 50, at_least(1.0)),
)
