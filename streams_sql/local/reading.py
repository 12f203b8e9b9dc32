"""The topics that a plan reads, decoded, partition by partition."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, TopicPartition

from streams_sql.formats.serde import RegistryAccess
from streams_sql.local.interleaving import Item, Line, offset_of, rank_of
from streams_sql.local.pipeline import Push
from streams_sql.local.spans import Bounds, bounds_of
from streams_sql.local.topic_records import bounded_consumer_settings, consumer_settings, record_reader, records_of
from streams_sql.plan.nodes import Read
from streams_sql.plan.records import OnProblem, Problem, RecordReader
from streams_sql.plan.spans import ALL, Span
from streams_sql.problem import SqlProblem
from streams_sql.processors.processor import BEFORE_ALL

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


@dataclass(frozen=True, slots=True)
class Input:
    """What is read at one place of a plan, and what is done with its rows before they wait for those of other partitions. `rowtime` is the
    place of ROWTIME in the rows that come of it."""

    read: Read
    steps: Sequence[Push]
    rowtime: int


class Partition:
    """One partition: up to where it is read, and what of it waits. It is caught up when it was read as far as it went at the start;
    `at_end_s` is when it was found to have no unread record, None while it may have some, and `end` what was its high watermark then;
    `latest` is the greatest time of its rows."""

    __slots__ = ("at_end_s", "bounds", "end", "is_caught_up", "is_paused", "latest", "line", "place")

    def __init__(self, place: TopicPartition, bounds: Bounds, line: Line) -> None:
        self.place = place
        self.bounds = bounds
        self.line = line
        self.is_paused = False
        self.latest = BEFORE_ALL
        self.is_caught_up = bounds.first >= bounds.end
        self.at_end_s: float | None = time.monotonic() if self.is_caught_up else None
        self.end = bounds.end


@dataclass(slots=True)
class Figures:
    """What a look has cost so far."""

    records: int = 0
    bytes: int = 0
    problems: int = 0


class Reading:
    """Reads the topics of a plan from the beginnings of their spans on. A bounded one ends with them; another one continues with what is
    written later. `is_ordered`: rows of one partition wait for those of others that are earlier, as long as these have unread records, and
    for `idle_s` after that."""

    def __init__(
        self,
        inputs: Sequence[Input],
        settings: Mapping[str, Any],
        registry: RegistryAccess | None,
        on_problem: OnProblem,
        spans: Mapping[str, Span],
        is_bounded: bool,
        is_ordered: bool,
        idle_s: float = 0.0,
    ) -> None:
        self.figures = Figures()
        self._on_problem = on_problem
        self._is_bounded = is_bounded
        self._is_ordered = is_ordered
        self._idle_s = idle_s
        self._reads = [each.read for each in inputs]
        self._spans = spans
        self._readers = [_Reader(each, record_reader(each.read, registry, self._pass_over)) for each in inputs]
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, read in enumerate(self._reads):
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
        """With whether each is awaited now."""
        now_s = time.monotonic()
        for partition in self._partitions.values():
            partition.line.is_awaited = self._is_ordered and self._is_awaited(partition, now_s)
        return [partition.line for partition in self._partitions.values()]

    def _is_awaited(self, partition: Partition, now_s: float) -> bool:
        if partition.at_end_s is None:
            return True
        if self._is_bounded:
            return False
        return now_s - partition.at_end_s < self._idle_s or self._high_watermark(partition) > partition.end

    def _high_watermark(self, partition: Partition) -> int:
        """As the last fetch has found it."""
        _, end = self._consumer.get_watermark_offsets(partition.place, cached=True)
        return end

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
        ended: set[tuple[str, int]] = set()
        for message in found:
            error, key = message.error(), (message.topic() or "", message.partition() or 0)
            if error is None:
                by_partition[key].append(message)
                ended.discard(key)
            elif error.code() == KafkaError._PARTITION_EOF:
                ended.add(key)
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
            line = Line(rank_of(self._reads, places, number), is_awaited=self._is_ordered)
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
        for at, place, row in items:
            # A row that is earlier than one before it goes directly after that one.
            partition.latest = max(partition.latest, at)
            partition.line.items.append((partition.latest, place, row))
        if self._is_bounded:
            if is_end:
                self._end(partition)
            return
        partition.at_end_s = None
        partition.place.offset = messages[-1].offset() + 1
        if partition.place.offset >= self._high_watermark(partition):
            self._end(partition)

    def _end(self, partition: Partition) -> None:
        if self._is_bounded and not partition.is_caught_up:
            self._consumer.incremental_unassign([partition.place])
        partition.is_caught_up = True
        if partition.at_end_s is None:
            partition.at_end_s = time.monotonic()
        # Markers of transactions after the last record are behind its offset.
        partition.end = max(partition.place.offset, self._high_watermark(partition))

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

    def __init__(self, input_: Input, reader: RecordReader) -> None:
        self._source = input_.read.source
        self._reader = reader
        self._steps = input_.steps
        self._rowtime = input_.rowtime

    def items(self, place: int, messages: Sequence[Any]) -> list[Item]:
        rows, rowtime = self._reader.rows(records_of(messages, self._source)), self._rowtime
        for step in self._steps:
            rows = step(rows)
        return [(row[rowtime], place, row) for row in rows]
