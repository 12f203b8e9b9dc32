"""From where to where a look reads the partitions of a topic, as they are now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from barnabas.wire.key_partitions import partition_of_key
from streams_sql.local.tails import tail_starts
from streams_sql.plan.spans import BEHIND_ALL, Span
from streams_sql.problem import SqlProblem

ANSWER_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """The first offset of a partition that is read, and the one behind the last."""

    first: int
    end: int


def bounds_of(consumer: Consumer, topic: str, span: Span) -> dict[int, Bounds]:
    """Where each partition is read from and to. SqlProblem when Kafka does not tell, or none of the partitions is there."""
    try:
        described = consumer.list_topics(topic, ANSWER_S).topics[topic]
        if described.error is not None:
            raise KafkaException(described.error)
        there = sorted(described.partitions)
        partitions = [partition for partition in there if span.partitions is None or partition in span.partitions]
        if span.partitions and not partitions:
            wanted = ", ".join(map(str, sorted(span.partitions)))
            raise SqlProblem(f"Topic {topic} has no partition {wanted}: it has 0 to {there[-1]}.")
        if span.key is not None:
            partitions = [partition for partition in partitions if partition == partition_of_key(span.key, len(there))]
        return _bounds(consumer, topic, partitions, span)
    except KafkaException as error:
        raise SqlProblem(f"Topic {topic} cannot be read: {error.args[0].str()}") from None


def _bounds(consumer: Consumer, topic: str, partitions: list[int], span: Span) -> dict[int, Bounds]:
    since = _offsets_at(consumer, topic, partitions, span.from_time_ms)
    until = _offsets_at(consumer, topic, partitions, span.to_time_ms)
    found = {}
    for partition in partitions:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), ANSWER_S)
        end = min(high, span.to_offset if span.to_offset is not None else high, until.get(partition, high))
        first = max(low, span.from_offset or 0, since.get(partition, low))
        found[partition] = Bounds(min(first, end), max(end, min(first, end)))
    if span.last is None:
        return found
    ends = {partition: (bounds.first, bounds.end) for partition, bounds in found.items()}
    starts = tail_starts(consumer, topic, ends, span.last)
    return {partition: Bounds(starts.get(partition, bounds.end), bounds.end) for partition, bounds in found.items()}


def _offsets_at(consumer: Consumer, topic: str, partitions: list[int], time_ms: int | None) -> dict[int, int]:
    """The first offset of each partition at that time or later; where there is none, one that is later than all."""
    if time_ms is None:
        return {}
    places = [TopicPartition(topic, partition, time_ms) for partition in partitions]
    found = consumer.offsets_for_times(places, ANSWER_S)
    return {place.partition: place.offset if place.offset >= 0 else BEHIND_ALL for place in found}
