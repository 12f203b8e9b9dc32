"""Rows of groups and transactions: members that join, commits, a rebalance, transactions."""

from __future__ import annotations

from functools import partial

from benchmarks import job
from benchmarks.job import Figures, Job
from benchmarks.rows import Metric, Scale, SharedRow, Site
from benchmarks.spread import at_least, at_most

GROUPS, MEMBERS = 200, 5
LARGE_GROUP = 50
REBALANCES = 10
COMMITTERS = 64
RECORDS_PER_TRANSACTION = 100


def joining(site: Site, scale: Scale) -> Figures:
    with site.topic(1) as topic:
        return job.run(Job.on("join groups", site.port, topic, count=GROUPS, producers=MEMBERS))


def leaving(site: Site, scale: Scale) -> Figures:
    with site.topic(1) as topic:
        return job.run(Job.on("rebalance", site.port, topic, count=REBALANCES, producers=LARGE_GROUP))


def committing(committers: int, site: Site, scale: Scale) -> Figures:
    with site.topic(1) as topic:
        return job.run(
            Job.on(
                "commits",
                site.port,
                topic,
                producers=committers,
                seconds=scale.seconds,
                warm_seconds=scale.warm_seconds,
            )
        )


def in_transactions(producers: int, site: Site, scale: Scale) -> Figures:
    with site.topic(producers) as topic:
        return job.run(
            Job.on(
                "transactions",
                site.port,
                topic,
                producers=producers,
                count=RECORDS_PER_TRANSACTION,
                record_bytes=100,
                seconds=scale.seconds,
                warm_seconds=scale.warm_seconds,
            )
        )


LATENCY = (Metric("p50_us", "p50", "µs"), Metric("p99_us", "p99", "µs"))


def commit_row(committers: int) -> SharedRow:
    who = "1 client" if committers == 1 else f"{committers} clients"
    first = Metric("requests_s", f"offset commits, {who}", "1/s", at_least(1.0))
    return SharedRow(f"commits-{committers}", "relaxed", (first, *LATENCY), partial(committing, committers))


def transaction_row(producers: int) -> SharedRow:
    who = "1 producer" if producers == 1 else f"{producers} producers"
    first = Metric("requests_s", f"transactions of {RECORDS_PER_TRANSACTION} records, {who}", "1/s", at_least(1.0))
    return SharedRow(f"transactions-{producers}", "relaxed", (first, *LATENCY), partial(in_transactions, producers))


ROWS = (
    SharedRow(
        "groups-join",
        "relaxed",
        (Metric("stable_ms", f"{GROUPS} groups of {MEMBERS} members, from joining to stable", "ms", at_most(1.0)),),
        joining,
    ),
    SharedRow(
        "groups-leave",
        "relaxed",
        (
            Metric("rebalance_ms", f"one of {LARGE_GROUP} members leaves, until stable", "ms", at_most(1.0)),
            Metric("worst_ms", "worst", "ms"),
        ),
        leaving,
    ),
    commit_row(1),
    commit_row(COMMITTERS),
    transaction_row(1),
    transaction_row(16),
)
