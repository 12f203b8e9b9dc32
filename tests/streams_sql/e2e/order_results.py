"""What is in the topics of the results, read as it comes."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, TopicPartition

from tests.streams_sql.e2e.deadlines import RESULTS_S
from tests.streams_sql.e2e.sample_orders import STREAMS, TABLES, Expected
from tests.waiting import wait_for

PARTITIONS = 2
BATCH = 1_000
POLL_S = 0.05

_NUMBER = struct.Struct(">q")
Key = tuple[Any, ...]


class OrderResults:
    """The rows of the sinks of some queries over the sample orders, as far as they have been read."""

    def __init__(self, bootstrap: str, prefix: str, names: tuple[str, ...] = (*STREAMS, *TABLES)) -> None:
        self._topics = {f"{prefix}{name.lower()}": name for name in names}
        self.streams: dict[str, set[Key]] = {name: set() for name in names if name in STREAMS}
        self.tables: dict[str, dict[Key, Key]] = {name: {} for name in names if name in TABLES}
        self.setbacks: list[tuple[Key, Key]] = []
        """Keys and rows of tables that count less than a row before them did."""
        self._consumer = Consumer(
            {"bootstrap.servers": bootstrap, "group.id": "tests-results", "enable.auto.commit": False}
        )
        self._consumer.assign(
            [TopicPartition(topic, part, OFFSET_BEGINNING) for topic in self._topics for part in range(PARTITIONS)]
        )

    def close(self) -> None:
        self._consumer.close()

    def wait_until_covers(self, count: int) -> None:
        """Return when the results of the first so many orders are there."""
        wanted = self._wanted_rows(count)
        wait_for(lambda: self._covers(wanted, count), f"the results of {count} orders", RESULTS_S)

    def compare(self, count: int) -> None:
        """No row is missing and none is made up; the last value of each key is the right one."""
        wanted, expected = self._wanted_rows(count), Expected.of(count)
        tables = {name: expected.table(name) for name in self.tables}
        wait_for(
            lambda: self._covers(wanted, count) and self.tables == tables, f"what {count} orders come to", RESULTS_S
        )
        assert self.streams == wanted

    def _wanted_rows(self, count: int) -> Mapping[str, set[Key]]:
        expected = Expected.of(count)
        return {name: expected.stream(name) for name in self.streams}

    def _covers(self, wanted: Mapping[str, set[Key]], count: int) -> bool:
        self._take()
        are_counted = all(sum(row[0] for row in table.values()) >= count for table in self.tables.values())
        return are_counted and all(rows <= self.streams[name] for name, rows in wanted.items())

    def _take(self) -> None:
        while messages := self._consumer.consume(BATCH, POLL_S):
            for message in messages:
                if message.error() is None:
                    self._note(message)

    def _note(self, message: Message) -> None:
        name = self._topics[message.topic() or ""]
        key, raw = message.key(), message.value()
        assert isinstance(key, bytes)
        row = tuple(json.loads(raw or b"{}").values())
        if name in self.streams:
            self.streams[name].add((*_KEYS[name](key), *row))
        else:
            self._put(self.tables[name], _KEYS[name](key), row)

    def _put(self, table: dict[Key, Key], key: Key, row: Key) -> None:
        if key in table and row < table[key]:
            self.setbacks.append((key, row))
        table[key] = row


def _number(key: bytes) -> Key:
    return _NUMBER.unpack(key)


def _text(key: bytes) -> Key:
    return (key.decode(),)


def _windowed(key: bytes) -> Key:
    return (key[: -_NUMBER.size].decode(), *_NUMBER.unpack(key[-_NUMBER.size :]))


_KEYS: Mapping[str, Callable[[bytes], Key]] = {
    "BIG": _number,
    "PAID_ORDERS": _number,
    "NAMED_ORDERS": _text,
    "PER_USER": _text,
    "PER_SECOND": _windowed,
}
