"""The in-process host: a persistent query whose partitions are fed piece by piece."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from random import Random

from streams_sql.formats.library import encoder_of
from streams_sql.formats.serde import Layout
from streams_sql.local.interleaving import Line, in_order, rank_of
from streams_sql.local.pipeline import Pipeline
from streams_sql.local.topic_records import record_reader
from streams_sql.plan.nodes import PersistentPlan
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.plan.record_writing import RowEncoding
from streams_sql.plan.records import Problem, Records
from streams_sql.problem import SqlProblem
from streams_sql.sources import ROWTIME
from tests.streams_sql.analysis.catalogues import planned, sources
from tests.streams_sql.recomputation.cases import Case
from tests.streams_sql.recomputation.outcomes import Outcome
from tests.streams_sql.recomputation.queries import KEY_ITEM, Select
from tests.streams_sql.recomputation.recomputation import Mode
from tests.streams_sql.recomputation.sink_rows import SinkRecord, sink_outcome
from tests.streams_sql.recomputation.sources import Record, encoded_key, encoded_value

BATCHES = (1, 1, 2, 7, 1000)
"""Records of a partition that are read together: one of these numbers."""


def case_plan(case: Case) -> PersistentPlan:
    """SqlProblem where the query is rejected."""
    catalogue = sources(*(source.statement(source.name).rstrip(";") for source in case.sources))
    plan = planned(case.query.statement("made", "made", 1).rstrip(";"), catalogue)
    if [column.name for column in plan.sink.schema.key] != [KEY_ITEM.upper()]:
        raise SqlProblem("Another column than the first one is the key: both sides of a join are selected.")
    return plan


def written_locally(case: Case, plan: PersistentPlan) -> list[SinkRecord]:
    """What the in-process host writes to the sink, in its order."""
    return _LocalQuery(case, plan).written()


class LocalHost:
    """Batches end at random places, and partitions are read in a random order: the result does not depend on it."""

    mode = Mode.PERSISTENT

    def takes(self, query: Select) -> bool:
        return True

    def outcomes(self, cases: list[Case]) -> Iterator[Outcome | Exception]:
        for case in cases:
            try:
                yield self._outcome(case)
            except Exception as error:  # noqa: BLE001 - it is the outcome
                yield error

    def _outcome(self, case: Case) -> Outcome:
        plan = case_plan(case)
        return sink_outcome(plan, case.query, written_locally(case, plan))


class _LocalQuery:
    def __init__(self, case: Case, plan: PersistentPlan) -> None:
        self._case = case
        self._random = Random(case.seed)
        self._pipeline = Pipeline(plan.node, _pass_over)
        reads = self._pipeline.reads
        self._readers = [(record_reader(read, None, _fail), columns_of(read).index(ROWTIME)) for read in reads]
        self._places = defaultdict[str, list[int]](list)
        for place, read in enumerate(reads):
            self._places[read.source.topic].append(place)
        self._unread = defaultdict[tuple[str, int], list[Record]](list)
        for record in case.records:
            self._unread[record.source, record.partition].append(record)
        self._offsets = dict.fromkeys(self._unread, 0)
        self._lines = {
            (topic, partition): Line(rank_of(reads, self._places[topic], partition), True)
            for topic, partition in self._unread
        }
        sink = plan.sink
        self._encoding = RowEncoding(
            sink,
            columns_of(plan.node),
            encoder_of(Layout(sink.key_format, sink.schema.key, sink.topic, is_key=True)),
            encoder_of(Layout(sink.value_format, sink.schema.value, sink.topic, is_key=False)),
            sink.topic,
        )

    def written(self) -> list[SinkRecord]:
        found: list[SinkRecord] = []
        size = self._random.choice(BATCHES)
        while unread := [place for place, records in self._unread.items() if self._lines[place].is_awaited]:
            self._read(self._random.choice(unread), size)
            for place, rows in in_order(list(self._lines.values())):
                found += self._encoded(self._pipeline.feed(place, rows))
        return found

    def _read(self, partition: tuple[str, int], size: int) -> None:
        line, records, first = self._lines[partition], self._unread[partition], self._offsets[partition]
        batch = records[first : first + size]
        self._offsets[partition] = first + len(batch)
        line.is_awaited = first + len(batch) < len(records)
        key_type = self._case.source(partition[0]).columns[0].type
        for offset, record in enumerate(batch, first):
            key = encoded_key(record.key, key_type)
            raw = Records([key], [encoded_value(record)], [record.time], [record.partition], [offset], [()])
            for place in self._places[partition[0]]:
                reader, rowtime = self._readers[place]
                line.items.extend((row[rowtime], place, row) for row in reader.rows(raw))

    def _encoded(self, rows: list[Row]) -> list[SinkRecord]:
        if not rows:
            return []
        return [SinkRecord(*message) for message in zip(*self._encoding.messages(rows, _fail), strict=True)]


def _pass_over(error: Exception) -> None:
    """The value is NULL, as the language has it."""


def _fail(problem: Problem) -> None:
    raise AssertionError(problem)
