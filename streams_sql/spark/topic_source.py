"""Topics as a source of Spark's streams.

Spark's own connector reads records in the JVM and hands them to Python, where almost all work is done, one by one and copied: measured,
that took as much processor time as all the rest. Here Spark plans which offsets belong to a batch and keeps them in its checkpoints, in
the connector's own form; the workers read what they are told, and hand to the JVM what comes out of their stage.
"""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pyspark.sql.datasource import DataSource, DataSourceStreamReader
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows

from streams_sql.spark.bounds import bounded, bounds_of
from streams_sql.spark.broker_access import KafkaAccess
from streams_sql.spark.ranges import Range, RecordsGoneError, limited
from streams_sql.spark.topic_ends import TopicEnds

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

    from streams_sql.spark.stages import Stage

FORMAT: Final = "barnabas-topic"
READING: Final = "reading"
STAGE: Final = "stage"

Offsets: TypeAlias = dict[str, dict[str, int]]
"""By topic and partition, as Spark's own connector writes them."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source is told: the topic, where a query without a checkpoint begins, and how many records a batch may have. `bounds` is the
    file that says how far may be read (see `bounds`)."""

    topic: str
    first: Mapping[int, int]
    kafka: KafkaAccess
    records_max: int
    has_headers: bool = False
    bounds: str | None = None
    must_be_bounded: bool = False


class TopicSource(DataSource):
    def __init__(self, options: Mapping[str, str]) -> None:
        self._reading = options[READING]
        self._stage = options[STAGE]

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def streamReader(self, schema: Any) -> TopicReader:  # noqa: N802 - Spark's name
        return TopicReader(self._reading, self._stage)


def options(reading: Reading, stage: Stage) -> dict[str, str]:
    """Spark takes nothing but texts."""
    return {READING: _text(reading), STAGE: _text(stage)}


def _text(value: Reading | Stage) -> str:
    return base64.b64encode(pickle.dumps(value)).decode()


@cache
def _value(text: str) -> Any:
    """It comes from our own driver process."""
    return pickle.loads(base64.b64decode(text))  # noqa: S301


class TopicReader(DataSourceStreamReader):
    """Plans in a process of its own beside Spark's driver, and reads in Spark's workers."""

    def __init__(self, reading: str, stage: str) -> None:
        self._texts = reading, stage
        self.reading: Reading = _value(reading)
        self._ends: TopicEnds | None = None
        self._latest: Mapping[int, int] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return TopicReader, self._texts

    # -- planning --------------------------------------------------------------------------------

    def initialOffset(self) -> Offsets:  # noqa: N802
        return self._told(self.reading.first)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self.reading.records_max)

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:  # noqa: N802
        """RecordsGoneError where a partition ends before the place up to which it was read."""
        if self._ends is None:
            self._ends = TopicEnds(self.reading.kafka, self.reading.topic)
        begun = {int(partition): offset for partition, offset in start[self.reading.topic].items()}
        ends = self._ends.ends()
        for partition, offset in begun.items():
            if ends.get(partition, 0) < offset:
                raise RecordsGoneError(
                    f"Topic {self.reading.topic}, partition {partition} was read up to offset {offset} and ends at {ends.get(partition)}"
                )
        bounds = self._bounds()
        self._latest = ends = ends if bounds is None else bounded(begun, ends, bounds)
        records_max = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        return self._told(limited(begun, ends, records_max))

    def _bounds(self) -> Mapping[int, int] | None:
        path, topic = self.reading.bounds, self.reading.topic
        return None if path is None else bounds_of(path, topic, must_be=self.reading.must_be_bounded)

    def reportLatestOffset(self) -> Offsets | None:  # noqa: N802
        return self._told(self._latest) if self._latest else None

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[Range]:
        topic = self.reading.topic
        begun, ended = start[topic], end[topic]
        ranges = [Range(topic, int(each), begun.get(each, 0), offset) for each, offset in ended.items()]
        return [each for each in ranges if each.start < each.end]

    def _told(self, offsets: Mapping[int, int]) -> Offsets:
        return {self.reading.topic: {str(partition): offset for partition, offset in sorted(offsets.items())}}

    # -- reading ---------------------------------------------------------------------------------

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        # Planning needs none of what a stage imports, and has a process of its own for each query.
        from streams_sql.spark.range_reading import read_range

        stage: Stage = _value(self._texts[1])
        yield from stage(read_range(self.reading.kafka, partition, has_headers=self.reading.has_headers))

    def commit(self, end: Offsets) -> None:
        """Spark keeps the offsets itself."""
