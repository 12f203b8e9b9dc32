"""What must be true in the end: every count reconciles with the topics and tables that it came from."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import orjson
from confluent_kafka import Consumer, KafkaException, TopicPartition

from tests.chaos.loads import EVENTS, LineLoad, RestLoad
from tests.chaos.stage import Addresses, http_client
from tests.waiting import wait_for

DRAIN_S: Final = 600.0
READ_S: Final = 60.0
SOME: Final = 5


@dataclass(frozen=True, slots=True)
class Check:
    """`differences` yields what is still wrong; it is asked again until there is nothing, or for too long."""

    title: str
    differences: Callable[[], list[str]]

    def verdict(self) -> list[str]:
        try:
            wait_for(lambda: not self.differences(), self.title, DRAIN_S)
        except AssertionError:
            return [f"{self.title}: {difference}" for difference in self.differences()[:SOME]]
        return []


class Judge:
    def __init__(self, addresses: Addresses, folder: Path, rest: Sequence[RestLoad], lines: LineLoad) -> None:
        self._addresses = addresses
        self._folder = folder
        self._rest = rest
        self._lines = lines
        self._events = [orjson.loads(value) for value in read_topic(addresses.broker, EVENTS)]

    def summary(self) -> str:
        distinct = len({event["id"] for event in self._events})
        sent, refused = sum(one.sent for one in self._rest), sum(one.refused for one in self._rest)
        acknowledged = sum(len(one.acknowledged) for one in self._rest)
        return (
            f"REST: {sent} records sent, {acknowledged} acknowledged, {refused} not; in the topic {len(self._events)}, "
            f"{distinct} of them different; EVEN has {self._count('EVEN')} rows for {len(self._even())}; "
            f"{self._rows('source.db')[-1:]} is the last row of the database, {self._lines.lines} lines were written"
        )

    def checks(self) -> Iterator[Check]:
        yield Check("acknowledged records are in the topic", self._acknowledged)
        yield Check("a filter at least once", lambda: _lost_or_strange(self._even(), self._ids("EVEN")))
        yield Check("a filter exactly once", lambda: _counted(Counter(self._even()), Counter(self._ids("EVEN_ONCE"))))
        yield Check("counts and sums", self._counts)
        yield Check("counts with HAVING", self._often)
        yield Check("rows of the database", lambda: _counted(self._set("source.db"), self._set("target.db")))
        yield Check("lines of the file", self._copied)

    def _acknowledged(self) -> list[str]:
        there = {event["id"] for event in self._events}
        return sorted(f"{lost} is lost" for one in self._rest for lost in one.acknowledged - there)

    def _even(self) -> list[str]:
        return [event["id"] for event in self._events if event["amount"] % 2 == 0]

    def _ids(self, topic: str) -> list[str]:
        return [orjson.loads(value)["ID"] for value in read_topic(self._addresses.broker, topic)]

    def _count(self, topic: str) -> int:
        return len(self._ids(topic))

    def _counts(self) -> list[str]:
        counts, totals = Counter[str](), Counter[str]()
        for event in self._events:
            counts[event["who"]] += 1
            totals[event["who"]] += event["amount"]
        expected = Counter({(who, n, totals[who]): 1 for who, n in counts.items()})
        return _counted(expected, Counter(self._pull("SELECT who, n, total FROM per_who;")))

    def _often(self) -> list[str]:
        counts = Counter(event["who"] for event in self._events)
        expected = Counter({(who, n): 1 for who, n in counts.items() if n > 10})
        return _counted(expected, Counter(self._pull("SELECT who, n FROM often;")))

    def _pull(self, text: str) -> list[tuple[Any, ...]]:
        with http_client() as client:
            try:
                answer = client.post(f"{self._addresses.sql}/query-stream", json={"sql": text})
                answer.raise_for_status()
            except httpx.HTTPError:
                return []
        return [tuple(orjson.loads(line)) for line in answer.text.splitlines()[1:]]

    def _rows(self, database: str) -> list[tuple[Any, ...]]:
        with contextlib.closing(sqlite3.connect(self._folder / database)) as connection:
            return connection.execute("SELECT id, item, price FROM orders ORDER BY id").fetchall()

    def _set(self, database: str) -> Counter[Any]:
        return Counter(self._rows(database))

    def _copied(self) -> list[str]:
        expected = [f"line {number}" for number in range(self._lines.lines)]
        return _lost_or_strange(expected, (self._folder / "copy.txt").read_text().splitlines())


def _lost_or_strange(expected: Sequence[str], found: Sequence[str]) -> list[str]:
    """Twice is allowed, never and otherwise are not."""
    lost, strange = set(expected) - set(found), set(found) - set(expected)
    return [f"{one!r} is lost ({len(lost)} are)" for one in sorted(lost)[:SOME]] + [
        f"{one!r} came from nowhere ({len(strange)} did)" for one in sorted(strange)[:SOME]
    ]


def _counted(expected: Counter[Any], found: Counter[Any]) -> list[str]:
    lost, strange = expected - found, found - expected
    return [f"{one!r} is lost ({lost.total()} are)" for one in sorted(lost)[:SOME]] + [
        f"{one!r} is too much ({strange.total()} are)" for one in sorted(strange)[:SOME]
    ]


def read_topic(broker: str, topic: str) -> list[bytes]:
    """The values of all committed records."""
    settings = {"bootstrap.servers": broker, "group.id": "judge", "enable.partition.eof": True, "log_level": 0}
    consumer = Consumer({**settings, "isolation.level": "read_committed", "enable.auto.commit": False})
    values: list[bytes] = []
    try:
        partitions = consumer.list_topics(topic, READ_S).topics[topic].partitions
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        ended = 0
        while ended < len(partitions):
            for message in consumer.consume(10_000, READ_S):
                if (error := message.error()) is None:
                    values.append(message.value() or b"null")
                elif error.name() == "_PARTITION_EOF":
                    ended += 1
                elif not error.retriable():
                    raise KafkaException(error)
    finally:
        consumer.close()
    return values
