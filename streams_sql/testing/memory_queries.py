"""Persistent queries on topics in memory: the pipeline of the in-process host, between decoders and encoders as they are used on Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from streams_sql.engine.catalogue.catalogue import PersistentQuery
from streams_sql.evaluation.compiler import OnError
from streams_sql.formats.library import encoder_of
from streams_sql.formats.serde import Layout, RegistryAccess
from streams_sql.local.pipeline import Pipeline
from streams_sql.local.topic_records import record_reader
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.plan.record_writing import RowEncoding
from streams_sql.plan.records import OnProblem, Records
from streams_sql.sources import Source
from streams_sql.testing.memory_topics import MemoryTopics, Record

RegistryOf = Callable[[Source], RegistryAccess | None]
"""Where the schemas of a source are kept; None where its formats have none."""


class Hearers(NamedTuple):
    """Who is told of records that cannot be read or written, and of expressions that fail."""

    on_problem: OnProblem
    on_error: OnError


class Written(NamedTuple):
    """A record that a query gives."""

    key: bytes | None
    value: bytes | None
    timestamp: int


class MemoryQuery:
    """`begin` and `position` are places in the history of the topics: where it has begun to read streams, and what it takes next. Tables are
    read from their beginnings: they are what all their records have made of them. So are topics that a `former` query, in whose place this
    one is, has not read."""

    def __init__(
        self,
        query: PersistentQuery,
        begin: int,
        registry_of: RegistryOf,
        hearers: Hearers,
        former: MemoryQuery | None = None,
    ) -> None:
        plan = query.plan
        sink = plan.sink
        registry = registry_of(sink)
        self.id = query.id
        self.sink = sink
        self.begin = begin
        self.position = 0
        self._pipeline = Pipeline(plan.node, hearers.on_error)
        self._reads = self._pipeline.reads
        self.topics = {read.source.topic for read in self._reads}
        self.whole = {read.source.topic for read in self._reads if read.source.is_table}
        if former is not None:
            self.whole |= former.whole | self.topics - former.topics
        self._readers = [record_reader(read, registry_of(read.source), hearers.on_problem) for read in self._reads]
        self._on_problem = hearers.on_problem
        self._encoding = RowEncoding(
            sink,
            columns_of(plan.node),
            encoder_of(Layout(sink.key_format, sink.schema.key, sink.topic, is_key=True, registry=registry)),
            encoder_of(Layout(sink.value_format, sink.schema.value, sink.topic, is_key=False, registry=registry)),
            sink.topic,
        )

    def take(self, topics: MemoryTopics) -> list[Written]:
        """What comes of the next record."""
        place, record = self.position, topics.history[self.position]
        self.position += 1
        is_early = place < self.begin and record.topic not in self.whole
        return [] if is_early or not topics.is_there(record) else self._written(record)

    def catch_up(self, topics: MemoryTopics, end: int) -> list[Written]:
        """What comes of all records before a place of the history."""
        found: list[Written] = []
        while self.position < end:
            found += self.take(topics)
        return found

    def _written(self, record: Record) -> list[Written]:
        rows: list[Row] = []
        raw = Records([record.key], [record.value], [record.timestamp], [0], [record.offset], [()])
        for place, (read, reader) in enumerate(zip(self._reads, self._readers, strict=True)):
            if read.source.topic == record.topic:
                rows += self._pipeline.feed(place, reader.rows(raw))
        messages = self._encoding.messages(rows, self._on_problem) if rows else ((), (), ())
        return [Written(*message) for message in zip(*messages, strict=True)]


class MemoryQueries:
    """The queries of a test, in the order in which they were made."""

    def __init__(self, topics: MemoryTopics, registry_of: RegistryOf, hearers: Hearers) -> None:
        self._topics = topics
        self._registry_of = registry_of
        self._hearers = hearers
        self._queries: dict[str, MemoryQuery] = {}

    def start(self, query: PersistentQuery, *, is_from_now: bool) -> None:
        """One that takes the place of another goes on where that was, with what that knew: what it has read gives no rows again."""
        former = self._queries.get(query.id)
        if former is None:
            begin = len(self._topics.history) if is_from_now else 0
            self._queries[query.id] = self._made(query, begin)
            return
        made = self._made(query, former.begin, former)
        made.catch_up(self._topics, former.position)
        self._queries[query.id] = made

    def rebuild(self, query: PersistentQuery) -> None:
        """A query that cannot go on with what the former one knows. Of a table, rows that are others than before, or no more, are written;
        of a stream, those that come of records behind what the former one has read."""
        former = self._queries.pop(query.rebuilds or "")
        made = self._made(query, former.begin, former)
        written = made.catch_up(self._topics, former.position)
        self._queries[query.id] = made
        if query.plan.sink.is_table:
            self._bring_over(written, query.plan.sink.topic)

    def _bring_over(self, written: list[Written], topic: str) -> None:
        left = self._topics.table(topic)
        for key, record in _table(written).items():
            known = left.pop(key, None)
            if known is None or known.value != record.value:
                self._topics.append(topic, *record)
        for gone in left.values():
            self._topics.append(topic, gone.key, None, gone.timestamp)

    def end(self, query_id: str) -> None:
        self._queries.pop(query_id, None)

    def run(self, paused: Iterable[str]) -> None:
        """Until all that run have read everything. SqlProblem where that has no end."""
        stopped = set(paused)
        while True:
            behind = [
                query
                for query in self._queries.values()
                if query.id not in stopped and query.position < len(self._topics.history)
            ]
            if not behind:
                return
            query = min(behind, key=lambda each: each.position)
            for record in query.take(self._topics):
                self._topics.append(query.sink.topic, *record)

    def _made(self, query: PersistentQuery, begin: int, former: MemoryQuery | None = None) -> MemoryQuery:
        return MemoryQuery(query, begin, self._registry_of, self._hearers, former)


def _table(records: Iterable[Written]) -> dict[bytes, Written]:
    found: dict[bytes, Written] = {}
    for record in records:
        found.pop(record.key or b"", None)
        if record.value is not None:
            found[record.key or b""] = record
    return found
