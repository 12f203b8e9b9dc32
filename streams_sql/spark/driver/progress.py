"""What Spark tells of a batch, in our words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from streams_sql.spark.driver.messages import BadRecord, Progress
from streams_sql.spark.jobs.plans import OBSERVED_HELD, OBSERVED_TIMES, OBSERVED_WRITES
from streams_sql.spark.jobs.stages import EXAMPLES_MAX
from streams_sql.spark.sources.batch_plan import BEFORE_ALL, Pace
from streams_sql.spark.sources.positions import Offsets, read_by_all, topic_offsets

MS_PER_S: Final = 1_000


def progress_of(query_id: str, text: str, first: Mapping[str, Mapping[int, int]]) -> Progress:
    """From the JSON of Spark's StreamingQueryProgress. `first` are the offsets at which the query has begun to read its topics."""
    told: dict[str, Any] = json.loads(text)
    sources: Sequence[Mapping[str, Any]] = told.get("sources") or ()
    observed: dict[str, dict[str, Any]] = told.get("observedMetrics") or {}
    examples = [example for metrics in observed.values() for example in metrics.get("examples") or ()]
    input_rows = sum(_read(source, first) for source in sources) if first else told.get("numInputRows") or 0
    duration_ms = (told.get("durationMs") or {}).get("triggerExecution") or 0
    return Progress(
        query_id=query_id,
        batch_id=told["batchId"],
        input_rows=input_rows,
        written_rows=_written(told, observed),
        rows_per_second=input_rows * MS_PER_S / duration_ms if duration_ms else 0.0,
        lag=sum(map(_lag, sources)),
        state_rows=sum(operator.get("numRowsTotal") or 0 for operator in told.get("stateOperators") or ()),
        duration_ms=duration_ms,
        bad_records=sum(metrics.get("bad") or 0 for metrics in observed.values()),
        failed=sum(metrics.get("failed") or 0 for metrics in observed.values()),
        examples=tuple(BadRecord(**example) for example in examples[:EXAMPLES_MAX]),
        held_rows=_held_rows(observed),
        read=_read_to(sources),
    )


def pace_of(text: str, topics: Sequence[str], before: Pace) -> Pace:
    """How far a batch has come in time, by the number of each topic, after those before it. From the same JSON."""
    observed: dict[str, dict[str, Any]] = json.loads(text).get("observedMetrics") or {}
    times = dict(before.times)
    for each in observed.get(OBSERVED_TIMES, {}).get("times") or ():
        partition = topics[each["topic"]], each["partition"]
        times[partition] = max(times.get(partition, BEFORE_ALL), each["reached"])
    return Pace(times, _held_rows(observed))


def _held_rows(observed: Mapping[str, Mapping[str, Any]]) -> int:
    return observed.get(OBSERVED_HELD, {}).get("rows") or 0


def read_to(text: str) -> dict[str, Offsets]:
    """How far a batch has read each topic. From the same JSON."""
    return _read_to(json.loads(text).get("sources") or ())


def _read_to(sources: Sequence[Mapping[str, Any]]) -> dict[str, Offsets]:
    return read_by_all(topic_offsets(source.get("endOffset") or {}) for source in sources)


def _written(told: Mapping[str, Any], observed: Mapping[str, Mapping[str, Any]]) -> int:
    """By our own writer, or in real-time mode by Spark's sink."""
    if OBSERVED_WRITES in observed:
        return observed[OBSERVED_WRITES].get("written") or 0
    return max((told.get("sink") or {}).get("numOutputRows") or 0, 0)


def _read(source: Mapping[str, Any], first: Mapping[str, Mapping[int, int]]) -> int:
    """The records of a batch. Spark counts what comes out of the stage that reads them."""
    ends = topic_offsets(source.get("endOffset") or {})
    start = source.get("startOffset") or {topic: first[topic] for topic in ends}
    return sum(_offsets(ends)) - sum(_offsets(start))


def _lag(source: Mapping[str, Any]) -> int:
    """Records that are on the topic and not read yet. In real-time mode, a batch reads beyond what was the end when it began."""
    return max(sum(_offsets(source.get("latestOffset"))) - sum(_offsets(source.get("endOffset"))), 0)


def _offsets(told: object) -> Iterable[int]:
    if not isinstance(told, dict):
        return ()
    return (offset for offsets in topic_offsets(told).values() for offset in offsets.values())
