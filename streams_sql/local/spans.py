"""Parts of topics: from where to where a bounded look reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from streams_sql.language.problem import SqlProblem

ANSWER_S: Final = 10.0
BEHIND_ALL: Final = 2**63 - 1
"""An offset that no record has."""


@dataclass(frozen=True, slots=True)
class Span:
    """The records of a topic that are meant: of these partitions (None: of all), from an offset or a time on, up to but not including
    another one. `last` means as many at the end of each partition. What is None does not limit."""

    partitions: frozenset[int] | None = None
    from_offset: int | None = None
    to_offset: int | None = None
    from_time_ms: int | None = None
    to_time_ms: int | None = None
    last: int | None = None


ALL: Final = Span()
FROM_NOW_ON: Final = Span(from_offset=BEHIND_ALL)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The first offset of a partition that is read, and the one behind the last."""

    first: int
    end: int


def bounds_of(consumer: Consumer, topic: str, span: Span) -> dict[int, Bounds]:
    """Where each partition is read from and to, as it is now. SqlProblem when Kafka does not tell."""
    try:
        described = consumer.list_topics(topic, ANSWER_S).topics[topic]
        if described.error is not None:
            raise KafkaException(described.error)
        partitions = [
            partition for partition in described.partitions if span.partitions is None or partition in span.partitions
        ]
        return _bounds(consumer, topic, sorted(partitions), span)
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
        if span.last is not None:
            first = max(first, end - span.last)
        found[partition] = Bounds(min(first, end), end)
    return found


def _offsets_at(consumer: Consumer, topic: str, partitions: list[int], time_ms: int | None) -> dict[int, int]:
    """The first offset of each partition at that time or later; where there is none, one that is later than all."""
    if time_ms is None:
        return {}
    places = [TopicPartition(topic, partition, time_ms) for partition in partitions]
    found = consumer.offsets_for_times(places, ANSWER_S)
    return {place.partition: place.offset if place.offset >= 0 else BEHIND_ALL for place in found}
