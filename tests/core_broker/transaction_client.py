"""Transactions over a raw socket, each call one request of a chosen version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from barnabas.wire.batch import Record, build_batch, iterate_batches, iterate_records
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from barnabas.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from barnabas.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.wire.messages.fetch import PartitionData
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic, OffsetFetchResponse
from barnabas.wire.messages.produce import PartitionProduceResponse, ProduceResponse
from barnabas.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from core_broker.coordinators.transactions.transaction import Producer
from tests.core_broker.broker_client import BrokerClient, now_ms, produce_request
from tests.waiting import wait_for

GROUP_KEY, TRANSACTION_KEY = 0, 1
READ_COMMITTED = 1
TIMEOUT_MS = 60_000
LATER = (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)
"""What a client does not hear of: it asks again."""


class TransactionClient(BrokerClient):
    def find(self, *keys: str, key_type: int = TRANSACTION_KEY) -> None:
        """Makes the coordinator's topic, and waits until it is there."""
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=list(keys))

        def found() -> bool:
            answer = self.ask(request, FindCoordinatorResponse, 4)
            return all(coordinator.error_code == ErrorCode.NONE for coordinator in answer.coordinators)

        wait_for(found, "a coordinator")

    def try_initialise(
        self, transactional_id: str, timeout_ms: int = TIMEOUT_MS, *, version: int = 5
    ) -> InitProducerIdResponse:
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=timeout_ms)
        return self.ask(request, InitProducerIdResponse, version)

    def initialise(self, transactional_id: str, timeout_ms: int = TIMEOUT_MS) -> Producer:
        """Asks until the transaction of an earlier instance is aborted."""
        self.find(transactional_id)

        def initialised() -> InitProducerIdResponse | None:
            answer = self.try_initialise(transactional_id, timeout_ms)
            retried = (*LATER, ErrorCode.CONCURRENT_TRANSACTIONS)
            return None if answer.error_code in retried else answer

        answer = wait_for(initialised, f"{transactional_id} to be initialised")
        assert answer.error_code == ErrorCode.NONE, ErrorCode(answer.error_code)
        return Producer(answer.producer_id, answer.producer_epoch)

    def add(
        self, transactional_id: str, producer: Producer, partitions: Mapping[str, Sequence[int]], *, version: int = 3
    ) -> set[ErrorCode]:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=transactional_id,
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=topic, partitions=list(indexes)) for topic, indexes in partitions.items()
            ],
        )
        answer = self.ask(request, AddPartitionsToTxnResponse, version)
        return {
            ErrorCode(partition.partition_error_code)
            for topic in answer.results_by_topic_v3_and_below
            for partition in topic.results_by_partition
        }

    def write(
        self,
        transactional_id: str | None,
        producer: Producer,
        topic: str,
        *values: bytes,
        partition: int = 0,
        sequence: int = 0,
        version: int = 12,
    ) -> PartitionProduceResponse:
        """One batch in the producer's transaction."""
        batch = build_batch(
            [Record(position, now_ms(), b"k", value) for position, value in enumerate(values)],
            transactional=True,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            base_sequence=sequence,
        )
        request = produce_request({(topic, partition): batch})
        request.transactional_id = transactional_id
        return self.ask(request, ProduceResponse, version).responses[0].partition_responses[0]

    def commit_offset(
        self,
        transactional_id: str,
        producer: Producer,
        group: str,
        topic: str,
        offset: int,
        *,
        partition: int = 0,
        version: int = 5,
    ) -> ErrorCode:
        asked = TxnOffsetCommitRequestPartition(
            partition_index=partition, committed_offset=offset, committed_metadata=""
        )
        request = TxnOffsetCommitRequest(
            transactional_id=transactional_id,
            group_id=group,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=[asked])],
        )
        answer = self.ask(request, TxnOffsetCommitResponse, version)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    def committed_offset(self, group: str, topic: str, partition: int = 0) -> int:
        asked = OffsetFetchRequest(
            group_id=group,
            topics=[OffsetFetchRequestTopic(name=topic, partition_indexes=[partition])],
            require_stable=False,
        )

        def fetched() -> OffsetFetchResponse | None:
            answer = self.ask(asked, OffsetFetchResponse, 7)
            return None if answer.error_code in LATER else answer

        answer = wait_for(fetched, f"the offsets of {group}")
        assert answer.error_code == ErrorCode.NONE
        return answer.topics[0].partitions[0].committed_offset

    def end(
        self, transactional_id: str, producer: Producer, *, commits: bool, version: int = 5
    ) -> tuple[ErrorCode, Producer]:
        """What became of it, and who the producer is in the next transaction."""
        request = EndTxnRequest(
            transactional_id=transactional_id,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            committed=commits,
        )
        answer = self.ask(request, EndTxnResponse, version)
        after = Producer(answer.producer_id, answer.producer_epoch) if version >= 5 else producer
        return ErrorCode(answer.error_code), after

    def describe(self, transactional_id: str) -> TransactionState:
        request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
        return self.ask(request, DescribeTransactionsResponse, 0).transaction_states[0]

    def read_committed(self, topic: str, partition: int = 0) -> list[bytes]:
        """All that a reader of committed data gets at present, filtered as a consumer does it."""
        found: list[bytes] = []
        skipping: set[int] = set()
        offset = 0
        while True:
            data = self.fetch(topic, offset, partition=partition, isolation_level=READ_COMMITTED)
            assert data.error_code == ErrorCode.NONE, ErrorCode(data.error_code)
            if not data.records:
                return found
            offset = _filter(data, offset, skipping, found)

    def is_stable(self, topic: str, partition: int = 0) -> bool:
        data = self.fetch(topic, 0, partition=partition)
        return data.last_stable_offset == data.high_watermark


def _filter(data: PartitionData, offset: int, skipping: set[int], found: list[bytes]) -> int:
    blob, next_offset = data.records or b"", offset
    begins = {(aborted.producer_id, aborted.first_offset) for aborted in data.aborted_transactions or ()}
    for position, header in iterate_batches(blob):
        if (header.producer_id, header.base_offset) in begins:
            skipping.add(header.producer_id)
        if header.is_control:
            skipping.discard(header.producer_id)
        elif header.producer_id not in skipping:
            found.extend(record.value or b"" for record in iterate_records(blob, position) if record.offset >= offset)
        next_offset = header.base_offset + header.last_offset_delta + 1
    return next_offset
