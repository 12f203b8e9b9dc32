"""One measurement of latency: orders are written at a steady rate, and the results that they change are waited for."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.connection import HOST
from benchmarks.job import Figures, LoadFailed
from benchmarks.spread import percentile
from benchmarks.sql_engines import Deployment, Kind, Pace, Query
from benchmarks.sql_records import is_passed, json_order
from benchmarks.sql_stage import Stage
from benchmarks.wire import Topic

KEYS = 100
WARM_SECONDS = 4.0
POLL_SECONDS = 0.002
RECORDS_PER_CALL = 500
# How long the last results are waited for.
LAST_LIMIT_SECONDS = 20.0
FIRST_LIMIT_SECONDS = 90.0
MS = 1e3


class Awaited(Protocol):
    """Orders whose results have not come yet."""

    def sent(self, number: int, at_s: float) -> None: ...

    def came(self, key: bytes, value: bytes, at_s: float) -> Iterator[tuple[float, float]]:
        """When each of the orders that a result is of was sent, and that it has come now."""


class Rows:
    """Each order is a row of its own."""

    def __init__(self) -> None:
        self._sent: dict[int, float] = {}

    def sent(self, number: int, at_s: float) -> None:
        self._sent[number] = at_s

    def came(self, key: bytes, value: bytes, at_s: float) -> Iterator[tuple[float, float]]:
        found = {name.lower(): item for name, item in json.loads(value).items()}
        sent = self._sent.pop(found["id"], None)
        if sent is not None:
            yield sent, at_s


class Counts:
    """An order has come when the count of its customer has reached it."""

    def __init__(self) -> None:
        self._sent: dict[bytes, deque[tuple[int, float]]] = defaultdict(deque)
        self._counts: dict[bytes, int] = defaultdict(int)

    def sent(self, number: int, at_s: float) -> None:
        key = key_of(number).encode()
        self._counts[key] += 1
        self._sent[key].append((self._counts[key], at_s))

    def came(self, key: bytes, value: bytes, at_s: float) -> Iterator[tuple[float, float]]:
        (reached,) = json.loads(value).values() if value else (0,)
        waiting = self._sent[key]
        while waiting and waiting[0][0] <= reached:
            yield waiting.popleft()[1], at_s


def key_of(number: int) -> str:
    return f"k{number % KEYS}"


@dataclass(frozen=True, slots=True)
class Paced:
    kind: Kind
    pace: Pace
    rate: int

    def run(self, stage: Stage, deployment: Deployment) -> Figures:
        awaited: Awaited = Counts() if self.kind == "count" else Rows()
        with (
            stage.passing_topic("paced", 1, is_sink=False) as orders,
            stage.passing_topic(f"{deployment.name}-paced", 1) as sink,
        ):
            query_id = deployment.start(Query(self.kind, orders.name, sink.name, pace=self.pace))
            try:
                latencies = _Run(stage, orders, sink, awaited, self.rate).latencies()
            finally:
                deployment.stop(query_id)
        ordered = sorted(latencies)
        return {"p50_ms": percentile(ordered, 0.5) * MS, "p99_ms": percentile(ordered, 0.99) * MS}


class _Run:
    def __init__(self, stage: Stage, orders: Topic, sink: Topic, awaited: Awaited, rate: int) -> None:
        self._stage = stage
        self._orders = orders
        self._sink = sink
        self._awaited = awaited
        self._rate = rate
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._written = 0

    def latencies(self) -> list[float]:
        """Of the orders that were sent while it was measured, in seconds."""
        writer = threading.Thread(target=self._write, daemon=True)
        writer.start()
        try:
            return self._read()
        finally:
            self._is_over.set()
            writer.join()

    def _write(self) -> None:
        producer = Producer({"bootstrap.servers": f"{HOST}:{self._stage.broker.port}", "linger.ms": 0})
        began = time.monotonic()
        for place, number in enumerate(number for number in count() if is_passed(number)):
            wait = began + place / self._rate - time.monotonic()
            if wait > 0 and self._is_over.wait(wait):
                break
            with self._lock:
                self._awaited.sent(number, time.monotonic())
            producer.produce(self._orders.name, json_order(number), key_of(number), 0)
            producer.poll(0)
            self._written += 1
        producer.flush(LAST_LIMIT_SECONDS)

    def _read(self) -> list[float]:
        settings = {
            "bootstrap.servers": f"{HOST}:{self._stage.broker.port}",
            "group.id": "latency",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 10,
        }
        consumer = Consumer(settings)
        consumer.assign([TopicPartition(self._sink.name, 0, 0)])
        found: list[float] = []
        first_s: float | None = None
        began = time.monotonic()
        try:
            while first_s is None or time.monotonic() < first_s + WARM_SECONDS + self._stage.scale.latency_seconds:
                if first_s is None and time.monotonic() - began > FIRST_LIMIT_SECONDS:
                    raise LoadFailed(f"no result has come within {FIRST_LIMIT_SECONDS} s")
                for message in consumer.consume(RECORDS_PER_CALL, POLL_SECONDS):
                    now = time.monotonic()
                    first_s = now if first_s is None else first_s
                    with self._lock:
                        came = list(self._awaited.came(message.key() or b"", message.value() or b"", now))
                    found += [at - sent for sent, at in came if sent > first_s + WARM_SECONDS]
        finally:
            consumer.close()
        if not found:
            raise LoadFailed("no result came after the warm-up")
        return found
