"""A producer for the tools: batches by partition, compression, idempotence, transactions, retries.

    async with Client("127.0.0.1:9092") as client, Producer(client, ProducerSettings()) as producer:
        delivery = await producer.send("orders", b"value", key=b"key")
        print(await delivery.outcome())

Sending in the background goes on in tasks of the same event loop: whoever sends in a tight loop with `try_send` must await
something now and then.
"""

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.cluster_view import NO_LEADER, ClusterView
from barnabas.client.consumer.group_membership import Place
from barnabas.client.producer.partitioner import StickyPartition
from barnabas.client.producer.producer_batch import (
    Delivered,
    Delivery,
    Headers,
    ProducerBatch,
    record_size_bytes,
    serialized_bytes,
)
from barnabas.client.producer.producer_sender import Sender
from barnabas.client.producer.producer_settings import ProducerSettings
from barnabas.client.producer.transaction_client import TransactionClient
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.key_partitions import partition_of_key

__all__ = ["Delivered", "Delivery", "Producer", "ProducerBatch", "ProducerSettings"]

METADATA_RETRY_MS: Final = 100
# Records that are smaller than the limit by so much are not measured exactly: what a batch and a record take beside their contents.
SIZE_MARGIN_BYTES: Final = 128


class Producer:
    """One producer. `settled` is called with each batch whose outcome is known; its `notes` are those given to `send`.

    `retried` is called with each batch that will be sent again, and with the error.
    """

    def __init__(
        self,
        client: Client,
        settings: ProducerSettings,
        *,
        settled: Callable[[ProducerBatch], None] | None = None,
        retried: Callable[[ProducerBatch, KafkaError], None] | None = None,
        clock_s: Callable[[], float] = time.time,
        chooser: random.Random | None = None,
    ) -> None:
        self.settings = settings
        self.cluster = ClusterView(client)
        self._largest_bytes = min(settings.max_request_bytes, settings.buffer_bytes)
        self._clock_s = clock_s
        self._chooser = chooser or random.Random()
        self._transactions = TransactionClient(client, settings)
        self._settled = settled
        self._retried = retried
        self._sender: Sender | None = None
        self._partitions: dict[tuple[str, int], TopicPartition] = {}
        self._counts: dict[str, int] = {}
        self._sticky: dict[str, StickyPartition] = {}

    async def __aenter__(self) -> "Producer":
        return self

    async def __aexit__(self, kind: object, *exception: object) -> None:
        await self.close(flush=kind is None)

    async def partitions_of(self, topic: str) -> int:
        """How many partitions a topic has. It is waited for up to `max.block.ms`, since asking may create it."""
        if topic in self._counts:
            return self._counts[topic]
        deadline_s = asyncio.get_running_loop().time() + self.settings.max_block_ms / 1000
        while True:
            last_words = await self._ask(topic)
            if topic in self.cluster.topics:
                self._counts[topic] = len(self.cluster.topics[topic].leaders)
                return self._counts[topic]
            if asyncio.get_running_loop().time() + METADATA_RETRY_MS / 1000 >= deadline_s:
                raise KafkaError(
                    ErrorCode.REQUEST_TIMED_OUT,
                    f"Topic {topic} not present in metadata after {self.settings.max_block_ms} ms. ({last_words})",
                )
            await asyncio.sleep(METADATA_RETRY_MS / 1000)

    def try_send(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = None,
        *,
        partition: int | None = None,
        headers: Headers = (),
        timestamp_ms: int | None = None,
        note: Any = None,
    ) -> Delivery | None:
        """As `send`, without waiting: None when the topic is not known yet or the buffer is full."""
        sender = self._sender
        count = self._counts.get(topic)
        if sender is None or count is None or sender.is_full:
            return None
        size_bytes = record_size_bytes(key, value, headers)
        if size_bytes + SIZE_MARGIN_BYTES > self._largest_bytes:
            self._check_size(serialized_bytes(key, value, headers))
        if sender.failure is not None:
            raise sender.failure
        if partition is None:
            partition = self._choose(topic, key, count, size_bytes)
        place = self._partitions.get((topic, partition))
        if place is None:
            if not 0 <= partition < count:
                raise KafkaError(
                    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                    f"partition {partition} of topic {topic} does not exist: it has {count}",
                )
            place = self._partitions[(topic, partition)] = TopicPartition(topic, partition)
        if timestamp_ms is None:
            timestamp_ms = int(self._clock_s() * 1000)
        return Delivery(*sender.append(place, timestamp_ms, key, value, headers, note, size_bytes))

    def try_send_values(self, topic: str, values: Sequence[bytes], timestamp_ms: int, note: Any = None) -> int:
        """Queue records that are nothing but values, at little cost for each; returns how many of them were taken.

        None are taken while the topic is not known or the buffer is full. Those of one call share its note. A value that is
        too large ends what is taken; KafkaError if it is the first.
        """
        sender = self._sender
        count = self._counts.get(topic)
        if sender is None or count is None or sender.is_full:
            return 0
        if sender.failure is not None:
            raise sender.failure
        lengths = [len(value) for value in values]
        if max(lengths) + SIZE_MARGIN_BYTES > self._largest_bytes:
            values = self._allowed(values)
        partition = self._choose(topic, None, count, sum(lengths))
        place = self._partitions.get((topic, partition))
        if place is None:
            place = self._partitions[(topic, partition)] = TopicPartition(topic, partition)
        return sender.append_values(place, timestamp_ms, values, note)

    async def send(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = None,
        *,
        partition: int | None = None,
        headers: Headers = (),
        timestamp_ms: int | None = None,
        note: Any = None,
    ) -> Delivery:
        """Queue a record. KafkaError when the topic does not appear or the buffer stays full for `max.block.ms`."""
        await self._start()
        await self.partitions_of(topic)
        while True:
            delivery = self.try_send(
                topic, value, key, partition=partition, headers=headers, timestamp_ms=timestamp_ms, note=note
            )
            if delivery is not None:
                return delivery
            await self.room()

    async def room(self) -> None:
        """Wait until the buffer has room, and in any case let go of the event loop once."""
        await asyncio.sleep(0)
        if self._sender is None:
            return
        try:
            await self._sender.room(self.settings.max_block_ms / 1000)
        except TimeoutError:
            raise KafkaError(
                ErrorCode.REQUEST_TIMED_OUT,
                f"Failed to allocate memory within the configured max blocking time {self.settings.max_block_ms} ms.",
            ) from None

    async def flush(self) -> None:
        """Wait for the outcome of everything that was sent."""
        if self._sender is not None:
            await self._sender.flush()

    async def init_transactions(self) -> None:
        """Before the first transaction: fence earlier producers of the same transactional id."""
        self._require_transactional()
        sender = await self._start()
        sender.become(await self._transactions.init())

    def begin_transaction(self) -> None:
        sender = self._sender
        if sender is None or sender.identity.producer_id < 0:
            raise ValueError("init_transactions comes before begin_transaction")
        if sender.in_transaction is not None:
            raise ValueError("a transaction is open already; commit or abort it first")
        sender.in_transaction = set()

    async def send_offsets(
        self, offsets: Mapping[TopicPartition, int], group_id: str, place: Place | None = None
    ) -> None:
        """Make offsets of a group part of the transaction. `place` is the consumer's in its group."""
        sender = self._open_transaction()
        await self._transactions.commit_offsets(sender.identity, group_id, offsets, place or Place())

    async def commit_transaction(self) -> None:
        """Everything sent since `begin_transaction` becomes visible. After an error only `abort_transaction` is left."""
        sender = self._open_transaction()
        await sender.flush()
        if sender.failure is not None:
            raise sender.failure
        await self._end(sender, commit=True)

    async def abort_transaction(self) -> None:
        sender = self._open_transaction()
        failed = sender.failure is not None
        sender.drop_unsent(KafkaError(ErrorCode.TRANSACTION_ABORTABLE, "Failing batch since transaction was aborted"))
        await sender.await_in_flight()
        sender.failure = None
        await self._end(sender, commit=False)
        if failed and not self._transactions.implicit:
            # Sequence numbers have holes; a new epoch begins them anew.
            sender.become(await self._transactions.init())

    async def close(self, *, flush: bool = True) -> None:
        try:
            if flush:
                await self.flush()
        finally:
            if self._sender is not None:
                await self._sender.close()
            await self._transactions.close()
            await self.cluster.close()

    async def start(self, topic: str) -> None:
        """Get ready for `try_send` to a topic."""
        await self._start()
        await self.partitions_of(topic)

    async def _start(self) -> Sender:
        if self._sender is None:
            self._sender = Sender(self.cluster, self.settings, self._transactions, self._settled, self._retried)
        return self._sender

    async def _end(self, sender: Sender, *, commit: bool) -> None:
        if sender.in_transaction:
            sender.become(await self._transactions.end(sender.identity, commit=commit))
        sender.in_transaction = None

    def _check_size(self, size_bytes: int) -> None:
        limits = self.settings
        if size_bytes > limits.max_request_bytes:
            why = f"{limits.max_request_bytes}, which is the value of the max.request.size configuration."
        elif size_bytes > limits.buffer_bytes:
            why = "the total memory buffer you have configured with the buffer.memory configuration."
        else:
            return
        raise KafkaError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"The message is {size_bytes} bytes when serialized which is larger than {why}",
        )

    def _allowed(self, values: Sequence[bytes]) -> Sequence[bytes]:
        """The values before the first that is too large; KafkaError if that leaves none."""
        for place, value in enumerate(values):
            try:
                self._check_size(serialized_bytes(None, value, ()))
            except KafkaError:
                if place == 0:
                    raise
                return values[:place]
        return values

    def _open_transaction(self) -> Sender:
        if self._sender is None or self._sender.in_transaction is None:
            raise ValueError("no transaction is open; begin_transaction comes first")
        return self._sender

    def _require_transactional(self) -> None:
        if self.settings.transactional_id is None:
            raise ValueError("a producer without transactional.id has no transactions")

    def _choose(self, topic: str, key: bytes | None, count: int, size_bytes: int) -> int:
        if key is not None and not self.settings.ignore_keys:
            return partition_of_key(key, count)
        if count == 1:
            return 0
        sticky = self._sticky.get(topic)
        if sticky is None:
            sticky = self._sticky[topic] = StickyPartition(self.settings.batch_bytes, self._chooser)
        return sticky.take(size_bytes, self._available(topic))

    def _available(self, topic: str) -> Sequence[int]:
        leaders = self.cluster.topics[topic].leaders
        return [number for number, leader in leaders.items() if leader != NO_LEADER] or list(leaders)

    async def _ask(self, topic: str) -> str:
        """Ask for a topic; returns why it is not there."""
        try:
            await self.cluster.refresh([topic], create=True)
        except KafkaError as error:
            if not error.code.retriable:
                raise
            return error.message
        failure = self.cluster.failures.get(topic)
        if failure is not None and not failure.retriable:
            raise KafkaError(failure, f"topic {topic!r}: {failure.message}")
        return failure.message if failure is not None else ""
