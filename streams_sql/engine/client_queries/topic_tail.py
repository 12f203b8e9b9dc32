"""A topic read from a position on, by a thread that waits while its records are not taken."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from streams_sql.engine.failures import Unavailable

POLL_S: Final = 0.2
"""The longest wait for a record; when one comes the poll returns at once. So long may stopping take."""
RECORDS_MAX: Final = 1_000
"""Records that are handed over together at most."""
BATCHES_WAITING_MAX: Final = 2
"""Lists that may wait for who takes them; then reading waits."""
ASK_TIMEOUT_S: Final = 10.0
PARTITIONS_INTERVAL_S: Final = 30.0
"""How often it is looked for new partitions."""
AHEAD_KB: Final = 4_096
"""What librdkafka fetches ahead for one tail: of a client that does not read there is no more in memory."""
FETCH_AGAIN_MS: Final = 20
"""How soon librdkafka looks again whether there is room for more: one of many tails whose clients do not read costs little."""

_OWN: Final = {
    "group.id": "barnabas-sql-tail",
    "enable.auto.commit": False,
    "isolation.level": "read_committed",
    # Where records have gone before they were read.
    "auto.offset.reset": "earliest",
    "queued.max.messages.kbytes": AHEAD_KB,
    "fetch.queue.backoff.ms": FETCH_AGAIN_MS,
}

BatchT = TypeVar("BatchT")


@dataclass(frozen=True, slots=True)
class Start:
    """From where on: the beginning of each partition, or its end."""

    is_beginning: bool


class TopicTail(Generic[BatchT]):
    """Iterate over it once; that ends when the tail is closed. `made_of` makes of messages what is handed over, on the thread; None where
    there is nothing to report."""

    def __init__(
        self,
        topic: str,
        settings: Mapping[str, Any],
        start: Start,
        made_of: Callable[[Sequence[Message]], BatchT | None],
    ) -> None:
        self._topic = topic
        self._start = start
        self._made_of = made_of
        self._consumer = Consumer({**settings, **_OWN})
        self._partitions: set[int] = set()
        self._waiting: asyncio.Queue[BatchT | Exception | None] = asyncio.Queue(BATCHES_WAITING_MAX)
        self._loop = asyncio.get_running_loop()
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"tail {topic}", daemon=True)

    async def open(self) -> None:
        """Settle where reading begins. Unavailable when Kafka does not answer; then the tail is closed."""
        try:
            await asyncio.to_thread(self._assign, self._start)
        except KafkaException as problem:
            self._consumer.close()
            raise Unavailable(f"Topic {self._topic} cannot be read: {problem.args[0].str()}") from None
        self._thread.start()

    async def __aiter__(self) -> AsyncIterator[BatchT]:
        while (found := await self._waiting.get()) is not None:
            if isinstance(found, Exception):
                raise found
            yield found

    async def close(self) -> None:
        """May be called more than once. What was read and not taken is gone."""
        self._is_stopping.set()
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join)
        while not self._waiting.empty():
            self._waiting.get_nowait()
        self._waiting.put_nowait(None)

    # --- on the thread ---

    def _assign(self, start: Start) -> None:
        """Take over the partitions that are not read yet."""
        described = self._consumer.list_topics(self._topic, ASK_TIMEOUT_S).topics[self._topic]
        if described.error is not None:
            raise KafkaException(described.error)
        new = sorted(set(described.partitions) - self._partitions)
        if not new:
            return
        places = [TopicPartition(self._topic, partition) for partition in new]
        for place in places:
            low, high = self._consumer.get_watermark_offsets(place, ASK_TIMEOUT_S)
            place.offset = low if start.is_beginning else high
        self._consumer.incremental_assign(places)
        self._partitions.update(new)

    def _run(self) -> None:
        try:
            looked_at = self._loop.time()
            while not self._is_stopping.is_set():
                self._read()
                if self._loop.time() - looked_at > PARTITIONS_INTERVAL_S:
                    looked_at = self._loop.time()
                    # The brokers may be away for a while: then reading goes on by itself, and the next look finds what is new.
                    with contextlib.suppress(KafkaException):
                        self._assign(Start(is_beginning=True))
        except Exception as problem:  # noqa: BLE001 - the reader must get it
            self._hand_over(problem)
        finally:
            self._consumer.close()

    def _read(self) -> None:
        first = self._consumer.poll(POLL_S)
        if first is None:
            return
        messages = []
        for message in (first, *self._consumer.consume(RECORDS_MAX - 1, 0)):
            error = message.error()
            if error is None:
                messages.append(message)
            elif error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_AUTHORIZATION_FAILED):
                raise Unavailable(f"Topic {self._topic} cannot be read any more: {error.str()}")
        made = self._made_of(messages) if messages else None
        if made is not None:
            self._hand_over(made)

    def _hand_over(self, found: BatchT | Exception) -> None:
        putting = asyncio.run_coroutine_threadsafe(self._waiting.put(found), self._loop)
        while not self._is_stopping.is_set():
            try:
                putting.result(POLL_S)
            except TimeoutError:
                continue
            return
        putting.cancel()
