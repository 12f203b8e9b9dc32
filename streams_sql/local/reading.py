"""The topics that a plan reads, decoded, partition by partition."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, TopicPartition

from streams_sql.formats.serde import RegistryAccess
from streams_sql.language.problem import SqlProblem
from streams_sql.local.interleaving import Item, Line, offset_of, rank_of
from streams_sql.local.spans import Bounds, bounds_of
from streams_sql.plan.nodes import Read
from streams_sql.plan.pipeline import columns_of
from streams_sql.plan.records import OnProblem, Problem, RecordReader
from streams_sql.plan.spans import ALL, Span
from streams_sql.sources import ROWTIME
from streams_sql.views.tailing import bounded_consumer_settings, consumer_settings, record_reader, records_of

POLL_S: Final = 0.2
"""The longest wait for a record; when one comes the poll returns at once. So long may stopping take."""
PARTITIONS_INTERVAL_S: Final = 30.0
"""How often it is looked for new partitions."""
RECORDS_MAX: Final = 5_000
"""Records that are taken from librdkafka together."""
FIRST_RECORDS: Final = 500
"""The first time; then twice as many each time: the first rows are there soon, and a LIMIT may need no more."""
WAITING_ROWS_MAX: Final = 20_000
"""Rows of a partition that wait for those of others; then it is read no further until they have gone."""


class Partition:
    """One partition: up to where it is read, and what of it waits. It is caught up when it was read as far as it went at the start."""

    __slots__ = ("bounds", "is_caught_up", "is_paused", "line", "place")

    def __init__(self, place: TopicPartition, bounds: Bounds, line: Line) -> None:
        self.place = place
        self.bounds = bounds
        self.line = line
        self.is_paused = False
        self.is_caught_up = False
        if bounds.first >= bounds.end:
            self.catch_up()

    def catch_up(self) -> None:
        self.is_caught_up = True
        self.line.is_awaited = False


@dataclass(slots=True)
class Figures:
    """What a look has cost so far."""

    records: int = 0
    bytes: int = 0
    problems: int = 0


class Reading:
    """Reads the topics of a plan from the beginnings of their spans on. A bounded one ends with them; another one goes on with what is
    written later. `is_ordered`: rows of one partition wait for those of others that are earlier, as far as the topics went at the
    start."""

    def __init__(
        self,
        reads: Sequence[Read],
        settings: Mapping[str, Any],
        registry: RegistryAccess | None,
        on_problem: OnProblem,
        spans: Mapping[str, Span],
        is_bounded: bool,
        is_ordered: bool,
    ) -> None:
        self.figures = Figures()
        self._on_problem = on_problem
        self._is_bounded = is_bounded
        self._is_ordered = is_ordered
        self._reads = reads
        self._spans = spans
        self._readers = [_Reader(read, record_reader(read, registry, self._pass_over)) for read in reads]
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, read in enumerate(reads):
            self._places[read.source.topic].append(place)
        self._partitions: dict[tuple[str, int], Partition] = {}
        self._looked_s = time.monotonic()
        self._together = FIRST_RECORDS
        consumer = bounded_consumer_settings if is_bounded else consumer_settings
        self._consumer = Consumer(consumer(settings, ",".join(sorted(self._places))))
        try:
            for topic in self._places:
                self._open(topic, bounds_of(self._consumer, topic, spans.get(topic, ALL)))
        except BaseException:
            self._consumer.close()
            raise

    @property
    def lines(self) -> list[Line]:
        return [partition.line for partition in self._partitions.values()]

    @property
    def is_finished(self) -> bool:
        """Whether a bounded reading has everything."""
        return self._is_bounded and all(partition.is_caught_up for partition in self._partitions.values())

    def read(self) -> None:
        """Take what there is, or the first that comes within a while, into the lines of the partitions."""
        if not self._is_bounded and time.monotonic() - self._looked_s > PARTITIONS_INTERVAL_S:
            self._look_for_partitions()
        self._pause_and_resume()
        first = self._consumer.poll(POLL_S)
        found = [] if first is None else [first, *self._consumer.consume(self._together - 1, 0)]
        self._together = min(2 * self._together, RECORDS_MAX)
        by_partition: dict[tuple[str, int], list[Any]] = defaultdict(list)
        ended = []
        for message in found:
            error, key = message.error(), (message.topic() or "", message.partition() or 0)
            if error is None:
                by_partition[key].append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                ended.append(key)
            elif error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_AUTHORIZATION_FAILED):
                raise SqlProblem(f"Topic {key[0]} cannot be read any more: {error.str()}")
        for key, messages in by_partition.items():
            self._take(self._partitions[key], messages)
        for key in ended:
            self._end(self._partitions[key])

    def close(self) -> None:
        self._consumer.close()

    def _open(self, topic: str, bounds: Mapping[int, Bounds]) -> None:
        places = self._places[topic]
        opened = []
        for number, limits in bounds.items():
            line = Line(rank_of(self._reads, places, number), self._is_ordered)
            partition = Partition(TopicPartition(topic, number, limits.first), limits, line)
            self._partitions[topic, number] = partition
            if not (self._is_bounded and partition.is_caught_up):
                opened.append(partition.place)
        if opened:
            self._consumer.incremental_assign(opened)

    def _look_for_partitions(self) -> None:
        """Topics may get more of them, which are read from their beginnings on."""
        self._looked_s = time.monotonic()
        for topic in self._places:
            asked = self._spans.get(topic, ALL).partitions
            try:
                found = bounds_of(self._consumer, topic, Span(partitions=asked))
            except SqlProblem:
                # The brokers may be away for a while: then reading goes on by itself, and the next look finds what is new.
                continue
            new = {number: limits for number, limits in found.items() if (topic, number) not in self._partitions}
            self._open(topic, new)

    def _take(self, partition: Partition, messages: list[Any]) -> None:
        is_end = messages[-1].offset() >= partition.bounds.end - 1
        if is_end and self._is_bounded:
            messages = [message for message in messages if message.offset() < partition.bounds.end]
        self.figures.records += len(messages)
        self.figures.bytes += sum(map(len, messages))
        places = self._places[partition.place.topic]
        items = [item for place in places for item in self._readers[place].items(place, messages)]
        if len(places) > 1:
            # The same records, read in several places: each goes through all of them before the next one.
            items.sort(key=offset_of)
        partition.line.items.extend(items)
        if is_end:
            self._end(partition)

    def _end(self, partition: Partition) -> None:
        if not partition.is_caught_up:
            partition.catch_up()
            if self._is_bounded:
                self._consumer.incremental_unassign([partition.place])

    def _pause_and_resume(self) -> None:
        for partition in self._partitions.values():
            if self._is_bounded and partition.is_caught_up:
                continue
            waiting = len(partition.line.items)
            if not partition.is_paused and waiting > WAITING_ROWS_MAX:
                self._consumer.pause([partition.place])
                partition.is_paused = True
            elif partition.is_paused and waiting <= WAITING_ROWS_MAX // 2:
                self._consumer.resume([partition.place])
                partition.is_paused = False

    def _pass_over(self, problem: Problem) -> None:
        self.figures.problems += 1
        self._on_problem(problem)


class _Reader:
    """What makes rows of messages at one place of a plan."""

    def __init__(self, read: Read, reader: RecordReader) -> None:
        self._source = read.source
        self._reader = reader
        self._rowtime = columns_of(read).index(ROWTIME)

    def items(self, place: int, messages: Sequence[Any]) -> list[Item]:
        rowtime = self._rowtime
        return [(row[rowtime], place, row) for row in self._reader.rows(records_of(messages, self._source))]
