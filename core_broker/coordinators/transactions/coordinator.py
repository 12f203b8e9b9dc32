"""The transaction coordinator: what clients ask for, which shard answers, and what happens in time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Set
from itertools import islice
from typing import TYPE_CHECKING, Final

from barnabas.wire.batch import NO_PRODUCER_ID
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.transaction_state import KEYS, VALUES
from core_broker.coordinators.internal_topic import InternalTopic
from core_broker.coordinators.shard import Schema, Shard, Then
from core_broker.coordinators.timers import Timer, Timers
from core_broker.coordinators.transactions.decisions import Admission, End, addition, check_membership, ending
from core_broker.coordinators.transactions.markers import Ending, EndMarker, Markers
from core_broker.coordinators.transactions.orphans import Orphans
from core_broker.coordinators.transactions.settings import TransactionSettings
from core_broker.coordinators.transactions.shard_state import TransactionShardState
from core_broker.coordinators.transactions.transaction import V2, Producer, Status, Transaction, fenced
from core_broker.log.checkpoints import TopicPartition
from core_broker.log.producer_state import Marker
from core_broker.metadata.store import TRANSACTION_VERSION
from core_broker.partition import Partition

if TYPE_CHECKING:
    from core_broker.broker import Broker

logger = logging.getLogger(__name__)

TRANSACTIONS_TOPIC: Final = "__transaction_state"
TOMBSTONES_PER_BATCH_MAX: Final = 1_000
RETRY_AFTER_MS: Final = 100

TransactionShard = Shard[TransactionShardState]
Ended = Callable[[KafkaError | None, Transaction | None], None]
"""Told once how the end of a transaction went: what is wrong, or how the transaction stands afterwards."""


class TransactionCoordinator:
    """Owned by the event loop."""

    def __init__(self, broker: Broker, timers: Timers) -> None:
        settings = broker.settings
        self.settings = TransactionSettings.of(settings)
        self.timers = timers
        self.topic: InternalTopic[TransactionShardState] = InternalTopic(
            broker,
            TRANSACTIONS_TOPIC,
            settings.integer("transaction.state.log.num.partitions"),
            {
                "cleanup.policy": "compact",
                "compression.type": "uncompressed",
                "segment.bytes": str(settings.integer("transaction.state.log.segment.bytes")),
            },
            Schema(KEYS, VALUES),
            self._new_state,
            settings.integer("transaction.state.log.load.buffer.size"),
        )
        self.markers = Markers(broker)
        self._broker = broker
        self._orphans = Orphans(self.markers, self._all, self._is_loaded, self._later)
        self._started = False
        self._closed = False
        self._periodic: list[Timer] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def _new_state(self, shard: TransactionShard) -> TransactionShardState:
        return TransactionShardState(shard, self.transaction_version, lambda: self._loaded(shard))

    # The life of the coordinator.

    def start(self) -> None:
        self._started = True
        self.topic.follow()
        self._orphans.settle()
        self._repeat(self.settings.abort_interval_ms, self.abort_timed_out)
        self._repeat(self.settings.expiration_interval_ms, self.remove_expired)

    def close(self) -> None:
        self._closed = True
        for timer in self._periodic:
            timer.cancel()
        for task in self._tasks:
            task.cancel()
        self.topic.close()

    def topics_changed(self) -> None:
        self.topic.follow()

    def examine(self, partition: Partition) -> None:
        """A partition with open transactions was opened."""
        self._orphans.examine(partition)

    def _repeat(self, interval_ms: int, action: Callable[[], None]) -> None:
        slot = len(self._periodic)

        def tick() -> None:
            self._periodic[slot] = self.timers.after(interval_ms, tick)
            action()

        self._periodic.append(self.timers.after(interval_ms, tick))

    def _later(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Once, unless the broker stops before."""

        def act() -> None:
            if not self._closed:
                action()

        self.timers.after(delay_ms, act)

    def _is_loaded(self) -> bool:
        return self._started and not self._closed and not self.topic.is_loading

    def _loaded(self, shard: TransactionShard) -> None:
        for transactional_id, transaction in shard.state.prepared():
            self._carry_out(shard, transactional_id, transaction, _nobody_waits)
        self._orphans.settle()

    # Looking things up.

    def transaction_version(self) -> int:
        """The level of Kafka's feature: 2 lets clients add partitions by producing to them."""
        return self._broker.metadata.image.features.get(TRANSACTION_VERSION, 0)

    def shard_of(self, transactional_id: str) -> TransactionShard:
        """Who answers for an id; KafkaError while that is nobody."""
        if not transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "the transactional id is empty: set transactional.id")
        if not self.topic.exists:
            raise KafkaError(
                ErrorCode.NOT_COORDINATOR, f"{TRANSACTIONS_TOPIC} does not exist yet: FindCoordinator makes it"
            )
        shard = self.topic.shard_of(transactional_id)
        if not self._orphans.is_settled:
            raise KafkaError(
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "transactions from before the start are being aborted; retry"
            )
        return shard

    def find(self, transactional_id: str) -> Transaction | None:
        return self.shard_of(transactional_id).state.transactions.get(transactional_id)

    def every(self) -> Iterator[tuple[str, Transaction]]:
        for shard in self.topic.active():
            yield from shard.state.transactions.items()

    def _all(self) -> Iterator[Transaction]:
        return (transaction for _, transaction in self.every())

    # InitProducerId.

    async def initialise(self, transactional_id: str, timeout_ms: int, expected: Producer | None) -> Producer:
        """A producer id and an epoch above all before; KafkaError, CONCURRENT_TRANSACTIONS while an old transaction ends."""
        if not transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "the transactional id is empty: set transactional.id")
        if not 0 < timeout_ms <= self.settings.max_timeout_ms:
            raise KafkaError(
                ErrorCode.INVALID_TRANSACTION_TIMEOUT,
                f"transaction.timeout.ms={timeout_ms} is not between 1 and transaction.max.timeout.ms={self.settings.max_timeout_ms}",
            )
        fresh_id = NO_PRODUCER_ID
        while True:
            shard = self.shard_of(transactional_id)
            transaction = shard.state.transactions.get(transactional_id)
            if transaction is not None:
                self._check_may_initialise(transaction, expected)
                if transaction.status is Status.ONGOING:
                    await self._fence(shard, transactional_id, transaction)
                    raise KafkaError(
                        ErrorCode.CONCURRENT_TRANSACTIONS, "the transaction of another instance was aborted; retry"
                    )
            if fresh_id == NO_PRODUCER_ID and (transaction is None or transaction.needs_new_producer_id(expected)):
                fresh_id = await self._broker.producer_ids.next()
                continue  # the world may have changed meanwhile
            changed = self._initialised(transaction, expected, timeout_ms, fresh_id)
            await self._write(shard, transactional_id, changed)
            return Producer(changed.producer_id, changed.epoch)

    def _check_may_initialise(self, transaction: Transaction, expected: Producer | None) -> None:
        if transaction.status.is_prepared:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS, "the transaction before is being ended; retry")
        if expected is not None and not transaction.accepts(expected):
            raise KafkaError(
                ErrorCode.PRODUCER_FENCED,
                f"producer {expected.producer_id} is not the one of the transactional id: another instance took over",
            )

    def _initialised(
        self, transaction: Transaction | None, expected: Producer | None, timeout_ms: int, fresh_id: int
    ) -> Transaction:
        now_ms = self._broker.clock_ms()
        if transaction is None:
            transaction = Transaction.created(fresh_id, timeout_ms, now_ms)
        elif transaction.needs_new_producer_id(expected):
            return transaction.with_new_producer_id(fresh_id, timeout_ms, now_ms, known=expected is not None)
        return transaction.with_next_epoch(expected, timeout_ms, now_ms)

    async def _fence(self, shard: TransactionShard, transactional_id: str, transaction: Transaction) -> None:
        done: asyncio.Future[None] = self._broker.loop.create_future()

        def ended(error: KafkaError | None, _: Transaction | None) -> None:
            if not done.done():
                done.set_result(None) if error is None else done.set_exception(error)

        self._abort(shard, transactional_id, transaction, ended)
        await done

    async def _write(self, shard: TransactionShard, transactional_id: str, changed: Transaction) -> None:
        done: asyncio.Future[None] = self._broker.loop.create_future()

        def durable(error: KafkaError | None) -> None:
            if not done.done():
                done.set_result(None) if error is None else done.set_exception(error)

        shard.state.write(transactional_id, changed, durable)
        await done

    # Partitions.

    def add(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: Set[TopicPartition],
        client_version: int,
        then: Then,
    ) -> None:
        """Takes partitions into the transaction, which begins with the first; `then` hears when that is durable."""
        shard = self.shard_of(transactional_id)
        changed = addition(
            shard.state.transactions.get(transactional_id),
            producer,
            partitions,
            self._broker.clock_ms(),
            client_version,
        )
        if changed is None:
            shard.write((), then)
        else:
            shard.state.write(transactional_id, changed, then)

    def members(self, transactional_id: str, producer: Producer) -> frozenset[TopicPartition]:
        """The partitions that a producer may write to."""
        return check_membership(self.find(transactional_id), producer).partitions

    def admit(
        self, transactional_id: str, partition: Partition, producer: Producer, admission: Admission, then: Then
    ) -> None:
        """A transactional batch is about to be appended: KafkaError if its partition is not in the producer's transaction.

        Newer clients do not announce partitions; theirs joins the transaction here, and `then` hears when that is durable.
        """
        shard = self.shard_of(transactional_id)
        known = partition.log.producers.by_id.get(producer.producer_id)
        if known is not None:
            if producer.epoch < known.epoch:
                raise fenced(producer.epoch, known.epoch)
            if known.transaction_offset >= 0 and known.epoch == producer.epoch:
                shard.write((), then)
                return
        key = TopicPartition(partition.topic, partition.index)
        if admission is Admission.JOIN:
            self.add(transactional_id, producer, {key}, V2, then)
            return
        if self._broker.verifies_transactions and key not in self.members(transactional_id, producer):
            code = admission.refusal
            raise KafkaError(code, f"{key} was not added to the transaction of {transactional_id!r}")
        then(None)

    # The end.

    def end(self, transactional_id: str, end: End, then: Ended) -> None:
        """Commits or aborts. Afterwards all partitions have been told, and the next transaction may begin at once."""
        shard = self.shard_of(transactional_id)
        transaction = shard.state.transactions.get(transactional_id)
        changed = ending(transaction, end, self._broker.clock_ms())
        if changed is None:
            then(None, transaction)
        elif end.client_version >= V2 and transaction is not None and transaction.is_exhausted:
            task = self._broker.loop.create_task(self._end_with_new_producer_id(transactional_id, end, then))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._decide(shard, transactional_id, changed, then)

    async def _end_with_new_producer_id(self, transactional_id: str, end: End, then: Ended) -> None:
        try:
            fresh_id = await self._broker.producer_ids.next()
            shard = self.shard_of(transactional_id)
            transaction = shard.state.transactions.get(transactional_id)
            changed = ending(transaction, end, self._broker.clock_ms(), fresh_id)
        except KafkaError as error:
            then(error, None)
            return
        if changed is None:
            then(None, transaction)
        else:
            self._decide(shard, transactional_id, changed, then)

    def _abort(self, shard: TransactionShard, transactional_id: str, transaction: Transaction, then: Ended) -> None:
        """Without its client, which is fenced off."""
        fenced_off = transaction.fenced_off(V2 if self.transaction_version() >= V2 else 0, self._broker.clock_ms())
        self._decide(shard, transactional_id, fenced_off, then)

    def _decide(self, shard: TransactionShard, transactional_id: str, prepared: Transaction, then: Ended) -> None:
        """Makes a decision durable, from when on there is no way back, and then carries it out."""

        def durable(error: KafkaError | None) -> None:
            if error is None:
                self._carry_out(shard, transactional_id, prepared, then)
                return
            then(error, None)
            if shard.state.is_prepared(transactional_id):
                # It stands in the log, and becomes durable when the disk has recovered.
                self._later(RETRY_AFTER_MS, again)

        def again() -> None:
            if shard.is_active:
                shard.write((), looked_again)

        def looked_again(error: KafkaError | None) -> None:
            if error is None:
                self._carry_out(shard, transactional_id, prepared, _nobody_waits)
            else:
                self._later(RETRY_AFTER_MS, again)

        shard.state.write(transactional_id, prepared, durable)

    def _carry_out(self, shard: TransactionShard, transactional_id: str, prepared: Transaction, then: Ended) -> None:
        """The client hears when all is done: its next transaction can begin at once, and what it committed can be read. When
        the disk keeps that from happening it hears before: it is decided, and nothing that it does could change it."""
        answered = False

        def answer() -> None:
            nonlocal answered
            if not answered:
                answered = True
                then(None, prepared.completed(self._broker.clock_ms()))

        end = EndMarker(
            prepared.producer_id,
            prepared.epoch,
            Marker(prepared.status is Status.PREPARE_COMMIT, shard.partition.leader_epoch),
        )
        Ending(
            self.markers,
            end,
            prepared.partitions,
            epoch_is_new=prepared.marks_with_new_epoch,
            later=self._later,
            delayed=answer,
            done=lambda: self._complete(shard, transactional_id, prepared, answer),
        ).start()

    def _complete(
        self, shard: TransactionShard, transactional_id: str, prepared: Transaction, answer: Callable[[], None]
    ) -> None:
        """All partitions are told. Should the record that says so be lost, they are told again."""
        if shard.is_active and not shard.state.write(
            transactional_id, prepared.completed(self._broker.clock_ms()), _ignore
        ):
            self._later(RETRY_AFTER_MS, lambda: self._complete(shard, transactional_id, prepared, answer))
        answer()

    # What happens in time.

    def abort_timed_out(self) -> None:
        now_ms = self._broker.clock_ms()
        for shard in self.topic.active():
            for transactional_id, transaction in shard.state.timed_out(now_ms):
                logger.info(
                    "aborting the transaction of %r: it is open for %d ms, and may be for %d",
                    transactional_id,
                    now_ms - transaction.started_ms,
                    transaction.timeout_ms,
                )
                self._abort(shard, transactional_id, transaction, _nobody_waits)

    def remove_expired(self) -> None:
        now_ms = self._broker.clock_ms()
        for shard in self.topic.active():
            expired = iter(shard.state.expired(now_ms, self.settings.expiration_ms))
            while batch := list(islice(expired, TOMBSTONES_PER_BATCH_MAX)):
                shard.state.forget(batch, _ignore)


def _nobody_waits(error: KafkaError | None, _: Transaction | None) -> None:
    """The client that began it is not asked."""


def _ignore(error: KafkaError | None) -> None:
    """What is not durable is found, and done again, at the next start."""
