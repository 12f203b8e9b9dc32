"""The last records of a topic: where they begin in each partition.

Offsets do not tell how many records there are: compaction and transactions leave gaps. So the ends of the partitions are looked at, and
of what is there the latest are counted off, each partition from its end.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from heapq import heapify, heappop, heappush
from typing import Final

from confluent_kafka import Consumer, KafkaError, TopicPartition

from streams_sql.problem import SqlProblem

POLL_S: Final = 0.2
LOOK_S: Final = 30.0
"""How long the ends of the partitions may take to be read."""
RECORDS_TOGETHER: Final = 5_000

_Stamp = tuple[int, int]
"""The time and the offset of a record."""


def tail_starts(consumer: Consumer, topic: str, ends: Mapping[int, tuple[int, int]], count: int) -> dict[int, int]:
    """The offset of the first of the last `count` records in each partition that has one of them. `ends` are where the partitions
    begin and end. SqlProblem when they cannot be read in time."""
    deadline_s = time.monotonic() + LOOK_S
    found: dict[int, list[_Stamp]] = {}
    reach = {partition: max(first, end - count) for partition, (first, end) in ends.items() if first < end}
    while reach and count:
        found |= _stamps(
            consumer, topic, {partition: (reach[partition], ends[partition][1]) for partition in reach}, deadline_s
        )
        # Where there are gaps, twice as far back.
        reach = {
            partition: max(ends[partition][0], ends[partition][1] - 2 * (ends[partition][1] - start))
            for partition, start in reach.items()
            if len(found[partition]) < count and start > ends[partition][0]
        }
    return _counted_off(found, count)


def _counted_off(found: Mapping[int, list[_Stamp]], count: int) -> dict[int, int]:
    """From the end of each partition on, the latest of those that stand last."""
    heads = [(-stamps[-1][0], -partition) for partition, stamps in found.items() if stamps]
    heapify(heads)
    starts: dict[int, int] = {}
    while heads and count:
        partition = -heappop(heads)[1]
        stamps = found[partition]
        starts[partition] = stamps.pop()[1]
        count -= 1
        if stamps:
            heappush(heads, (-stamps[-1][0], -partition))
    return starts


def _stamps(
    consumer: Consumer, topic: str, ranges: Mapping[int, tuple[int, int]], deadline_s: float
) -> dict[int, list[_Stamp]]:
    found: dict[int, list[_Stamp]] = {partition: [] for partition in ranges}
    places = {partition: TopicPartition(topic, partition, start) for partition, (start, _) in ranges.items()}
    waiting = set(ranges)
    consumer.incremental_assign(list(places.values()))
    while waiting:
        if time.monotonic() > deadline_s:
            raise SqlProblem(f"The last records of topic {topic} could not be read within {LOOK_S:g} s: ask for fewer.")
        first = consumer.poll(POLL_S)
        for message in [] if first is None else [first, *consumer.consume(RECORDS_TOGETHER - 1, 0)]:
            error, partition, offset = message.error(), message.partition() or 0, message.offset() or 0
            if partition not in waiting:
                continue
            if error is None and offset < ranges[partition][1]:
                found[partition].append((max(0, message.timestamp()[1]), offset))
            elif error is not None and error.code() != KafkaError._PARTITION_EOF:
                raise SqlProblem(f"Topic {topic} cannot be read: {error.str()}")
            if error is not None or offset >= ranges[partition][1] - 1:
                waiting.discard(partition)
                consumer.incremental_unassign([places[partition]])
    return found
