"""What the engines of a run share: a broker and a registry of ours, topics that are full, and empty ones for results."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from confluent_kafka import Consumer, TopicPartition

from benchmarks.connection import HOST, create_topics, delete_topics, records_in
from benchmarks.contestants import Ours
from benchmarks.job import LoadFailed
from benchmarks.registries import OurRegistry
from benchmarks.registry_api import Api
from benchmarks.running import Launch, Running, free_port
from benchmarks.sql_engines import Site
from benchmarks.sql_records import (
    CUSTOMERS,
    DAY_MS,
    LAST_CUSTOMER,
    PARTS,
    avro_orders,
    is_passed,
    json_order,
    write_customers,
    write_orders,
)
from benchmarks.turns import say
from benchmarks.wire import Topic

# Orders lie in the past, and must stay there.
KEPT = {"retention.ms": "-1"}
# The broker notes when a result arrives, whatever time it bears: nobody has to watch.
ARRIVALS = {**KEPT, "message.timestamp.type": "LogAppendTime"}
READ_LIMIT_SECONDS = 120
RECORDS_PER_CALL = 10_000
WINDOW_BYTES = 8


@dataclass(frozen=True, slots=True)
class Scale:
    """How much work one measurement does."""

    orders: int
    warm_orders: int
    ten_orders: int
    latency_seconds: float
    idle_seconds: float
    view_rows: int
    many_keys: int
    pull_seconds: float
    local_rows: int


FULL = Scale(5_000_000, 1_000_000, 1_000_000, 10, 15, 1_000_000, 10_000_000, 5, 500_000)
QUICK = Scale(600_000, 300_000, 100_000, 8, 10, 200_000, 1_000_000, 2, 100_000)


class Stage:
    """The servers start, and the topics are filled, when they are first asked for."""

    def __init__(self, folder: Path, scale: Scale) -> None:
        self.folder = folder
        self.scale = scale
        self._begin_ms = int(time.time() * 1_000) - 2 * DAY_MS
        self._stack = ExitStack()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @cached_property
    def broker(self) -> Running:
        running = Ours(self.folder).start(self.folder / "broker")
        self._stack.callback(running.kill)
        return running

    @cached_property
    def registry_url(self) -> str:
        registry, api = OurRegistry(self.folder), Api(free_port(), "")
        launch = Launch(
            "registry", registry.command(api.port, self.broker.port), api.port, self.folder / "registry.log"
        )
        self._stack.callback(launch.start(lambda: api.succeeds(api.subjects())).kill)
        return f"http://{HOST}:{api.port}"

    def site(self, name: str) -> Site:
        return Site(self.broker.port, self.registry_url, self.folder / f"{name}-{uuid4().hex[:8]}")

    # --- topics that are full ---

    @cached_property
    def json_orders(self) -> Topic:
        return self._orders("orders-json", self.scale.orders)

    @cached_property
    def avro_orders(self) -> Topic:
        topic = self.topic("orders-avro")
        say(f"writing {self.scale.orders:,} orders to {topic.name}")
        write_orders(
            self.broker.port, topic.name, self.scale.orders, self._begin_ms, avro_orders(self.registry_url, topic.name)
        )
        return topic

    @cached_property
    def warm_orders(self) -> Topic:
        return self._orders("orders-warm", self.scale.warm_orders)

    @cached_property
    def ten_orders(self) -> Topic:
        return self._orders("orders-ten", self.scale.ten_orders)

    @cached_property
    def few_orders(self) -> Topic:
        return self._orders("orders-few", 1_000)

    @cached_property
    def customers(self) -> Topic:
        topic = self.topic("customers")
        write_customers(self.broker.port, topic.name, CUSTOMERS, self._begin_ms - DAY_MS)
        return topic

    def _orders(self, name: str, count: int) -> Topic:
        topic = self.topic(name)
        say(f"writing {count:,} orders to {name}")
        write_orders(self.broker.port, name, count, self._begin_ms, json_order)
        return topic

    def topic(self, name: str, partitions: int = PARTS) -> Topic:
        (topic,) = create_topics(self.broker.port, [name], partitions, KEPT)
        return topic

    @contextmanager
    def passing_topic(self, name: str, partitions: int = PARTS, *, is_sink: bool = True) -> Iterator[Topic]:
        """An empty topic until the block ends."""
        unique = f"{name}-{uuid4().hex[:8]}"
        (topic,) = create_topics(self.broker.port, [unique], partitions, ARRIVALS if is_sink else KEPT)
        try:
            yield topic
        finally:
            delete_topics(self.broker.port, [topic])

    # --- what has come ---

    def count(self, topic: Topic) -> int:
        return records_in(self.broker.port, topic)

    def last_arrival(self, topic: Topic) -> float:
        """When the last record came, in seconds since 1970."""
        arrivals = [0]
        with self._reader() as consumer:
            for partition in range(topic.partitions):
                place = TopicPartition(topic.name, partition)
                first, end = consumer.get_watermark_offsets(place, READ_LIMIT_SECONDS)
                if first < end:
                    consumer.assign([TopicPartition(topic.name, partition, end - 1)])
                    (message,) = consumer.consume(1, READ_LIMIT_SECONDS)
                    arrivals.append(message.timestamp()[1])
        return max(arrivals) / 1_000

    def counted(self, topic: Topic) -> int:
        """The sum of the last counts of all customers, or of all their windows: of each order that was counted, one."""
        last: dict[Any, int] = {}
        for key, value in self.records(topic):
            # Ours writes the window behind the customer, Flink into the value; no customer has so long a name.
            customer = key[:-WINDOW_BYTES] if len(key) > WINDOW_BYTES else key
            if customer != LAST_CUSTOMER.encode():
                found = {name.lower(): item for name, item in json.loads(value).items()}
                last[key, found.get("began")] = found["n"]
        return sum(last.values())

    def records(self, topic: Topic) -> Iterator[tuple[bytes, bytes]]:
        left = self.count(topic)
        deadline = time.monotonic() + READ_LIMIT_SECONDS
        with self._reader() as consumer:
            consumer.assign([TopicPartition(topic.name, partition, 0) for partition in range(topic.partitions)])
            while left > 0:
                for message in consumer.consume(RECORDS_PER_CALL, 1.0):
                    left -= 1
                    yield message.key() or b"", message.value() or b""
                if time.monotonic() > deadline:
                    raise LoadFailed(f"{left} records of {topic.name} could not be read in {READ_LIMIT_SECONDS} s")

    @contextmanager
    def _reader(self) -> Iterator[Consumer]:
        consumer = Consumer(
            {
                "bootstrap.servers": f"{HOST}:{self.broker.port}",
                "group.id": "benchmark",
                "enable.auto.commit": False,
            }
        )
        try:
            yield consumer
        finally:
            consumer.close()


def passed(count: int) -> int:
    """How many of so many orders the filter lets pass."""
    return sum(map(is_passed, range(count)))
