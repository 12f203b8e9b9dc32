"""How far a source has been read: in memory while a task runs, and as records of the offsets topic in Kafka Connect's format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, Final, NamedTuple

import orjson
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from connect.api.source import Offsets, SourceOffset
from connect.errors import Retry

READ_TIMEOUT_S: Final = 60.0
READ_RECORDS: Final = 5_000
POLL_S: Final = 0.5

READER_SETTINGS: Final[Mapping[str, Any]] = {
    "group.id": "barnabas-connect-offsets",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    # The end of a partition is told when the broker had nothing for so long.
    "fetch.wait.max.ms": 10,
    "auto.offset.reset": "earliest",
    "isolation.level": "read_committed",
}
"""For a consumer that is given to `read_offsets`: it is no member of the group that it must name."""


class OffsetRecord(NamedTuple):
    key: bytes
    value: bytes | None


def offset_record(connector: str, offset: SourceOffset) -> OffsetRecord:
    """The record that says it. The names in a partition are sorted, so that equal partitions have equal keys."""
    key = orjson.dumps([connector, dict(offset.partition)], option=orjson.OPT_SORT_KEYS)
    return OffsetRecord(key, None if offset.offset is None else orjson.dumps(dict(offset.offset)))


def parse_offset(key: bytes | None, value: bytes | None) -> tuple[str, SourceOffset] | None:
    """The connector and what is said about it; None for a record that is none of Kafka Connect's."""
    try:
        connector, partition = orjson.loads(key or b"")
        offset = None if value is None else orjson.loads(value)
    except ValueError:
        return None
    if not isinstance(partition, dict) or not isinstance(offset, (dict, type(None))):
        return None
    return str(connector), SourceOffset(partition, offset)


class ReachedOffsets:
    """Where the source stands, and what of it is not committed yet."""

    def __init__(self, connector: str, committed: Iterable[SourceOffset]) -> None:
        self._connector = connector
        self._committed = {self._key(each): each for each in committed}
        self._pending: dict[bytes, SourceOffset] = {}

    @property
    def pending(self) -> Sequence[SourceOffset]:
        return tuple(self._pending.values())

    def records(self) -> list[OffsetRecord]:
        """What is pending, as records."""
        return [offset_record(self._connector, each) for each in self._pending.values()]

    def advance(self, offsets: Iterable[SourceOffset]) -> None:
        for each in offsets:
            self._pending[self._key(each)] = each

    def committed(self) -> None:
        self._committed |= self._pending
        self._pending = {}

    def forget_pending(self) -> None:
        self._pending = {}

    def reached(self) -> Offsets:
        return Offsets(each for each in (self._committed | self._pending).values() if each.offset is not None)

    def _key(self, offset: SourceOffset) -> bytes:
        return offset_record(self._connector, offset).key


def read_offsets(settings: Mapping[str, Any], topic: str, connector: str) -> list[SourceOffset]:
    """What the offsets topic says about a connector now, read to its end. Retry while Kafka is away."""
    found: dict[bytes, SourceOffset] = {}
    consumer = Consumer(dict(settings))
    try:
        described = consumer.list_topics(timeout=READ_TIMEOUT_S).topics.get(topic)
        partitions = {} if described is None else described.partitions
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        open_partitions = set(partitions)
        deadline = monotonic() + READ_TIMEOUT_S
        while open_partitions:
            if monotonic() > deadline:
                raise Retry(f"the offsets topic {topic} could not be read to its end within {READ_TIMEOUT_S:g} s")
            _take(consumer, open_partitions, connector, found)
    except KafkaException as problem:
        raise Retry(f"the offsets topic {topic} cannot be read: {problem.args[0].str()}") from problem
    finally:
        consumer.close()
    return list(found.values())


def _take(consumer: Consumer, open_partitions: set[int], connector: str, found: dict[bytes, SourceOffset]) -> None:
    for message in consumer.consume(READ_RECORDS, POLL_S):
        error = message.error()
        if error is not None:
            if error.code() == KafkaError._PARTITION_EOF:
                open_partitions.discard(message.partition() or 0)
            continue
        parsed = parse_offset(message.key(), message.value())
        if parsed is not None and parsed[0] == connector:
            found[message.key() or b""] = parsed[1]
