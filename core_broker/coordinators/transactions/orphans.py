"""Open transactions in partitions that their coordinator does not know.

A produce request may add its partition to the transaction by itself: the coordinator's record and the data are written side by
side, and a power cut may keep the data alone. Such a transaction would hold up readers of committed data for ever, so that it is
aborted as soon as its partition is opened. The marker carries the next epoch: what the producer sends again then is refused, and
not taken for something that is stored already.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from barnabas.wire.errors import KafkaError
from core_broker.coordinators.groups.coordinator import OFFSETS_TOPIC
from core_broker.coordinators.transactions.markers import EndMarker, Markers
from core_broker.coordinators.transactions.transaction import EPOCH_MAX, Status, Transaction
from core_broker.log.checkpoints import TopicPartition
from core_broker.log.producer_state import Marker, Producer
from core_broker.partition import Partition

logger = logging.getLogger(__name__)

RETRY_AFTER_MS: Final = 50


class OpenTransaction(NamedTuple):
    key: TopicPartition
    producer_id: int


class Orphans:
    """Partitions come here when they are opened, and are looked at once all transactions are known."""

    def __init__(
        self,
        markers: Markers,
        transactions: Callable[[], Iterable[Transaction]],
        is_loaded: Callable[[], bool],
        later: Callable[[int, Callable[[], None]], object],
    ) -> None:
        self._markers = markers
        self._transactions = transactions
        self._is_loaded = is_loaded
        self._later = later
        self._suspects: dict[OpenTransaction, Partition] = {}

    @property
    def is_settled(self) -> bool:
        return not self._suspects

    def examine(self, partition: Partition) -> None:
        """A partition was opened, and has open transactions."""
        key = TopicPartition(partition.topic, partition.index)
        for producer in partition.log.producers.by_id.values():
            if producer.transaction_offset >= 0:
                self._suspects[OpenTransaction(key, producer.producer_id)] = partition
        if key.topic == OFFSETS_TOPIC:
            self._later(RETRY_AFTER_MS, self.settle)  # its group coordinator loads it at this moment
        else:
            self.settle()

    def settle(self) -> None:
        """Aborts what nobody knows. What cannot be aborted yet is tried again later."""
        if not self._suspects or not self._is_loaded():
            return
        by_id = {transaction.producer_id: transaction for transaction in self._transactions()}
        for suspect, partition in list(self._suspects.items()):
            producer = partition.log.producers.by_id.get(suspect.producer_id)
            if (
                partition.deleted
                or producer is None
                or producer.transaction_offset < 0
                or _is_known(by_id.get(suspect.producer_id), producer, suspect.key)
                or self._abort(suspect.key, partition, producer)
            ):
                self._suspects.pop(suspect, None)
        if self._suspects:
            self._later(RETRY_AFTER_MS, self.settle)

    def _abort(self, key: TopicPartition, partition: Partition, producer: Producer) -> bool:
        """Whether the marker stands. It need not be durable: should it be lost, it is written again."""
        first_offset = producer.transaction_offset
        epoch = min(producer.epoch + 1, EPOCH_MAX)
        end = EndMarker(
            producer.producer_id, epoch, Marker(commits=False, coordinator_epoch=max(producer.coordinator_epoch, 0))
        )
        if key.topic == OFFSETS_TOPIC:
            self._markers.write(key, end, _ignore)
        else:
            self._markers.append(partition, end, _ignore)
        if producer.transaction_offset >= 0:
            return False
        logger.warning(
            "aborted the transaction of producer %d in %s, open since offset %d: its coordinator does not know it",
            producer.producer_id,
            key,
            first_offset,
        )
        return True


def _is_known(transaction: Transaction | None, producer: Producer, key: TopicPartition) -> bool:
    """Whether the coordinator will end what is open here."""
    if transaction is None or key not in transaction.partitions:
        return False
    if transaction.status is Status.ONGOING:
        return producer.epoch == transaction.epoch
    if not transaction.status.is_prepared:
        return False
    if transaction.marks_with_new_epoch:
        # With the marker's own epoch it would be the next transaction, whose record is lost.
        return producer.epoch < transaction.epoch
    return producer.epoch <= transaction.epoch


def _ignore(error: KafkaError | None) -> None:
    """The next look tells."""
