"""The side of a producer that faces the brokers: batches wait by partition, go out to their leaders, and come back to be retried."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.cluster_view import NO_LEADER, NO_TOPIC_ID, ClusterView
from barnabas.client.producer.producer_batch import RECORD_OVERHEAD_BYTES, Headers, Identity, ProducerBatch
from barnabas.client.producer.producer_settings import ProducerSettings
from barnabas.client.producer.transaction_client import TransactionClient
from barnabas.wire.batch import HEADER_BYTES
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

SEQUENCES: Final = 1 << 31
NO_SEQUENCE: Final = -1
IDLE_S: Final = 1.0  # how often deadlines are looked at when nothing happens
TOPIC_NAMES_VERSION: Final = 12  # the last one that names topics instead of giving their ids
EXPLICIT_VERSION: Final = 11  # the last one before brokers added partitions to transactions by themselves

_STALE_METADATA: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.REQUEST_TIMED_OUT,
    }
)


class PartitionQueue:
    """The batches of one partition: one open, those that wait, those on their way."""

    __slots__ = ("in_flight", "next_sequence", "open", "partition", "resume_s", "waiting")

    def __init__(self, partition: TopicPartition) -> None:
        self.partition = partition
        self.open: ProducerBatch | None = None
        self.waiting: deque[ProducerBatch] = deque()
        self.in_flight: list[ProducerBatch] = []
        self.next_sequence = 0
        self.resume_s = 0.0

    def unsent(self) -> Iterable[ProducerBatch]:
        return [*self.waiting, self.open] if self.open is not None else list(self.waiting)

    def close_open(self) -> None:
        if self.open is not None:
            self.waiting.append(self.open)
            self.open = None

    def put_back(self, batch: ProducerBatch) -> None:
        """Queue a batch again before those with later numbers."""
        place = 0
        while place < len(self.waiting) and NO_SEQUENCE < self.waiting[place].base_sequence < batch.base_sequence:
            place += 1
        self.waiting.insert(place, batch)

    def is_first(self, batch: ProducerBatch) -> bool:
        """Whether no batch with an earlier number is still without its answer."""
        others = [*self.in_flight, *self.waiting]
        return all(one is batch or not NO_SEQUENCE < one.base_sequence < batch.base_sequence for one in others)


class Sender:
    """Sends what was appended. All state belongs to the event loop; `settled` is called with each batch that is done, `retried` with each
    that will be sent again."""

    def __init__(
        self,
        cluster: ClusterView,
        settings: ProducerSettings,
        transactions: TransactionClient,
        settled: Callable[[ProducerBatch], None] | None,
        retried: Callable[[ProducerBatch, KafkaError], None] | None,
    ) -> None:
        self.queues: dict[TopicPartition, PartitionQueue] = {}
        self.identity = Identity()
        self.in_transaction: set[TopicPartition] | None = None
        self.failure: KafkaError | None = None
        self.buffered_bytes = 0
        self._cluster = cluster
        self._settings = settings
        self._transactions = transactions
        self._settled = settled
        self._retried = retried
        self._loop = asyncio.get_running_loop()
        self._busy: dict[int, int] = {}
        self._ready: dict[TopicPartition, PartitionQueue] = {}
        self._deliveries: set[asyncio.Task[None]] = set()
        self._adding = asyncio.Lock()
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._flushing = 0
        self._needs_identity = settings.idempotence and settings.transactional_id is None
        self._stale = False
        self._pump = asyncio.create_task(self._run(), name="producer")

    def append(
        self, partition: TopicPartition, timestamp_ms: int, key: bytes | None, value: bytes | None, headers: Headers, note: Any,
        size_bytes: int,
    ) -> tuple[ProducerBatch, int]:  # fmt: skip
        """Add a record of at most `size_bytes` to the partition's batch; a full batch goes out at once."""
        batch = self._open(partition, timestamp_ms, size_bytes)
        before = batch.size_bytes
        place = batch.append(timestamp_ms, key, value, headers, note)
        self.buffered_bytes += batch.size_bytes - before
        return batch, place

    def append_values(self, partition: TopicPartition, timestamp_ms: int, values: Sequence[bytes], note: Any) -> int:
        """Add records that are nothing but values, as many as fit the open batch; returns how many."""
        batch = self._open(partition, timestamp_ms, len(values[0]) + RECORD_OVERHEAD_BYTES)
        before = batch.size_bytes
        added = batch.append_values(timestamp_ms, values, note, self._settings.batch_bytes)
        self.buffered_bytes += batch.size_bytes - before
        return added

    def _open(self, partition: TopicPartition, timestamp_ms: int, size_bytes: int) -> ProducerBatch:
        """The batch that takes the next record of the partition."""
        queue = self.queues.get(partition)
        if queue is None:
            queue = self.queues[partition] = PartitionQueue(partition)
        batch = queue.open
        if batch is not None and batch.size_bytes + size_bytes > self._settings.batch_bytes:
            queue.close_open()
            self._launch()
            batch = None
        if batch is None:
            batch = queue.open = ProducerBatch(partition, self._loop.time(), timestamp_ms)
            batch.done = self._loop.create_future()
            self._ready[partition] = queue
            self._wake.set()
        return batch

    @property
    def is_full(self) -> bool:
        return self.buffered_bytes >= self._settings.buffer_bytes

    async def room(self, timeout_s: float) -> None:
        """Wait until the buffer has room; TimeoutError when that takes too long."""
        async with asyncio.timeout(timeout_s):
            while self.is_full:
                self._room.clear()
                await self._room.wait()

    async def flush(self) -> None:
        """Send everything that has been appended, and wait for the outcome."""
        self._flushing += 1
        try:
            self._wake.set()
            pending = [batch.done for queue in self.queues.values() for batch in [*queue.unsent(), *queue.in_flight]]
            if pending:
                await asyncio.wait([done for done in pending if done is not None])
        finally:
            self._flushing -= 1

    def drop_unsent(self, error: KafkaError) -> None:
        """Fail what has not gone out yet."""
        for queue in self.queues.values():
            for batch in queue.unsent():
                self._settle(batch, error=error)
            queue.waiting.clear()
            queue.open = None

    async def await_in_flight(self) -> None:
        while self._deliveries:
            await asyncio.wait(self._deliveries)

    def become(self, identity: Identity) -> None:
        """A new id or epoch: numbers begin again."""
        if identity == self.identity:
            return
        self.identity = identity
        for queue in self.queues.values():
            queue.next_sequence = 0
            for batch in queue.waiting:
                batch.base_sequence = NO_SEQUENCE

    async def close(self) -> None:
        self._pump.cancel()
        for delivery in self._deliveries:
            delivery.cancel()
        await asyncio.gather(self._pump, *self._deliveries, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            try:
                if self._needs_identity:
                    await self._renew_identity()
                if self._stale:
                    await self._refresh()
            except KafkaError as error:
                self._fail_all(error)
            pause_s = self._launch()
            try:
                async with asyncio.timeout(pause_s):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _renew_identity(self) -> None:
        await self.await_in_flight()
        self.become(await self._transactions.init())
        self._needs_identity = False

    async def _refresh(self) -> None:
        self._stale = False
        await asyncio.sleep(self._settings.retry_backoff_ms / 1000)
        try:
            await self._cluster.refresh({partition.topic for partition in self._ready})
        except KafkaError as error:
            if not error.code.retriable:
                raise
            self._stale = True

    def _launch(self) -> float:
        """Send what is ready; returns the time until something may be due."""
        now_s = self._loop.time()
        pause_s = IDLE_S
        if self._needs_identity:
            return pause_s
        requests: dict[int, list[ProducerBatch]] = {}
        sizes: dict[int, int] = {}
        for partition, queue in list(self._ready.items()):
            pause_s = min(pause_s, self._prepare(queue, now_s))
            if not queue.waiting:
                if queue.open is None:
                    del self._ready[partition]
                continue
            if queue.resume_s > now_s:
                continue
            node = self._cluster.leader(partition)
            if node == NO_LEADER:
                self._stale = True
                self._wake.set()
                continue
            size = sizes.get(node, 0) + queue.waiting[0].size_bytes
            if self._busy.get(node, 0) >= self._settings.max_in_flight:
                continue
            if node in requests and size > self._settings.max_request_bytes:
                self._wake.set()
                continue
            sizes[node] = size
            requests.setdefault(node, []).append(queue.waiting.popleft())
        for node, batches in requests.items():
            self._start(node, batches)
        return max(pause_s, 0.0)

    def _prepare(self, queue: PartitionQueue, now_s: float) -> float:
        """Expire what is too old and close what has lingered; returns how long the queue can be left alone."""
        limit_ms = self._settings.delivery_timeout_ms
        while (oldest := queue.waiting[0] if queue.waiting else queue.open) is not None:
            if (now_s - oldest.created_s) * 1000 < limit_ms:
                break
            if oldest is queue.open:
                queue.open = None
            else:
                queue.waiting.popleft()
            words = f"Expiring {oldest.count} record(s) for {oldest.partition}:{limit_ms} ms has passed since batch creation"
            self._finally_fail(oldest, KafkaError(ErrorCode.REQUEST_TIMED_OUT, words))
        if queue.open is None:
            return max(queue.resume_s - now_s, 0.0) or IDLE_S
        left_s = queue.open.created_s + self._settings.linger_ms / 1000 - now_s
        if left_s <= 0 or self._flushing or self.is_full:
            queue.close_open()
            return IDLE_S
        return left_s

    def _start(self, node: int, batches: list[ProducerBatch]) -> None:
        for batch in batches:
            queue = self.queues[batch.partition]
            queue.in_flight.append(batch)
            if self._settings.idempotence and batch.base_sequence == NO_SEQUENCE:
                number = queue.next_sequence
                queue.next_sequence = (number + batch.count) % SEQUENCES
            else:
                number = batch.base_sequence
            batch.attempts += 1
            batch.frame(
                self.identity,
                number,
                compression=self._settings.compression,
                level=self._settings.compression_levels.get(self._settings.compression),
                transactional=self.in_transaction is not None,
            )
        self._busy[node] = self._busy.get(node, 0) + 1
        delivery = asyncio.create_task(self._deliver(node, batches), name=f"produce to broker {node}")
        self._deliveries.add(delivery)
        delivery.add_done_callback(self._deliveries.discard)

    async def _deliver(self, node: int, batches: list[ProducerBatch]) -> None:
        answers: dict[TopicPartition, PartitionProduceResponse] = {}
        failure: KafkaError | None = None
        try:
            await self._join_transaction(batches)
            answers = await self._exchange(node, batches)
        except KafkaError as error:
            failure = error
        finally:
            self._busy[node] -= 1
            for batch in batches:
                self.queues[batch.partition].in_flight.remove(batch)
        for batch in batches:
            self._judge(batch, answers.get(batch.partition), failure)
        self._launch()
        if self._ready:
            self._wake.set()

    async def _join_transaction(self, batches: list[ProducerBatch]) -> None:
        if self.in_transaction is None:
            return
        if self._transactions.implicit:
            self.in_transaction.update(batch.partition for batch in batches)
            return
        async with self._adding:
            missing = {batch.partition for batch in batches} - self.in_transaction
            if missing:
                await self._transactions.add_partitions(self.identity, missing)
                self.in_transaction |= missing

    async def _exchange(
        self, node: int, batches: list[ProducerBatch]
    ) -> dict[TopicPartition, PartitionProduceResponse]:
        connection = await self._cluster.connection(node)
        version = connection.version_of(ProduceRequest)
        topics: dict[str, list[PartitionProduceData]] = {}
        for batch in batches:
            topics.setdefault(batch.partition.topic, []).append(
                PartitionProduceData(index=batch.partition.partition, records=batch.framed)
            )
        if any(self._cluster.topic_id(topic) == NO_TOPIC_ID for topic in topics):
            version = min(version, TOPIC_NAMES_VERSION)
        if self.in_transaction is not None and not self._transactions.implicit:
            version = min(version, EXPLICIT_VERSION)
        request = ProduceRequest(
            transactional_id=self._settings.transactional_id,
            acks=self._settings.acks,
            timeout_ms=self._settings.request_timeout_ms,
            topic_data=[
                TopicProduceData(name=name, topic_id=self._cluster.topic_id(name), partition_data=data)
                for name, data in topics.items()
            ],
        )
        if self._settings.acks == 0:
            await connection.send_without_response(request, version=version)
            return {
                batch.partition: PartitionProduceResponse(index=batch.partition.partition, base_offset=-1)
                for batch in batches
            }
        ids = {self._cluster.topic_id(topic): topic for topic in topics}
        answer = await connection.send(
            request, ProduceResponse, version=version, timeout_ms=self._settings.request_timeout_ms
        )
        return {
            TopicPartition(topic.name or ids.get(topic.topic_id, ""), one.index): one
            for topic in answer.responses
            for one in topic.partition_responses
        }

    def _judge(self, batch: ProducerBatch, answer: PartitionProduceResponse | None, failure: KafkaError | None) -> None:
        """Settle a batch, or queue it again."""
        if answer is not None:
            code = ErrorCode(answer.error_code)
            if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                self._settle(batch, base_offset=answer.base_offset, append_time_ms=answer.log_append_time_ms)
                return
            failure = KafkaError(code, answer.error_message or "")
        error = failure or KafkaError(ErrorCode.NETWORK_EXCEPTION, f"the answer does not name {batch.partition}")
        queue = self.queues[batch.partition]
        overtook = error.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and not queue.is_first(batch)
        now_s = self._loop.time()
        expired = (now_s - batch.created_s) * 1000 >= self._settings.delivery_timeout_ms
        if (error.code.retriable or overtook) and batch.attempts <= self._settings.retries and not expired:
            queue.put_back(batch)
            queue.resume_s = now_s + self._settings.retry_backoff_ms / 1000
            self._ready[batch.partition] = queue
            self._stale |= error.code in _STALE_METADATA
            self._wake.set()
            if self._retried is not None:
                self._retried(batch, error)
            return
        self._finally_fail(batch, error)

    def _finally_fail(self, batch: ProducerBatch, error: KafkaError) -> None:
        self._settle(batch, error=error)
        if self.in_transaction is not None:
            self.failure = self.failure or error
        elif self._settings.idempotence and batch.attempts:
            # The numbers now have a hole that the broker would take for lost records: begin anew.
            self._needs_identity = True
            self._wake.set()

    def _fail_all(self, error: KafkaError) -> None:
        """No producer id can be had: nothing that waits can be sent."""
        self.failure = error
        self.drop_unsent(error)

    def _settle(
        self,
        batch: ProducerBatch,
        *,
        base_offset: int = -1,
        append_time_ms: int = -1,
        error: KafkaError | None = None,
    ) -> None:
        self.buffered_bytes -= batch.size_bytes - HEADER_BYTES
        batch.finish(base_offset, append_time_ms, error)
        if not self.is_full:
            self._room.set()
        if self._settled is not None:
            self._settled(batch)
