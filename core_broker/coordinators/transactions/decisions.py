"""What a request about a transaction comes to: the next state, nothing, or an error. Kafka's rules, without side effects."""

from __future__ import annotations

from collections.abc import Set
from enum import Enum
from typing import Final, NamedTuple

from barnabas.wire.batch import NO_PRODUCER_ID
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.coordinators.transactions.transaction import (
    LAST_CLIENT_EPOCH,
    V2,
    Producer,
    Status,
    Transaction,
    fenced,
)
from core_broker.log.checkpoints import TopicPartition

_COMPLETE: Final = {True: Status.COMPLETE_COMMIT, False: Status.COMPLETE_ABORT}


class Admission(Enum):
    """What a client knows that writes to a partition in its transaction, by the version of its request."""

    JOIN = "join"
    """It relies on the broker to add the partition."""
    VERIFY = "verify"
    """It has added the partition, and knows the error after which a transaction can only be aborted."""
    VERIFY_OLD = "verify old"
    """It knows the older error only."""

    @property
    def refusal(self) -> ErrorCode:
        return ErrorCode.INVALID_TXN_STATE if self is Admission.VERIFY_OLD else ErrorCode.TRANSACTION_ABORTABLE


class End(NamedTuple):
    """A client's EndTxn request."""

    producer: Producer
    commits: bool
    client_version: int


def addition(
    transaction: Transaction | None,
    producer: Producer,
    partitions: Set[TopicPartition],
    now_ms: int,
    client_version: int,
) -> Transaction | None:
    """The transaction with partitions in it; None if they are in it already."""
    transaction = _known(transaction, producer)
    if transaction.status.is_prepared:
        raise _concurrent(transaction)
    _check_identity(transaction, producer)
    if transaction.status is Status.ONGOING and partitions <= transaction.partitions:
        return None
    return transaction.with_partitions(partitions, now_ms, client_version)


def check_membership(transaction: Transaction | None, producer: Producer) -> Transaction:
    """Whether a producer may write to the partitions that the transaction has."""
    transaction = _known(transaction, producer)
    _check_identity(transaction, producer)
    if transaction.status.is_prepared:
        raise _concurrent(transaction)
    return transaction


def ending(
    transaction: Transaction | None, end: End, now_ms: int, new_producer_id: int = NO_PRODUCER_ID
) -> Transaction | None:
    """The transaction with its end decided; None if it has ended so before and the answer was lost."""
    transaction = _known(transaction, end.producer)
    if end.client_version >= V2:
        return _ending_v2(transaction, end, now_ms, new_producer_id)
    if transaction.producer_id != end.producer.producer_id:
        raise _foreign(end.producer)
    if transaction.status.is_prepared:
        raise _concurrent(transaction)
    if transaction.epoch != end.producer.epoch:
        raise fenced(end.producer.epoch, transaction.epoch)
    if transaction.status is Status.ONGOING:
        return transaction.prepared(commits=end.commits, client_version=0, now_ms=now_ms)
    if transaction.status is _COMPLETE[end.commits]:
        return None
    raise _impossible(transaction, end)


def _ending_v2(transaction: Transaction, end: End, now_ms: int, new_producer_id: int) -> Transaction | None:
    """With V2 an epoch belongs to one transaction: the one before the present tells a repeated request from the next one."""
    epoch = end.producer.epoch
    repeats_last = (
        transaction.previous_producer_id == end.producer.producer_id
        and epoch == LAST_CLIENT_EPOCH
        and transaction.epoch == 0
    )
    if transaction.producer_id != end.producer.producer_id and not repeats_last:
        raise _foreign(end.producer)
    if transaction.status.is_prepared:
        raise _concurrent(transaction)
    # Where an older client ended it, the end has not raised the epoch, and the one before is a zombie's.
    has_ended = transaction.marks_with_new_epoch and transaction.status in _COMPLETE.values()
    repeats = has_ended and (repeats_last or transaction.epoch == epoch + 1)
    if not repeats and epoch != transaction.epoch:
        raise fenced(epoch, transaction.epoch)
    if repeats:
        if transaction.status is _COMPLETE[end.commits]:
            return None
        raise _impossible(transaction, end)
    if transaction.status is not Status.ONGOING and end.commits:
        raise _impossible(transaction, end)
    return transaction.prepared(
        commits=end.commits, client_version=end.client_version, now_ms=now_ms, next_producer_id=new_producer_id
    )


def _known(transaction: Transaction | None, producer: Producer) -> Transaction:
    if transaction is None:
        raise _foreign(producer)
    return transaction


def _check_identity(transaction: Transaction, producer: Producer) -> None:
    if transaction.producer_id != producer.producer_id:
        raise _foreign(producer)
    if transaction.epoch != producer.epoch:
        raise fenced(producer.epoch, transaction.epoch)


def _foreign(producer: Producer) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        f"the transactional id does not belong to producer {producer.producer_id}: it expired or was never initialised; "
        "call initTransactions again",
    )


def _concurrent(transaction: Transaction) -> KafkaError:
    return KafkaError(
        ErrorCode.CONCURRENT_TRANSACTIONS,
        f"the transaction before is in state {transaction.status.label}: its partitions are being told; retry",
    )


def _impossible(transaction: Transaction, end: End) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_TXN_STATE,
        f"a transaction in state {transaction.status.label} cannot be {'committed' if end.commits else 'aborted'}",
    )
