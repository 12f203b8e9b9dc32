"""The transactional ids of one partition of the transaction topic."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from barnabas.wire.batch import NO_PRODUCER_EPOCH
from barnabas.wire.records.transaction_state import TransactionLogKey, TransactionLogValue
from barnabas.wire.struct import Message
from core_broker.coordinators.shard import Shard, Then
from core_broker.coordinators.transactions.records import record_of, tombstone_of, transaction_in
from core_broker.coordinators.transactions.transaction import Status, Transaction

logger = logging.getLogger(__name__)

STATUSES: Final = frozenset(Status)


class TransactionShardState:
    """Changed by records alone."""

    def __init__(
        self, shard: Shard[TransactionShardState], transaction_version: Callable[[], int], loaded: Callable[[], None]
    ) -> None:
        self.transactions: dict[str, Transaction] = {}
        self._ongoing: dict[str, None] = {}  # most ids rest; those that can time out are few
        self._shard = shard
        self._transaction_version = transaction_version
        self._loaded = loaded
        self._last_epoch = NO_PRODUCER_EPOCH  # of what is being written
        self._changes = 0

    def write(self, transactional_id: str, transaction: Transaction, then: Then) -> bool:
        """Appends a change, which is true at once; `then` hears when it is durable. False if it could not be appended."""
        before = self._changes
        self._last_epoch = transaction.last_epoch
        self._shard.write([record_of(transactional_id, transaction, self._transaction_version())], then)
        self._last_epoch = NO_PRODUCER_EPOCH
        return self._changes > before

    def forget(self, transactional_ids: Sequence[str], then: Then) -> None:
        self._shard.write([tombstone_of(transactional_id) for transactional_id in transactional_ids], then)

    # What the log does.

    def replay(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        assert isinstance(key, TransactionLogKey)
        self._changes += 1
        transactional_id = key.transactional_id
        if value is None:
            self.transactions.pop(transactional_id, None)
            self._ongoing.pop(transactional_id, None)
            return
        assert isinstance(value, TransactionLogValue)
        if value.transaction_status not in STATUSES:
            logger.warning(
                "transactional id %r is left as it was: status %d in record %d of %s is unknown",
                transactional_id,
                value.transaction_status,
                offset,
                self._shard.key,
            )
            return
        transaction = transaction_in(value, self._last_epoch)
        self._last_epoch = NO_PRODUCER_EPOCH
        self.transactions[transactional_id] = transaction
        if transaction.status is Status.ONGOING:
            self._ongoing[transactional_id] = None
        else:
            self._ongoing.pop(transactional_id, None)

    def replay_marker(self, producer_id: int, commits: bool) -> None:
        """Nobody writes here in a transaction."""

    def activate(self) -> None:
        self._loaded()

    def deactivate(self) -> None:
        """Who waits for the disk hears from the partition itself."""

    # Questions.

    def timed_out(self, now_ms: int) -> Iterator[tuple[str, Transaction]]:
        for transactional_id in list(self._ongoing):
            transaction = self.transactions[transactional_id]
            if transaction.started_ms + transaction.timeout_ms < now_ms:
                yield transactional_id, transaction

    def is_prepared(self, transactional_id: str) -> bool:
        transaction = self.transactions.get(transactional_id)
        return transaction is not None and transaction.status.is_prepared

    def prepared(self) -> list[tuple[str, Transaction]]:
        return [entry for entry in self.transactions.items() if entry[1].status.is_prepared]

    def expired(self, now_ms: int, expiration_ms: int) -> list[str]:
        return [
            transactional_id
            for transactional_id, transaction in self.transactions.items()
            if transaction.status.is_at_rest and transaction.updated_ms <= now_ms - expiration_ms
        ]
