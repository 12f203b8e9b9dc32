"""Queries run in the session of the tests, with topics of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, Producer, TopicPartition

from streams_sql.plan.nodes import PersistentPlan
from streams_sql.spark.driver.messages import Event, Guarantee, Progress, QueryFailed, StartQuery, Stopped, Trigger
from tests.clients.confluent_client import create_topic
from tests.clients.records import KEEP_FOREVER
from tests.waiting import wait_for

if TYPE_CHECKING:
    from streams_sql.spark.driver.query_host import QueryHost

DEADLINE_S = 240.0
READ_TIMEOUT_S = 0.2
TRIGGER = Trigger(interval_ms=50)

EventT = TypeVar("EventT", bound=Event)


@dataclass(frozen=True)
class Found:
    """A record of a sink."""

    key: bytes | None
    value: Any
    timestamp: int


def nothing() -> None:
    """A check that is always passed."""


@dataclass
class Topics:
    """Topics of one test, whose records are JSON. `check` is called while one waits for records."""

    address: str
    prefix: str
    check: Callable[[], None] = nothing

    @cached_property
    def _producer(self) -> Producer:
        return Producer({"bootstrap.servers": self.address})

    def close(self) -> None:
        """Without the producer, which would look for a broker that has gone."""
        self.__dict__.pop("_producer", None)

    def create(self, name: str, partitions: int = 1) -> str:
        topic = f"{self.prefix}-{name}"
        create_topic(self.address, topic, partitions, KEEP_FOREVER)
        return topic

    def write(self, topic: str, records: Iterable[tuple[str | None, Any, int]]) -> None:
        """Records of key, value (JSON, or bytes as they are) and timestamp, in this order."""
        for key, value, timestamp in records:
            payload = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()
            self._producer.produce(topic, payload, None if key is None else key.encode(), timestamp=timestamp)
        assert self._producer.flush(DEADLINE_S) == 0

    def write_to(self, topic: str, partition: int, value: bytes, timestamp: int) -> None:
        """One record without a key."""
        producer = self._producer
        # It may have heard of the topic when that had fewer partitions.
        wait_for(lambda: partition in producer.list_topics(topic).topics[topic].partitions, f"{topic}-{partition}")
        producer.produce(topic, value, partition=partition, timestamp=timestamp)
        assert producer.flush(DEADLINE_S) == 0

    def read(self, topic: str, count: int) -> list[Found]:
        """The first records of a topic of one partition, as many as are asked for, and those that come with them."""
        return [
            Found(
                message.key(), None if (value := message.value()) is None else json.loads(value), message.timestamp()[1]
            )
            for message in self._messages(topic, count)
        ]

    def read_bytes(self, topic: str, count: int) -> list[tuple[bytes | None, bytes | None]]:
        """The same: keys and values as they are."""
        return [(message.key(), message.value()) for message in self._messages(topic, count)]

    def _messages(self, topic: str, count: int) -> list[Message]:
        consumer = Consumer(
            {"bootstrap.servers": self.address, "group.id": "unused", "isolation.level": "read_committed"}
        )
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        found: list[Message] = []

        def enough() -> bool:
            self.check()
            found.extend(consumer.consume(1000, READ_TIMEOUT_S))
            return len(found) >= count

        try:
            wait_for(enough, f"{count} records in {topic}", DEADLINE_S)
        finally:
            consumer.close()
        return found


@dataclass
class QueryRun:
    """One query of a test: its topics, its records, its events."""

    host: QueryHost
    folder: Path
    topics: Topics
    events: list[Event]

    def __post_init__(self) -> None:
        self.topics.check = self._assert_sound
        self.topic = self.topics.create
        self.write = self.topics.write
        self.read = self.topics.read

    def _assert_sound(self) -> None:
        failed = [event for event in self.events if isinstance(event, QueryFailed)]
        assert not failed, failed

    @property
    def query_id(self) -> str:
        return f"{self.topics.prefix}-query"

    def start(self, plan: PersistentPlan, trigger: Trigger = TRIGGER, **fields: Any) -> str:
        """Start the query, which must be taken."""
        self.launch(plan, trigger, **fields)
        self._assert_sound()
        return self.query_id

    def launch(self, plan: PersistentPlan, trigger: Trigger = TRIGGER, **fields: Any) -> None:
        checkpoint = str(self.folder / "checkpoint")
        self._command = StartQuery(
            self.query_id, plan, checkpoint, **{"starting_offsets": "earliest", "trigger": trigger, **fields}
        )
        self.host.start(self._command)

    def move(self, folder: str) -> None:
        """Another checkpoint from now on."""
        self.folder = self.folder / folder

    def restart(self) -> str:
        """Start the query again as it was, whatever comes of it."""
        self.host.start(self._command)
        return self.query_id

    def checkpoint(self, folder: str) -> list[Path]:
        """What Spark has written to a folder of the checkpoint."""
        found = self.folder / "checkpoint" / folder
        return [entry for entry in found.iterdir() if not entry.name.startswith(".")] if found.exists() else []

    def stop(self, query_id: str) -> None:
        self.host.stop(query_id)
        self.expect(Stopped)
        self.events.clear()

    def expect(self, kind: type[EventT]) -> EventT:
        def first() -> EventT | None:
            return next((event for event in self.events if isinstance(event, kind)), None)

        return wait_for(first, kind.__name__, DEADLINE_S)

    def settled(self, records: int) -> list[Progress]:
        """The progress of batches once that many records were read."""

        def read() -> list[Progress] | None:
            batches = [event for event in self.events if isinstance(event, Progress)]
            return batches if sum(batch.input_rows for batch in batches) >= records else None

        return wait_for(read, f"batches of {records} records", DEADLINE_S)


def exactly_once() -> Mapping[str, Any]:
    return {"guarantee": Guarantee.EXACTLY_ONCE}
