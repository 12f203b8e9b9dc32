"""A transactional id's state, and the ways in which it may change. Nothing here writes: a change is a new value.

With transactions V2 (KIP-890) each end of a transaction raises the producer's epoch, so that a request which was delayed cannot
be taken for one of the next transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, NamedTuple

from barnabas.wire.batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.log.checkpoints import TopicPartition

EPOCH_MAX: Final = 32767
LAST_CLIENT_EPOCH: Final = EPOCH_MAX - 1
"""The largest epoch that a client gets: there is always one more to fence it with."""

NEVER: Final = -1
V2: Final = 2
"""The transaction version from which on each end of a transaction raises the epoch."""


class Status(IntEnum):
    """As the log has it."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """Kafka's name for it."""
        return self.name.title().replace("_", "")

    @property
    def is_prepared(self) -> bool:
        """It is decided how the transaction ends, and the partitions are being told."""
        return self in (Status.PREPARE_COMMIT, Status.PREPARE_ABORT)

    @property
    def is_at_rest(self) -> bool:
        """No transaction is under way."""
        return self in (Status.EMPTY, Status.COMPLETE_COMMIT, Status.COMPLETE_ABORT)


LABELS: Final = {status.label: status for status in Status}


class Producer(NamedTuple):
    """Who a client says it is."""

    producer_id: int
    epoch: int


class Transaction(NamedTuple):
    producer_id: int
    epoch: int
    timeout_ms: int
    status: Status
    partitions: frozenset[TopicPartition]
    updated_ms: int
    started_ms: int = NEVER
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    """The producer id that follows when the present transaction has used up the last epoch."""

    client_version: int = 0
    last_epoch: int = NO_PRODUCER_EPOCH
    """The epoch before the present one, by which a repeated InitProducerId is known. It is not in the log."""

    @classmethod
    def created(cls, producer_id: int, timeout_ms: int, now_ms: int) -> Transaction:
        """What an id begins with; the first InitProducerId raises the epoch to 0."""
        return cls(producer_id, NO_PRODUCER_EPOCH, timeout_ms, Status.EMPTY, frozenset(), now_ms)

    @property
    def is_exhausted(self) -> bool:
        return self.epoch >= LAST_CLIENT_EPOCH

    @property
    def marks_with_new_epoch(self) -> bool:
        """Whether the markers of the prepared end carry a higher epoch than the records before them."""
        return self.client_version >= V2

    # InitProducerId.

    def accepts(self, expected: Producer) -> bool:
        """Whether a producer that comes back is this one, or was before its epochs ran out."""
        return (
            self.epoch == NO_PRODUCER_EPOCH
            or expected.producer_id == self.producer_id
            or (expected.producer_id == self.previous_producer_id and expected.epoch >= LAST_CLIENT_EPOCH)
        )

    def needs_new_producer_id(self, expected: Producer | None) -> bool:
        return self.is_exhausted and (expected is None or expected.epoch == self.epoch)

    def with_new_producer_id(self, producer_id: int, timeout_ms: int, now_ms: int, *, known: bool) -> Transaction:
        return self._begun_anew(producer_id, 0, self.epoch if known else NO_PRODUCER_EPOCH, timeout_ms, now_ms)

    def with_next_epoch(self, expected: Producer | None, timeout_ms: int, now_ms: int) -> Transaction:
        """For a new instance the next epoch; for one that says who it was the next, or once more the same after a lost answer."""
        epoch, last_epoch = self.epoch + 1, NO_PRODUCER_EPOCH
        if expected is not None:
            if self.epoch == NO_PRODUCER_EPOCH or expected.epoch == self.epoch:
                last_epoch = self.epoch
            elif expected.epoch == self.last_epoch:
                epoch, last_epoch = self.epoch, self.last_epoch
            else:
                raise fenced(expected.epoch, self.epoch)
        return self._begun_anew(self.producer_id, epoch, last_epoch, timeout_ms, now_ms)

    def _begun_anew(self, producer_id: int, epoch: int, last_epoch: int, timeout_ms: int, now_ms: int) -> Transaction:
        return Transaction(
            producer_id,
            epoch,
            timeout_ms,
            Status.EMPTY,
            frozenset(),
            now_ms,
            previous_producer_id=self.producer_id,
            next_producer_id=self.next_producer_id,
            client_version=self.client_version,
            last_epoch=last_epoch,
        )

    # A transaction's course.

    def with_partitions(self, added: Iterable[TopicPartition], now_ms: int, client_version: int) -> Transaction:
        return self._replace(
            status=Status.ONGOING,
            partitions=self.partitions.union(added),
            started_ms=now_ms if self.status.is_at_rest else self.started_ms,
            updated_ms=now_ms,
            previous_producer_id=self.producer_id,
            client_version=client_version,
        )

    def prepared(
        self, *, commits: bool, client_version: int, now_ms: int, next_producer_id: int = NO_PRODUCER_ID
    ) -> Transaction:
        """The decision of the client how its transaction ends."""
        raises = client_version >= V2
        return self._replace(
            status=Status.PREPARE_COMMIT if commits else Status.PREPARE_ABORT,
            epoch=min(self.epoch + 1, EPOCH_MAX) if raises else self.epoch,
            last_epoch=self.epoch if raises else self.last_epoch,
            # What is aborted before it has begun, begins now.
            started_ms=now_ms if self.status.is_at_rest else self.started_ms,
            updated_ms=now_ms,
            previous_producer_id=self.producer_id,
            next_producer_id=next_producer_id,
            client_version=client_version,
        )

    def fenced_off(self, version: int, now_ms: int) -> Transaction:
        """The transaction is aborted without its client, whose epoch is over from now on."""
        fenced = self.prepared(commits=False, client_version=version, now_ms=now_ms)
        return fenced._replace(
            epoch=min(self.epoch + 1, EPOCH_MAX), last_epoch=self.epoch if version >= V2 else NO_PRODUCER_EPOCH
        )

    def completed(self, now_ms: int) -> Transaction:
        moves_on = self.next_producer_id != NO_PRODUCER_ID and self.client_version >= V2
        return self._replace(
            status=Status.COMPLETE_COMMIT if self.status is Status.PREPARE_COMMIT else Status.COMPLETE_ABORT,
            producer_id=self.next_producer_id if moves_on else self.producer_id,
            epoch=0 if moves_on else self.epoch,
            previous_producer_id=self.producer_id,
            next_producer_id=NO_PRODUCER_ID,
            partitions=frozenset(),
            updated_ms=now_ms,
        )


def fenced(epoch: int, current: int) -> KafkaError:
    return KafkaError(
        ErrorCode.PRODUCER_FENCED,
        f"epoch {epoch} is not the producer's present epoch {current}: another instance with the same transactional id "
        "took over, or its transaction took too long",
    )
