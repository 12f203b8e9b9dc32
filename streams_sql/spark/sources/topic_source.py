"""Topics as a source of Spark's streams.

Spark's own connector reads records in the JVM and hands them to Python, where almost all work is done, one by one and copied: measured,
that took as much processor time as all the rest. Here Spark plans which offsets belong to a batch and keeps them in its checkpoints, in
the connector's own form; the workers read the planned ranges, and pass to the JVM what comes out of their stage. A query whose partitions
are aligned by time has one source for all of its topics, so that one plan knows all of their ends.
"""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pyspark.sql.datasource import DataSource, DataSourceStreamReader
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows

from streams_sql.spark.sources.batch_plan import BatchPlan, Planner, Positions, limited, offsets_of, plan_of
from streams_sql.spark.sources.bounds import bounded, bounds_of
from streams_sql.spark.sources.broker_access import KafkaAccess
from streams_sql.spark.sources.ranges import Range, RecordsGoneError
from streams_sql.spark.sources.topic_ends import TopicEnds

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

    from streams_sql.spark.jobs.stages import Stage
    from streams_sql.spark.shards.stage import ShardStage

FORMAT: Final = "barnabas-topic"
READING: Final = "reading"
STAGES: Final = "stages"

Offsets: TypeAlias = dict[str, dict[str, Any]]
"""By topic and partition, as Spark's own connector writes them (see also `batch_plan`)."""


@dataclass(frozen=True, slots=True)
class TopicReading:
    """A topic, and where a query without a checkpoint begins to read it."""

    topic: str
    first: Mapping[int, int]
    has_headers: bool = False


@dataclass(frozen=True, slots=True)
class Alignment:
    """How the partitions of a source are aligned by time (see `batch_plan.Planner`)."""

    pace: str
    idle_ms: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source reads, and how many records a batch may have. `bounds` is the file that says how far may be read (see `bounds`)."""

    topics: tuple[TopicReading, ...]
    kafka: KafkaAccess
    records_max: int
    bounds: str | None = None
    must_be_bounded: bool = False
    alignment: Alignment | None = None


class TopicSource(DataSource):
    def __init__(self, options: Mapping[str, str]) -> None:
        self._reading = options[READING]
        self._stages = options[STAGES]

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def streamReader(self, schema: Any) -> TopicReader:  # noqa: N802 - Spark's name
        return TopicReader(self._reading, self._stages)


def options(reading: Reading, stages: Sequence[Stage | ShardStage]) -> dict[str, str]:
    """Spark accepts only strings. There is a stage for each topic."""
    return {READING: _text(reading), STAGES: _text(tuple(stages))}


def _text(value: object) -> str:
    return base64.b64encode(pickle.dumps(value)).decode()


@cache
def _value(text: str) -> Any:
    """It comes from our own driver process."""
    return pickle.loads(base64.b64decode(text))  # noqa: S301


class TopicReader(DataSourceStreamReader):
    """Plans in a process of its own beside Spark's driver, and reads in Spark's workers."""

    def __init__(self, reading: str, stages: str) -> None:
        self._texts = reading, stages
        self.reading: Reading = _value(reading)
        self._topics = [each.topic for each in self.reading.topics]
        alignment = self.reading.alignment
        self._planner = None if alignment is None else Planner(Path(alignment.pace), alignment.idle_ms)
        self._ends: TopicEnds | None = None
        self._latest: Positions = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return TopicReader, self._texts

    # -- planning --------------------------------------------------------------------------------

    def initialOffset(self) -> Offsets:  # noqa: N802
        first = {(each.topic, number): at for each in self.reading.topics for number, at in each.first.items()}
        return self._offsets(BatchPlan(first))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self.reading.records_max)

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:  # noqa: N802
        """RecordsGoneError where a partition ends before the place up to which it was read."""
        if self._ends is None:
            self._ends = TopicEnds(self.reading.kafka, self._topics)
        begun = plan_of(start)
        ends = self._ends.ends()
        for (topic, number), offset in begun.ends.items():
            if ends.get((topic, number), 0) < offset:
                raise RecordsGoneError(
                    f"Topic {topic}, partition {number} was read up to offset {offset} and ends at {ends.get((topic, number))}"
                )
        self._latest = readable = self._readable(begun.ends, ends)
        records_max = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        if self._planner is None:
            return self._offsets(BatchPlan(limited(begun.ends, readable, records_max)))
        plan = self._planner.next(begun, readable if self.reading.must_be_bounded else ends, readable, records_max)
        return start if plan is None else self._offsets(plan)

    def _readable(self, begun: Positions, ends: Positions) -> Positions:
        """The ends, or where the bounds say that reading has to end before them."""
        path = self.reading.bounds
        if path is None:
            return ends
        found: dict[tuple[str, int], int] = {}
        for topic in self._topics:
            of_topic = {number: at for (name, number), at in ends.items() if name == topic}
            bounds = bounds_of(path, topic, must_be=self.reading.must_be_bounded)
            if bounds is not None:
                read = {number: at for (name, number), at in begun.items() if name == topic}
                of_topic = bounded(read, of_topic, bounds)
            found |= {(topic, number): at for number, at in of_topic.items()}
        return found

    def reportLatestOffset(self) -> Offsets | None:  # noqa: N802
        return self._offsets(BatchPlan(self._latest)) if self._latest else None

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[Range]:
        begun, plan = plan_of(start), plan_of(end)
        ranges = [
            Range(topic, number, begun.ends.get((topic, number), 0), offset, plan.awaited)
            for (topic, number), offset in plan.ends.items()
        ]
        found = [each for each in ranges if each.start < each.end]
        # Rows that are held may go, though there is nothing to read: the shards have to hear of it.
        return found or (ranges[:1] if begun.awaited != plan.awaited else [])

    def _offsets(self, plan: BatchPlan) -> Offsets:
        return offsets_of(plan, self._topics)

    # -- reading ---------------------------------------------------------------------------------

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        # Planning needs none of what a stage imports, and has a process of its own for each query.
        from streams_sql.spark.sources.range_reading import read_range

        number = self._topics.index(partition.topic)
        stage: Stage | ShardStage = _value(self._texts[1])[number]
        has_headers = self.reading.topics[number].has_headers
        yield from stage.read(partition, read_range(self.reading.kafka, partition, has_headers=has_headers))

    def commit(self, end: Offsets) -> None:
        """Spark keeps the offsets itself."""
