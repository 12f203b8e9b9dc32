"""Logs that are topics: one that every instance may write to, and one that the leader alone may."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, Message, Producer

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_log.failures import StoreFailure, Superseded
from barnabas.kernel.kafka_log.log import Apply, LogRecord
from barnabas.kernel.kafka_log.topic_reader import TopicReader

WRITE_TIMEOUT_S: Final = 30.0
"""After this time a write that Kafka has not acknowledged counts as failed."""
FLUSH_S: Final = 0.2
"""How long a write is waited for before it is looked whether the log stops."""
READ_TIMEOUT_S: Final = 60.0
"""So long may it take to read a topic to its end."""
READ_BACK_TIMEOUT_S: Final = 30.0
"""So long may it take until a write that Kafka has acknowledged comes back from the topic."""
MS_PER_S: Final = 1000
COMMIT_ATTEMPTS: Final = 3

_ORDERED: Final[Mapping[str, Any]] = {
    "acks": "all",
    "enable.idempotence": True,
    "linger.ms": 0,
    "delivery.timeout.ms": int(WRITE_TIMEOUT_S * MS_PER_S),
    # As Java's clients choose by the key, so that a partition holds all records of a key.
    "partitioner": "murmur2_random",
}
_FENCED: Final = frozenset(
    {
        KafkaError._FENCED,
        KafkaError.PRODUCER_FENCED,
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)


class TopicLog:
    """A topic that all instances write to."""

    def __init__(self, topic: str, clients: LogClients, apply: Apply) -> None:
        self._topic = topic
        self._clients = clients
        self._apply = apply
        self._reader: TopicReader | None = None
        self._producer: Producer | None = None
        # One thread: what is written first is written first.
        self._writing = ThreadPoolExecutor(1, f"write {topic}")
        self._is_stopped = False

    @property
    def position(self) -> int:
        return 0 if self._reader is None else self._reader.position

    async def start(self) -> None:
        partitions = await self._clients.admin.partition_count(self._topic)
        if partitions is None:
            raise StoreFailure(f"there is no topic {self._topic}")
        self._reader = TopicReader(self._topic, partitions, self._clients.consumer, self._apply)
        self._reader.start()
        await self.read_to_end()

    async def stop(self) -> None:
        self._is_stopped = True
        if self._reader is not None:
            await self._reader.stop()
        self._writing.shutdown(wait=False, cancel_futures=True)

    async def read_to_end(self) -> None:
        await self._read_to_end(IsolationLevel.READ_COMMITTED)

    async def _read_to_end(self, isolation: IsolationLevel) -> None:
        reader = self._running_reader()
        ends = await self._clients.admin.ends(self._topic, reader.partitions, isolation)
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                await reader.reach(ends)
        except TimeoutError:
            raise StoreFailure(
                f"topic {self._topic} could not be read to its end in {READ_TIMEOUT_S:g} s; see whether its brokers answer"
            ) from None

    async def append(self, records: Sequence[LogRecord]) -> None:
        loop = asyncio.get_running_loop()
        await self._read_back(await loop.run_in_executor(self._writing, self._write, records))

    async def _read_back(self, ends: Mapping[int, int]) -> None:
        """Wait until what was written is known here. If that takes too long it stands in the topic all the same, and is applied when the
        reader gets there."""
        try:
            async with asyncio.timeout(READ_BACK_TIMEOUT_S):
                await self._running_reader().reach(ends)
        except TimeoutError:
            raise StoreFailure(
                f"topic {self._topic} has taken a change, which could not be read back in {READ_BACK_TIMEOUT_S:g} s: it counts as soon as"
                " it can; see whether its brokers answer"
            ) from None

    def _running_reader(self) -> TopicReader:
        assert self._reader is not None, "the log has not been started"
        return self._reader

    # --- on the thread that writes ---

    def _write(self, records: Sequence[LogRecord]) -> Mapping[int, int]:
        """The offsets behind the records, by partition."""
        producer = self._producer or Producer({**self._clients.producer, **_ORDERED})
        # A producer that has failed is not used again.
        self._producer = None
        ends = _produced(producer, self._topic, records, self._flush)
        self._producer = producer
        return ends

    def _flush(self, producer: Producer) -> int:
        """Wait for a while until Kafka has everything; returns how many records it has not. Nobody waits for a log that stops."""
        deadline_s = time.monotonic() + WRITE_TIMEOUT_S
        while (unsent := producer.flush(FLUSH_S)) and not self._is_stopped and time.monotonic() < deadline_s:
            pass
        return unsent


class LeaderLog(TopicLog):
    """A topic that only the leader writes to, each change as one transaction.

    Who leads takes the transactional id, after which nothing that a former leader writes is taken any more: two leaders cannot both
    write, whatever each thinks of itself.
    """

    def __init__(
        self, topic: str, transactional_id: str, clients: LogClients, apply: Apply, on_fenced: Callable[[], None]
    ) -> None:
        super().__init__(topic, clients, apply)
        self._transactional_id = transactional_id
        self._on_fenced = on_fenced

    async def lead(self) -> None:
        """Shut out former leaders, and read what they have written."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._writing, self._take_over)
        await self._read_to_end(IsolationLevel.READ_UNCOMMITTED)

    async def resign(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._writing, self._drop_producer)

    async def append(self, records: Sequence[LogRecord]) -> None:
        loop = asyncio.get_running_loop()
        try:
            ends = await loop.run_in_executor(self._writing, self._transact, records)
        except _Fenced as fenced:
            self._on_fenced()
            raise Superseded(str(fenced)) from None
        # A commit is decided when it returns, and readers of committed records may see them a little later. Nobody waits for the
        # marker behind them, which a reader hears of only after it has waited for further records in vain.
        await self._read_back(ends)

    def _take_over(self) -> None:
        own = {
            **_ORDERED,
            "transactional.id": self._transactional_id,
            "transaction.timeout.ms": int(WRITE_TIMEOUT_S * MS_PER_S),
        }
        producer = Producer({**self._clients.producer, **own})
        try:
            producer.init_transactions(WRITE_TIMEOUT_S)
        except KafkaException as problem:
            raise _failure(problem, self._topic) from None
        self._producer = producer

    def _drop_producer(self) -> None:
        self._producer = None

    def _transact(self, records: Sequence[LogRecord]) -> Mapping[int, int]:
        """The offsets behind the records, by partition."""
        producer = self._producer
        if producer is None:
            raise Superseded("this instance does not lead its group any more")
        try:
            producer.begin_transaction()
            deliveries = _Deliveries()
            for key, value in records:
                producer.produce(self._topic, value, key, on_delivery=deliveries.report)
            # What was delivered is told while waiting here; what was not makes the commit fail, and that says why.
            with suppress(KafkaException, SystemError):
                self._flush(producer)
            _commit(producer)
            return deliveries.ends
        except KafkaException as problem:
            # Whatever became of the transaction, taking the id anew ends it; then nothing of it is in doubt.
            self._producer = None
            failure = _failure(problem, self._topic)
            if not isinstance(failure, _Fenced):
                self._take_over()
            raise failure from None


class _Fenced(Exception):
    """Another instance has taken the transactional id."""


@dataclass(frozen=True, slots=True)
class LogClients:
    """The admin client that all logs share, and the settings of their own clients."""

    admin: Admin
    consumer: Mapping[str, Any] = field(repr=False)
    producer: Mapping[str, Any] = field(repr=False)


class _Deliveries:
    """What became of records: the offsets behind them, by partition, and the errors."""

    def __init__(self) -> None:
        self.ends: dict[int, int] = {}
        self.errors: list[KafkaError] = []

    def report(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.errors.append(error)
            return
        partition, offset = message.partition(), message.offset()
        assert partition is not None
        assert offset is not None
        self.ends[partition] = max(self.ends.get(partition, 0), offset + 1)


def _produced(
    producer: Producer, topic: str, records: Sequence[LogRecord], flush: Callable[[Producer], int]
) -> Mapping[int, int]:
    """Write records and wait until Kafka has them; returns the offsets behind them, by partition. StoreFailure."""
    deliveries = _Deliveries()
    try:
        for key, value in records:
            producer.produce(topic, value, key, on_delivery=deliveries.report)
        unsent = flush(producer)
    except (KafkaException, SystemError) as problem:
        # After an error from which there is no way back, the library raises whatever its callbacks leave of it.
        raise StoreFailure(f"topic {topic}: {problem}") from None
    if deliveries.errors:
        raise _failure(KafkaException(deliveries.errors[0]), topic)
    if unsent:
        raise StoreFailure(f"topic {topic} did not take a record in {WRITE_TIMEOUT_S:g} s")
    return deliveries.ends


def _commit(producer: Producer) -> None:
    for attempt in range(1, COMMIT_ATTEMPTS + 1):
        try:
            producer.commit_transaction(WRITE_TIMEOUT_S)
        except KafkaException as problem:
            if not problem.args[0].retriable() or attempt == COMMIT_ATTEMPTS:
                raise
        else:
            return


def _failure(problem: Exception, topic: str) -> Exception:
    if not isinstance(problem, KafkaException):
        return problem
    error: KafkaError = problem.args[0]
    if error.code() in _FENCED:
        return _Fenced("another instance leads the group by now")
    return StoreFailure(f"topic {topic}: {error.str()}")
