"""Reads a whole topic and goes on with what follows, on a thread of its own; records reach the event loop in batches."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from barnabas.kernel.kafka_log.log import Apply, LogRecord

POLL_S: Final = 0.25
"""The longest wait for a record; when one comes the poll returns at once. So long may stopping take."""
RECORDS_MAX: Final = 1_000
"""Records that are handed over together at most."""
METADATA_TIMEOUT_S: Final = 2.0
ERROR_INTERVAL_S: Final = 30.0
"""How often the log tells of an error that lasts."""

_logger = logging.getLogger(__name__)


class TopicReader:
    """Applies the committed records of all partitions. `position` counts offsets, those of the markers of transactions included."""

    def __init__(self, topic: str, partitions: int, settings: Mapping[str, Any], apply: Apply) -> None:
        self._topic = topic
        self._apply = apply
        self._positions = dict.fromkeys(range(partitions), 0)
        self._waiting: list[tuple[Mapping[int, int], asyncio.Future[None]]] = []
        self._loop = asyncio.get_running_loop()
        self._stopping = threading.Event()
        self._error_told_s = -ERROR_INTERVAL_S
        own = {
            # It never joins the group, which librdkafka wants to know all the same.
            "group.id": f"barnabas-{topic}",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
        }
        self._consumer = Consumer({**settings, **own})
        self._thread = threading.Thread(target=self._run, name=f"read {topic}", daemon=True)

    @property
    def position(self) -> int:
        return sum(self._positions.values())

    @property
    def partitions(self) -> Sequence[int]:
        return list(self._positions)

    def start(self) -> None:
        self._thread.start()

    async def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join)
        for _, waiting in self._waiting:
            waiting.cancel()

    async def reach(self, ends: Mapping[int, int]) -> None:
        """Return when every partition has been applied up to these offsets."""
        if self._has_reached(ends):
            return
        waiting = self._loop.create_future()
        entry = (ends, waiting)
        self._waiting.append(entry)
        try:
            await waiting
        finally:
            # Who has given up is not kept until the reader gets there.
            self._waiting = [other for other in self._waiting if other is not entry]

    def _has_reached(self, ends: Mapping[int, int]) -> bool:
        return all(self._positions[partition] >= end for partition, end in ends.items())

    # --- on the event loop ---

    def _take(self, records: Sequence[LogRecord], positions: Mapping[int, int]) -> None:
        self._positions.update(positions)
        if records:
            self._apply(records)
        for ends, waiting in self._waiting:
            if not waiting.done() and self._has_reached(ends):
                waiting.set_result(None)

    # --- on the thread ---

    def _run(self) -> None:
        try:
            self._learn_leaders()
            self._consumer.assign(
                [TopicPartition(self._topic, partition, OFFSET_BEGINNING) for partition in self._positions]
            )
            while not self._stopping.is_set():
                self._read()
        finally:
            self._consumer.close()

    def _learn_leaders(self) -> None:
        """Assigned partitions of a topic that it has not heard of are looked for by librdkafka when a second is over; if it is asked for the
        topic before, it reads at once."""
        try:
            self._consumer.list_topics(self._topic, METADATA_TIMEOUT_S)
        except KafkaException as problem:
            self._tell(problem.args[0])

    def _read(self) -> None:
        first = self._consumer.poll(POLL_S)
        if first is None:
            return
        records: list[LogRecord] = []
        positions: dict[int, int] = {}
        for message in (first, *self._consumer.consume(RECORDS_MAX - 1, 0)):
            self._note(message, records.append, positions)
        if positions:
            self._loop.call_soon_threadsafe(self._take, records, positions)

    def _note(self, message: Message, add: Callable[[LogRecord], None], positions: dict[int, int]) -> None:
        error = message.error()
        if error is None:
            positions[_known(message.partition())] = _known(message.offset()) + 1
            key = message.key()
            if isinstance(key, bytes):
                add(LogRecord(key, _bytes(message.value())))
        elif error.code() == KafkaError._PARTITION_EOF:
            positions[_known(message.partition())] = _known(message.offset())
        else:
            self._tell(error)

    def _tell(self, error: KafkaError) -> None:
        """librdkafka tries again by itself."""
        now_s = self._loop.time()
        if now_s - self._error_told_s >= ERROR_INTERVAL_S:
            self._error_told_s = now_s
            _logger.warning("reading topic %s: %s", self._topic, error.str())


def _bytes(value: bytes | str | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _known(number: int | None) -> int:
    assert number is not None, "a message comes from somewhere"
    return number
