"""What Spark's Python workers do with records and rows: one stage reads, computes and writes without leaving Python.

Measured against Spark's own operators with from_json and to_json, one stage in Python took less than a third of the processor time: a
record does not cross between the JVM and Python at all, and only what the query asks for is made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark import TaskContext

from streams_sql.formats.serde import Layout
from streams_sql.formats.spark_types import spark_type
from streams_sql.plan.expression_problems import ExpressionProblems
from streams_sql.plan.nodes import Filter, FlatMap, Project, Read, Rekey
from streams_sql.plan.pipeline import Batch, Row, compile_batches
from streams_sql.plan.record_writing import RowEncoding
from streams_sql.plan.records import OnProblem, Problem, ProblemKind, RecordReader, Records
from streams_sql.sources import Column, Source
from streams_sql.spark.jobs.arrow_values import arrow_type, from_arrow, to_arrow
from streams_sql.spark.jobs.codecs import column_decoder_of, decoder_of, encoder_of
from streams_sql.spark.jobs.producers import NoProducer, TaskProducer, shared_producer
from streams_sql.spark.jobs.transactions import Marks, TransactionalProducer
from streams_sql.spark.sources.broker_access import KafkaAccess
from streams_sql.spark.sources.ranges import Range
from streams_sql.sql_types import quoted

PARTITION: Final = "__partition"
OFFSET: Final = "__offset"
PROBLEM: Final = "__problem"
ROWS_TOGETHER: Final = 5_000
"""Handed on to the JVM at once; it bounds the memory of a worker, with the size of its rows."""
EXAMPLES_MAX: Final = 10
REASON_CHARACTERS: Final = 500

PROBLEM_TYPE: Final = "STRUCT<topic: STRING, partition: INT, offset: BIGINT, reason: STRING, kind: STRING, part: STRING, raw: STRING, times: BIGINT>"
REPORT_SCHEMA: Final = f"written BIGINT, bad BIGINT, failed BIGINT, examples ARRAY<{PROBLEM_TYPE}>"
PROBLEM_ARROW: Final = pa.struct(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("reason", pa.string()),
        ("kind", pa.string()),
        ("part", pa.string()),
        ("raw", pa.string()),
        ("times", pa.int64()),
    ]
)
_REPORT_ARROW: Final = pa.schema(
    [("written", pa.int64()), ("bad", pa.int64()), ("failed", pa.int64()), ("examples", pa.list_(PROBLEM_ARROW))]
)
_BATCH_ID: Final = "streaming.sql.batchId"

_TOO_LARGE: Final = "The row cannot be written: its record would have {} bytes, which is more than producers send."
# Rows that an operator with state has made come from no record.
NO_RECORD: Final = (False, -1, -1)

Operator: TypeAlias = Filter | Project | FlatMap | Rekey


class Head(Protocol):
    """Where the rows of a stage come from. `topic` is empty where that is no topic."""

    @property
    def topic(self) -> str: ...

    def rows(self, on_problem: OnProblem) -> Callable[[Any], Batch]: ...


class Tail(Protocol):
    """Where they go. `schema` is what comes out, in Spark's words."""

    @property
    def schema(self) -> str: ...

    def write(self, batches: Iterator[list[Row]], problems: Problems) -> Iterator[pa.RecordBatch]: ...


class BadRecordError(Exception):
    """A record at which a query fails, since it is told to."""


class Problems:
    """Records that were passed over since the last look, and expressions that failed, with `topic` as where their rows come from."""

    def __init__(self, is_fatal: bool, topic: str = "") -> None:
        self._is_fatal = is_fatal
        self._failed = ExpressionProblems(topic)
        self.found: list[Problem] = []

    def add(self, problem: Problem) -> None:
        problem = problem._replace(reason=problem.reason[:REASON_CHARACTERS])
        if self._is_fatal and problem.kind != ProblemKind.PROCESSING:
            raise BadRecordError(bad_record_text(problem))
        self.found.append(problem)

    def add_error(self, error: Exception) -> None:
        """An expression that fails is NULL, as ksqlDB has it."""
        self._failed.add(error)

    def take(self) -> list[Problem]:
        for problem in self._failed.take():
            self.add(problem)
        found, self.found = self.found, []
        return found


def bad_record_text(problem: Problem) -> str:
    return f"[topic={problem.topic} partition={problem.partition} offset={problem.offset}] {problem.reason}"


# -- where rows come from -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecordsHead:
    """Records as they are read from a topic."""

    read: Read
    key: Layout
    value: Layout

    @property
    def topic(self) -> str:
        return self.read.source.topic

    def rows(self, on_problem: OnProblem) -> Callable[[Records], Batch]:
        return RecordReader(
            self.read,
            decoder_of(self.key),
            decoder_of(self.value),
            on_problem,
            column_decoder_of(self.key),
            column_decoder_of(self.value),
        ).batch


@dataclass(frozen=True, slots=True)
class RowsHead:
    """Rows that an operator with state has made."""

    columns: tuple[Column, ...]

    topic: ClassVar[str] = ""

    def rows(self, on_problem: OnProblem) -> Callable[[pa.RecordBatch], list[Row]]:
        def take(batch: pa.RecordBatch) -> list[Row]:
            fields = [from_arrow(batch.column(column.name), column.type) for column in self.columns]
            origins = [NO_RECORD] * batch.num_rows
            return list(zip(*fields, origins, strict=True))

        return take


# -- where they go --------------------------------------------------------------------------------


def gathered(batches: Iterable[list[Row]]) -> Iterator[list[Row]]:
    """More rows at once than are read, for who has work with each batch. The last may be empty."""
    rows: list[Row] = []
    for some in batches:
        rows += some
        if len(rows) >= ROWS_TOGETHER:
            yield rows
            rows = []
    yield rows


@dataclass(frozen=True, slots=True)
class RowsTail:
    """To an operator with state, with where they came from; problems go along as rows of their own."""

    columns: tuple[Column, ...]

    @property
    def schema(self) -> str:
        """In Spark's words."""
        columns = [f"{quoted(column.name)} {spark_type(column.type)}" for column in self.columns]
        hidden = [f"{PARTITION} INT", f"{OFFSET} BIGINT", f"{PROBLEM} {PROBLEM_TYPE}"]
        return ", ".join([*columns, *hidden])

    def write(self, batches: Iterator[list[Row]], problems: Problems) -> Iterator[pa.RecordBatch]:
        for rows in gathered(batches):
            kept = [row for row in rows if not row[-1][0]]
            found = problems.take()
            yield self._batch(kept, found)

    def _batch(self, rows: list[Row], problems: Sequence[Problem]) -> pa.RecordBatch:
        missing = [None] * len(problems)
        fields: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [()] * (len(self.columns) + 1)
        *values, origins = fields
        arrays = [to_arrow([*field, *missing], column.type) for field, column in zip(values, self.columns, strict=True)]
        _, partitions, offsets = zip(*origins, strict=True) if origins else ((), (), ())
        arrays += [
            pa.array([*partitions, *missing], pa.int32()),
            pa.array([*offsets, *missing], pa.int64()),
            pa.array([None] * len(rows) + [problem._asdict() for problem in problems], PROBLEM_ARROW),
        ]
        types = [*(arrow_type(column.type) for column in self.columns), *(array.type for array in arrays[-3:])]
        names = [*(column.name for column in self.columns), PARTITION, OFFSET, PROBLEM]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(list(zip(names, types, strict=True))))


@dataclass(frozen=True, slots=True)
class TopicTail:
    """To the sink's topic: at least once, or with `marks` exactly once. What comes out is a report of what was done, one row for each
    task. `source` is the topic that the rows come from, where each comes from one record."""

    query_id: str
    sink: Source
    columns: tuple[str, ...]
    key: Layout
    value: Layout
    kafka: KafkaAccess
    marks: Marks | None = None
    source: str | None = None
    topic: str | None = None
    """Where rows go instead of the sink's own topic."""
    is_silent: bool = False
    """Nothing is written: another query does."""

    schema: ClassVar[str] = REPORT_SCHEMA

    def write(self, batches: Iterator[list[Row]], problems: Problems) -> Iterator[pa.RecordBatch]:
        producer = self._producer()
        try:
            report = self._written(producer, batches, problems)
        except BaseException:
            producer.abandon()
            raise
        yield pa.RecordBatch.from_pylist([report], _REPORT_ARROW)

    def _written(
        self, producer: TaskProducer, batches: Iterator[list[Row]], problems: Problems
    ) -> dict[str, int | list[dict[str, Any]]]:
        encoding = RowEncoding(
            self.sink,
            self.columns,
            encoder_of(self.key, self.query_id),
            encoder_of(self.value, self.query_id),
            self.source or self.sink.topic,
        )
        written, bad, failed, examples = 0, 0, 0, list[Problem]()
        for rows in batches:
            chosen = producer.unwritten(rows)
            keys, values, timestamps = encoding.messages(chosen, problems.add)
            too_large = producer.produce(self.topic or self.sink.topic, keys, values, timestamps)
            for place in too_large:
                # Rows that could not be encoded are gone: then nobody knows which record this one is of.
                _, partition, offset = chosen[place][-1] if len(keys) == len(chosen) else NO_RECORD
                size = len(keys[place] or b"") + len(values[place] or b"")
                topic, reason = self.source or self.sink.topic, _TOO_LARGE.format(size)
                problems.add(Problem(topic, partition, offset, reason, ProblemKind.SERIALIZATION))
            found = problems.take()
            written += len(keys) - len(too_large)
            errors = sum(problem.times for problem in found if problem.kind == ProblemKind.PROCESSING)
            failed += errors
            bad += sum(problem.times for problem in found) - errors
            examples += found[: EXAMPLES_MAX - len(examples)]
        producer.finish()
        told = [problem._asdict() for problem in examples]
        return {"written": written, "bad": bad, "failed": failed, "examples": told}

    def _producer(self) -> TaskProducer:
        if self.is_silent:
            return NoProducer()
        if self.marks is None:
            return shared_producer(self.kafka)
        context = TaskContext.get()
        assert context is not None
        batch_id = context.getLocalProperty(_BATCH_ID)
        assert batch_id is not None
        return TransactionalProducer(self.kafka, self.marks, context.partitionId(), int(batch_id))


# -- a stage --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stage:
    """What a task does with what is read: records of a topic, or batches of rows that an operator with state has made."""

    head: Head
    operators: tuple[Operator, ...]
    tail: Tail
    fails_on_bad_record: bool = False

    def __call__(self, batches: Iterable[Any]) -> Iterator[pa.RecordBatch]:
        problems = Problems(self.fails_on_bad_record, self.head.topic)
        rows_of: Callable[[Any], Batch] = self.head.rows(problems.add)
        run = compile_batches(self.operators, problems.add_error)
        yield from self.tail.write((run(rows_of(batch)) for batch in batches), problems)

    def read(self, wanted: Range, batches: Iterable[Records]) -> Iterator[pa.RecordBatch]:
        """What comes of the records of a range."""
        return self(batches)
