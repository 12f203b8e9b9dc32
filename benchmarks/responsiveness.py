"""Rows of latency: one record in flight, from producer to consumer, and beside a client that sends all it can."""

from __future__ import annotations

from functools import partial

from benchmarks import job
from benchmarks.bulk import BIG_BATCH_BYTES, BIG_IN_FLIGHT
from benchmarks.job import Child, Figures, Job
from benchmarks.rows import Metric, Scale, SharedRow, Site
from benchmarks.spread import at_most, percentile

PACED_RATE = 1_000
PACED_WARM_RECORDS = 500
BESIDE_MB_S = 200
HEAVY_LEAD_SECONDS = 0.5


def one_in_flight(site: Site, scale: Scale) -> Figures:
    with site.topic(1) as topic:
        figures = job.run(
            Job.on("one in flight", site.port, topic, count=scale.requests, warm_count=scale.requests // 10)
        )
        site.verify(topic, figures["all_records"])
    return figures


def end_to_end(site: Site, scale: Scale) -> Figures:
    """From the moment before a record is sent to the moment the long poll that carries it is read; two processes, one clock."""
    count = scale.paced_records + PACED_WARM_RECORDS
    with site.topic(1) as topic:
        consumer = Child(Job.on("tail", site.port, topic, count=count))
        try:
            consumer.wait_until_ready()
            sent = Child(Job.on("paced", site.port, topic, count=count, rate=PACED_RATE)).outcome()
            arrived = consumer.outcome()
        finally:
            consumer.stop()
        site.verify(topic, count)
    pairs = zip(sent.stamps_ns, arrived.stamps_ns, strict=True)
    took = sorted((arrival - departure) / 1e3 for departure, arrival in list(pairs)[PACED_WARM_RECORDS:])
    return {"p50_us": percentile(took, 0.5), "p99_us": percentile(took, 0.99), "max_us": took[-1]}


def beside_heavy(mb_s: float, site: Site, scale: Scale) -> Figures:
    """100 B records one in flight, while another client sends 1 MB batches to another topic (at `mb_s`, or all it can if 0)."""
    seconds = scale.seconds + 2 * HEAVY_LEAD_SECONDS
    with site.topic(1) as wide, site.topic(1) as narrow:
        heavy = Child(
            Job.on(
                "produce",
                site.port,
                wide,
                batch_bytes=BIG_BATCH_BYTES,
                in_flight=BIG_IN_FLIGHT,
                seconds=seconds,
                rate=mb_s * 1e6 / BIG_BATCH_BYTES,
                broker_pid=site.pid,
            )
        )
        try:
            heavy.wait_until_ready()
            tiny = job.run(
                Job.on(
                    "one in flight",
                    site.port,
                    narrow,
                    record_bytes=100,
                    seconds=scale.seconds,
                    warm_seconds=HEAVY_LEAD_SECONDS,
                )
            )
            carried = heavy.outcome().figures
        finally:
            heavy.stop()
        site.verify(narrow, tiny["all_records"])
        site.verify(wide, carried["all_records"])
    return tiny | {"heavy_mb_s": carried["mb_s"]}


BESIDE_METRICS = (
    Metric("p50_us", "p50", "µs"),
    Metric("p99_us", "p99", "µs", at_most(1.0)),
    Metric("max_us", "worst", "µs"),
    Metric("heavy_mb_s", "the heavy client", "MB/s"),
)

ROWS = (
    SharedRow(
        "one-in-flight",
        "relaxed",
        (
            Metric(
                "p50_us",
                "one 1 KiB record in flight, acks=all, p50",
                "µs",
                at_most(1.0, goal=0.8),
                "one_in_flight_p50_us",
            ),
            Metric("p99_us", "p99", "µs", at_most(1.0), "one_in_flight_p99_us"),
        ),
        one_in_flight,
    ),
    SharedRow(
        "end-to-end",
        "relaxed",
        (
            Metric("p50_us", "producer to consumer at 1,000 msg/s, p50", "µs", at_most(0.6)),
            Metric("p99_us", "p99", "µs"),
        ),
        end_to_end,
    ),
    SharedRow(
        "beside-saturating",
        "relaxed",
        (Metric("requests_s", "tiny produces while another client sends all it can", "1/s"), *BESIDE_METRICS),
        partial(beside_heavy, 0),
    ),
    SharedRow(
        "beside-steady",
        "relaxed",
        (Metric("requests_s", f"tiny produces while another client sends {BESIDE_MB_S} MB/s", "1/s"), *BESIDE_METRICS),
        partial(beside_heavy, BESIDE_MB_S),
    ),
)
