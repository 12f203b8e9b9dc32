"""The topics that the sample queries read, and what feeds them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Producer

from tests.streams_sql.e2e.sample_orders import PAID_AFTER_MS, USERS, Order

CHUNK = 10
PAUSE_S = 0.1


class OrderTopics:
    def __init__(self, bootstrap: str, prefix: str) -> None:
        self._prefix = prefix
        # As Java's clients do it, so that joins find both sides in one place.
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": True, "partitioner": "murmur2_random"}
        )

    def write_users(self) -> None:
        for user, name in USERS.items():
            self._write("users", user.encode(), {"NAME": name}, Order(0).time_ms)
        self._flush()

    def write_orders(self, start: int, end: int) -> None:
        for order in map(Order, range(start, end)):
            self._write("orders", order.key, {"USER_ID": order.user, "AMOUNT": order.amount}, order.time_ms)
            if order.is_paid:
                self._write("payments", order.key, {"PAID": order.paid}, order.time_ms + PAID_AFTER_MS)
        self._flush()

    @contextmanager
    def growing(self, start: int = 0) -> Iterator[Callable[[], int]]:
        """Write orders all the time; yields what tells how many there are by now."""
        ends = threading.Event()
        written = start

        def work() -> None:
            nonlocal written
            while not ends.wait(PAUSE_S):
                self.write_orders(written, written + CHUNK)
                written += CHUNK

        writing = threading.Thread(target=work)
        writing.start()
        try:
            yield lambda: written
        finally:
            ends.set()
            writing.join()

    def _write(self, topic: str, key: bytes, value: dict[str, Any], time_ms: int) -> None:
        self._producer.produce(f"{self._prefix}{topic}", json.dumps(value), key, timestamp=time_ms)

    def _flush(self) -> None:
        assert self._producer.flush() == 0
