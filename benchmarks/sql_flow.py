"""One measurement of throughput: a query is started on a topic that is full, and has done when all that must come out of it is there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.job import Figures
from benchmarks.lifecycle import MB
from benchmarks.sql_engines import Deployment, Kind, Query
from benchmarks.sql_stage import Stage, passed
from benchmarks.wire import Topic, UnexpectedAnswer

PROBE_SECONDS = 0.25
CHECK_SECONDS = 5.0
# A result that changes with its input has no number of records: when none has come for so long, it is looked at.
QUIET_SECONDS = 3.0
LIMIT_SECONDS = 900
LEAST_CPU_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Outcome:
    """What must come out: so many records, or a result of which `is_whole` says whether all of it is there."""

    records: int | None
    is_whole: Callable[[Topic], bool]


def outcome(stage: Stage, kind: Kind, orders: int) -> Outcome:
    if kind in ("count", "window"):
        return Outcome(None, lambda sink: stage.counted(sink) == orders)
    expected = orders if kind == "join" else passed(orders)
    # The filter lets the last order of a partition pass as well, where it is one that passes; the first is not.
    return Outcome(expected, lambda sink: stage.count(sink) == expected)


def run(stage: Stage, deployment: Deployment, kind: Kind, *, is_warm_up: bool = False) -> Figures:
    """All orders through one query."""
    if kind == "join" or (is_warm_up and kind != "filter-avro"):
        # A join takes several times as long for each of them.
        orders, count = stage.warm_orders, stage.scale.warm_orders
    else:
        orders, count = stage.avro_orders if kind == "filter-avro" else stage.json_orders, stage.scale.orders
    customers = stage.customers.name if kind == "join" else ""
    expected = outcome(stage, kind, count)
    with stage.passing_topic(f"{deployment.name}-{kind}") as sink:
        used, began = deployment.cpu_seconds(), time.time()
        query_id = deployment.start(Query(kind, orders.name, sink.name, customers))
        try:
            ended, peak = await_outcome(stage, deployment, query_id, sink, expected)
            used = deployment.cpu_seconds() - used
        finally:
            deployment.stop(query_id)
    return {
        "records": count,
        "records_s": count / (ended - began),
        "cpu_us": max(used, LEAST_CPU_SECONDS) / count * 1e6,
        "memory_mb": peak / MB,
    }


def await_outcome(
    stage: Stage, deployment: Deployment, query_id: str, sink: Topic, expected: Outcome
) -> tuple[float, int]:
    """When the last of the records came, and the most memory that was seen."""
    began = checked = changed = time.monotonic()
    count, peak = 0, deployment.resident_bytes()
    while True:
        time.sleep(PROBE_SECONDS)
        before, count, now = count, stage.count(sink), time.monotonic()
        changed = now if count != before else changed
        is_done = count == expected.records if expected.records is not None else count and now - changed > QUIET_SECONDS
        if is_done and expected.is_whole(sink):
            return stage.last_arrival(sink), peak
        if expected.records is not None and count > expected.records:
            raise UnexpectedAnswer(f"{count:,} records have come, of {expected.records:,}")
        if now - checked > CHECK_SECONDS:
            deployment.check(query_id)
            peak = max(peak, deployment.resident_bytes())
            checked = now
        if now - began > LIMIT_SECONDS:
            raise TimeoutError(f"{count:,} records have come in {LIMIT_SECONDS} s, of {expected.records or 'some'}")
