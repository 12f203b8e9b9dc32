"""The one producer that all requests share, and the way of its delivery reports back to the event loop.

librdkafka reports each record to a callback on the thread that polls. The callback only writes the result into its batch; after each
poll the batches that are complete are handed to the loop together, in one call. A record costs no future and no hop of its own.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from rest_proxy.kafka.failure import KafkaFailure

POLL_S: Final = 0.1
"""The longest wait for reports; when one comes the poll returns at once."""
STOP_DEADLINE_S: Final = 10.0
SPACE_RETRY_S: Final = 0.002
"""How soon a record is tried again when librdkafka's queue is full."""

ANY_PARTITION: Final = -1

logger = logging.getLogger(__name__)


class OutgoingRecord(NamedTuple):
    """A record as it goes out. No partition: the key decides, or chance. No timestamp: now.

    A tuple, since one is made for every record, and that in half the time of a frozen dataclass.
    """

    topic: str
    key: bytes | None
    value: bytes | None
    partition: int = ANY_PARTITION
    headers: Sequence[tuple[str, bytes | None]] = ()
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Delivered:
    """Where a record lies now."""

    partition: int
    offset: int
    timestamp_ms: int | None


class Batch:
    """Records that were sent together. `results` has a place for each, in order; `done` is resolved when all are filled.

    Reports come on the thread that polls, refusals on the loop. Each side has a count of its own, written by it alone, and looks at the
    sum after it has written: whoever comes last sees that all are there.
    """

    __slots__ = ("_refused", "_reported", "done", "results")

    def __init__(self, size: int, done: asyncio.Future[None]) -> None:
        self.results: list[Delivered | KafkaFailure | None] = [None] * size
        self.done = done
        self._reported = 0
        self._refused = 0

    @property
    def complete(self) -> bool:
        return self._reported + self._refused == len(self.results)

    def report(self, index: int, result: Delivered | KafkaFailure) -> None:
        self.results[index] = result
        self._reported += 1

    def refuse(self, index: int, failure: KafkaFailure) -> None:
        """A record that librdkafka did not even take."""
        self.results[index] = failure
        self._refused += 1


class SharedProducer:
    """Sends records of any number of requests. Everything but the polling happens on the event loop."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._producer = Producer(dict(settings), logger=logger)
        self._loop = asyncio.get_running_loop()
        self._completed: list[Batch] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._poll, name="delivery reports", daemon=True)
        self._thread.start()

    async def send(self, records: Sequence[OutgoingRecord]) -> list[Delivered | KafkaFailure]:
        """Send records and return what became of each, in order, when all have been acknowledged or given up."""
        batch = await self.begin(records)
        await batch.done
        return [result for result in batch.results if result is not None]

    async def begin(self, records: Sequence[OutgoingRecord]) -> Batch:
        """Hand records to librdkafka and return before they are acknowledged; waits while its queue is full."""
        batch = Batch(len(records), self._loop.create_future())
        start = 0
        while start < len(records):
            end = _end_of_run(records, start)
            waiting = list(range(start, end))
            while waiting:
                hand_over = self._produce_one if end - start == 1 else self._produce_together
                waiting = hand_over(records, waiting, batch)
                if waiting:
                    await asyncio.sleep(SPACE_RETRY_S)
            start = end
        if batch.complete:
            _resolve([batch])
        return batch

    async def stop(self) -> None:
        """Let what is under way finish, within bounds, and end the thread."""
        await asyncio.to_thread(self._producer.flush, STOP_DEADLINE_S)
        self._stopping.set()
        await asyncio.to_thread(self._thread.join, STOP_DEADLINE_S)

    def _produce_one(self, records: Sequence[OutgoingRecord], indexes: list[int], batch: Batch) -> list[int]:
        """Hand one record over; return its index if there is no space for it yet."""
        (index,) = indexes
        record = records[index]
        further: dict[str, Any] = {}
        if record.headers:
            further["headers"] = list(record.headers)
        if record.timestamp_ms is not None:
            further["timestamp"] = record.timestamp_ms
        report = self._reporter(batch, index)
        try:
            self._producer.produce(
                record.topic, record.value, record.key, record.partition, on_delivery=report, **further
            )
        except BufferError:
            return indexes
        except KafkaException as problem:
            batch.refuse(index, KafkaFailure.of_exception(problem))
        return []

    def _produce_together(self, records: Sequence[OutgoingRecord], indexes: list[int], batch: Batch) -> list[int]:
        """Hand over plain records of one topic, in two thirds of the time that it takes one by one; return those that found no space."""
        messages: list[dict[str, Any]] = [
            {"value": records[index].value, "key": records[index].key, "callback": self._reporter(batch, index)}
            for index in indexes
        ]
        first = records[indexes[0]]
        if self._producer.produce_batch(first.topic, messages, first.partition) == len(messages):
            return []
        left = []
        for index, message in zip(indexes, messages, strict=True):
            error = message.get("_error")
            if error is None:
                continue
            if error.code() == KafkaError._QUEUE_FULL:
                left.append(index)
            else:
                batch.refuse(index, KafkaFailure.of(error))
        return left

    def _reporter(self, batch: Batch, index: int) -> Callable[[KafkaError | None, Message], None]:
        completed = self._completed

        def report(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                result: Delivered | KafkaFailure = KafkaFailure.of(error)
            else:
                kind, timestamp = message.timestamp()
                result = Delivered(message.partition() or 0, message.offset() or 0, timestamp if kind else None)
            batch.report(index, result)
            if batch.complete:
                completed.append(batch)

        return report

    def _poll(self) -> None:
        while not self._stopping.is_set():
            self._producer.poll(POLL_S)
            if self._completed:
                # Only this thread appends, in the callbacks of `poll`.
                ready, self._completed[:] = self._completed[:], []
                self._loop.call_soon_threadsafe(_resolve, ready)


def _resolve(batches: Sequence[Batch]) -> None:
    for batch in batches:
        if not batch.done.done():
            batch.done.set_result(None)


def _end_of_run(records: Sequence[OutgoingRecord], start: int) -> int:
    """Where the records end that can be handed over together: to one partition or any, without headers and times of their own."""
    topic, partition = records[start].topic, records[start].partition
    for index in range(start, len(records)):
        record = records[index]
        apart = record.headers or record.timestamp_ms is not None
        if apart or record.topic != topic or record.partition != partition:
            return max(index, start + 1)
    return len(records)
