"""Transactions as the records of their topic."""

from __future__ import annotations

from barnabas.wire.batch import NO_PRODUCER_ID
from barnabas.wire.records.transaction_state import PartitionsSchema, TransactionLogKey, TransactionLogValue
from core_broker.coordinators.record import CoordinatorRecord
from core_broker.coordinators.transactions.transaction import Status, Transaction
from core_broker.log.checkpoints import TopicPartition

TAGGED_VERSION = 1
"""The version of the value that carries what KIP-890 added."""


def record_of(transactional_id: str, transaction: Transaction, transaction_version: int) -> CoordinatorRecord:
    """What is appended for a change; with the feature `transaction.version` at 0 in the form of old coordinators."""
    if not transaction_version:
        transaction = transaction._replace(
            previous_producer_id=NO_PRODUCER_ID, next_producer_id=NO_PRODUCER_ID, client_version=0
        )
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        previous_producer_id=transaction.previous_producer_id,
        next_producer_id=transaction.next_producer_id,
        producer_epoch=transaction.epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.status,
        transaction_partitions=None if transaction.status is Status.EMPTY else _by_topic(transaction.partitions),
        transaction_last_update_timestamp_ms=transaction.updated_ms,
        transaction_start_timestamp_ms=transaction.started_ms,
        client_transaction_version=transaction.client_version,
    )
    return CoordinatorRecord(
        TransactionLogKey(transactional_id=transactional_id), value, TAGGED_VERSION if transaction_version else 0
    )


def tombstone_of(transactional_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(TransactionLogKey(transactional_id=transactional_id), None)


def transaction_in(value: TransactionLogValue, last_epoch: int) -> Transaction:
    """What a record says. The epoch before the present one is known only to who wrote it."""
    return Transaction(
        value.producer_id,
        value.producer_epoch,
        value.transaction_timeout_ms,
        Status(value.transaction_status),
        frozenset(
            TopicPartition(topic.topic, partition)
            for topic in value.transaction_partitions or ()
            for partition in topic.partition_ids
        ),
        value.transaction_last_update_timestamp_ms,
        value.transaction_start_timestamp_ms,
        value.previous_producer_id,
        value.next_producer_id,
        value.client_transaction_version,
        last_epoch,
    )


def _by_topic(partitions: frozenset[TopicPartition]) -> list[PartitionsSchema]:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    return [PartitionsSchema(topic=topic, partition_ids=indexes) for topic, indexes in topics.items()]
