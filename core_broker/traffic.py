"""What goes in and out: plain numbers that are counted on the way and read by metrics."""

from __future__ import annotations

from collections import Counter
from typing import Final

from barnabas.wire.errors import ErrorCode

# What Kafka does not count as a failed request: the client's view is old, or its records are wrong.
_PRODUCE_EXPECTED: Final = frozenset(
    (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    )
)
_FETCH_EXPECTED: Final = frozenset(
    (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.OFFSET_OUT_OF_RANGE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    )
)


class Traffic:
    """The counts of one topic. A request counts once for each partition that it names, as in Kafka."""

    __slots__ = (
        "bytes_in",
        "bytes_out",
        "bytes_rejected",
        "failed_fetches",
        "failed_produces",
        "fetches",
        "invalid_crc",
        "invalid_records",
        "messages_in",
        "produces",
    )

    def __init__(self) -> None:
        self.messages_in = self.bytes_in = self.bytes_out = self.bytes_rejected = 0
        self.produces = self.failed_produces = 0
        self.fetches = self.failed_fetches = 0
        self.invalid_crc = self.invalid_records = 0

    def add(self, other: Traffic) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def produce_failed(self, code: int, size_bytes: int) -> None:
        if code not in _PRODUCE_EXPECTED:
            self.failed_produces += 1
        if code in (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE):
            self.bytes_rejected += size_bytes
        elif code == ErrorCode.CORRUPT_MESSAGE:
            self.invalid_crc += 1
        elif code in (ErrorCode.INVALID_RECORD, ErrorCode.INVALID_TIMESTAMP):
            self.invalid_records += 1

    def fetch_failed(self, code: int) -> None:
        if code not in _FETCH_EXPECTED:
            self.failed_fetches += 1


class BrokerTraffic:
    """What belongs to no topic: errors by API, and the counts of topics that are gone."""

    def __init__(self) -> None:
        self.errors: Counter[tuple[int, int]] = Counter()
        """By API key and error code: of produce and fetch requests, which count their own."""
        self.deleted = Traffic()
