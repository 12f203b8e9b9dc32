"""A query in this process: from records as they lie in topics to what is told of its rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from streams_sql.evaluation.compiler import OnError
from streams_sql.formats.library import format_of
from streams_sql.formats.serde import Decode, Layout
from streams_sql.local.pipeline import Pipeline
from streams_sql.plan.nodes import PersistentPlan, Read
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.plan.records import Problem, RecordReader, Records
from streams_sql.sources import ROWTIME, WINDOWEND, WINDOWSTART, Column, FormatUse
from tests.streams_sql.processors.plans import unexpected


class Given(NamedTuple):
    """A record. Without values, the row of a table is deleted."""

    source: str
    key: str | None
    values: Mapping[str, Any] | None
    time: int


class Told(NamedTuple):
    """A row of the sink. `values` is None where it is told to be gone."""

    key: tuple[Any, ...]
    window: tuple[int, int] | None
    values: Mapping[str, Any] | None
    time: int


class StatementRun:
    """One query, which is fed records one by one. `topics` are those of the sources."""

    def __init__(self, plan: PersistentPlan, topics: Mapping[str, str], on_error: OnError = unexpected) -> None:
        self._plan = plan
        self._topics = topics
        self._pipeline = Pipeline(plan.node, on_error)
        self._readers = [_reader(read) for read in self._pipeline.reads]
        self._offsets = Counter[str]()

    def told(self, records: Iterable[Given]) -> list[Told]:
        return [row for record in records for row in self._take(record)]

    def _take(self, record: Given) -> list[Told]:
        topic = self._topics[record.source]
        key = None if record.key is None else record.key.encode()
        value = None if record.values is None else json.dumps(record.values).encode()
        raw = Records([key], [value], [record.time], [0], [self._offsets[topic]])
        self._offsets[topic] += 1
        rows: list[Row] = []
        for place, (read, reader) in enumerate(zip(self._pipeline.reads, self._readers, strict=True)):
            if read.source.topic == topic:
                rows += self._pipeline.feed(place, reader.rows(raw))
        return [self._row(row) for row in rows]

    def _row(self, row: Row) -> Told:
        values = dict(zip(columns_of(self._plan.node), row[:-1], strict=True))
        sink = self._plan.sink
        return Told(
            tuple(values[column.name] for column in sink.schema.key),
            None if sink.key_window is None else (values[WINDOWSTART], values[WINDOWEND]),
            None if row[-1][0] else {column.name: values[column.name] for column in sink.schema.value},
            values[ROWTIME],
        )


def _reader(read: Read) -> RecordReader:
    source = read.source
    key = _decoder(source.key_format, source.schema.key, source.topic, is_key=True)
    value = _decoder(source.value_format, source.schema.value, source.topic, is_key=False)
    return RecordReader(read, key, value, _undecodable)


def _undecodable(problem: Problem) -> None:
    raise AssertionError(problem)


def _decoder(use: FormatUse, columns: tuple[Column, ...], topic: str, *, is_key: bool) -> Decode:
    return format_of(use.name).decoder(Layout(use, columns, topic, is_key))
