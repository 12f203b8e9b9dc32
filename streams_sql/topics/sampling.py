"""Some records of a topic: from its beginning and from its end, of every partition."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from streams_sql.local.topic_records import bounded_consumer_settings
from streams_sql.problem import SqlProblem

SAMPLE_RECORDS: Final = 200
SAMPLE_S: Final = 5.0
"""What has come after that time is the sample."""
ANSWER_S: Final = 10.0
POLL_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Sample:
    """In the order of their partitions and offsets."""

    keys: tuple[bytes | None, ...]
    values: tuple[bytes | None, ...]

    @property
    def count(self) -> int:
        return len(self.values)


def read_sample(settings: Mapping[str, Any], topic: str, partitions: int) -> Sample:
    """SqlProblem when Kafka does not answer."""
    consumer = Consumer(bounded_consumer_settings(settings, topic))
    try:
        return _Sampling(consumer, topic, partitions).read()
    except KafkaException as error:
        raise SqlProblem(f"Topic {topic} cannot be read: {error.args[0].str()}") from None
    finally:
        consumer.close()


class _Sampling:
    def __init__(self, consumer: Consumer, topic: str, partitions: int) -> None:
        self._consumer = consumer
        self._topic = topic
        # As many from the beginning as from the end: what is written today may look otherwise than what was.
        self._each = max(1, SAMPLE_RECORDS // (2 * partitions))
        self._partitions = range(min(partitions, SAMPLE_RECORDS // 2))
        self._found: dict[tuple[int, int], tuple[bytes | None, bytes | None]] = {}

    def read(self) -> Sample:
        ends = {}
        for partition in self._partitions:
            low, high = self._consumer.get_watermark_offsets(TopicPartition(self._topic, partition), ANSWER_S)
            if low < high:
                ends[partition] = (low, high)
        deadline_s = time.monotonic() + SAMPLE_S
        self._read({number: (low, min(high, low + self._each)) for number, (low, high) in ends.items()}, deadline_s)
        rest = {number: (max(low + self._each, high - self._each), high) for number, (low, high) in ends.items()}
        self._read({number: bounds for number, bounds in rest.items() if bounds[0] < bounds[1]}, deadline_s)
        found = [self._found[place] for place in sorted(self._found)]
        return Sample(tuple(key for key, _ in found), tuple(value for _, value in found))

    def _read(self, ranges: Mapping[int, tuple[int, int]], deadline_s: float) -> None:
        """The records between these offsets, and where some of these are gone those that come next."""
        counts = dict.fromkeys(ranges, self._each)
        self._consumer.incremental_assign([TopicPartition(self._topic, *place) for place in _starts(ranges)])
        while counts and time.monotonic() < deadline_s:
            first = self._consumer.poll(POLL_S)
            for message in [] if first is None else [first, *self._consumer.consume(SAMPLE_RECORDS, 0)]:
                error, partition, offset = message.error(), message.partition() or 0, message.offset() or 0
                if error is not None and error.code() != KafkaError._PARTITION_EOF:
                    raise KafkaException(error)
                if partition not in counts:
                    continue
                if error is None:
                    self._found[partition, offset] = _bytes(message.key()), _bytes(message.value())
                    counts[partition] -= 1
                if error is not None or not counts[partition] or offset >= ranges[partition][1] - 1:
                    del counts[partition]
        self._consumer.incremental_unassign([TopicPartition(self._topic, partition) for partition in ranges])


def _starts(ranges: Mapping[int, tuple[int, int]]) -> list[tuple[int, int]]:
    return [(partition, start) for partition, (start, _) in ranges.items()]


def _bytes(part: str | bytes | None) -> bytes | None:
    return part.encode() if isinstance(part, str) else part
