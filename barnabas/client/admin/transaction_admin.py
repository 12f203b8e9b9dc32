"""What an administrator asks of transactions: coordinators' states, partitions' producers, and to end what hangs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.client.admin.group_admin import by_topic, reach
from barnabas.client.admin.session import Session
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.client import TRANSACTION_COORDINATOR, Connection
from barnabas.wire.errors import ErrorCode, KafkaError

NONE: Final = -1
_DURATION_VERSION: Final = 1
_PATTERN_VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class ListedTransaction:
    transactional_id: str
    coordinator: int
    producer_id: int
    state: str


@dataclass(frozen=True, slots=True)
class DescribedTransaction:
    coordinator: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str
    timeout_ms: int
    start_ms: int
    partitions: frozenset[TopicPartition]


@dataclass(frozen=True, slots=True)
class ActiveProducer:
    """A producer as the log of a partition remembers it; NONE stands for what it has not."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    start_offset: int


@dataclass(frozen=True, slots=True)
class Abortion:
    """Which transaction to end, in Java's words."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int

    def __str__(self) -> str:
        return (
            f"AbortTransactionSpec(topicPartition={self.partition}, producerId={self.producer_id}, "
            f"producerEpoch={self.producer_epoch}, coordinatorEpoch={self.coordinator_epoch})"
        )


class TransactionAdmin:
    """Requests about transactions, each sent to the broker that is in charge."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def list(
        self, *, duration_ms: int = NONE, pattern: str | None = None, producer_ids: Collection[int] = ()
    ) -> Sequence[ListedTransaction]:
        """The transactional ids of all brokers; with `duration_ms` only those whose transaction is older."""
        from barnabas.wire.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse

        await reach(self._session, "listTransactions(api=METADATA)")
        found = []
        for node in sorted((await self._session.cluster()).nodes):
            version = (await self._session.connection(node)).version_of(ListTransactionsRequest)
            if (duration_ms >= 0 and version < _DURATION_VERSION) or (pattern and version < _PATTERN_VERSION):
                raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"broker {node} cannot filter transactions this way")
            request = ListTransactionsRequest(
                producer_id_filters=sorted(producer_ids),
                duration_filter=duration_ms,
                transactional_id_pattern=pattern or None,
            )
            answer = await self._session.send(
                request, ListTransactionsResponse, node=node, check=lambda told: told.error_code
            )
            if answer.error_code:
                # Java has no words for what a broker does not normally answer.
                message = f"ListTransactions request sent to broker {node} failed with an unexpected exception"
                raise KafkaError(ErrorCode(answer.error_code), message)
            found += [
                ListedTransaction(one.transactional_id, node, one.producer_id, one.transaction_state)
                for one in answer.transaction_states
            ]
        return found

    async def describe(self, transactional_id: str) -> DescribedTransaction:
        from barnabas.wire.messages.describe_transactions import (
            DescribeTransactionsRequest,
            DescribeTransactionsResponse,
        )

        await reach(self._session, "describeTransactions(api=FIND_COORDINATOR)")

        async def attempt() -> DescribedTransaction:
            node = await self._session.coordinator(transactional_id, TRANSACTION_COORDINATOR)
            answer = await (await self._session.connection(node)).send(
                DescribeTransactionsRequest(transactional_ids=[transactional_id]), DescribeTransactionsResponse
            )
            state = answer.transaction_states[0]
            if state.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                message = (
                    f"DescribeTransactions request for transactionalId `{transactional_id}` "
                    "failed because the ID could not be found"
                )
                raise KafkaError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, message)
            if state.error_code:
                raise error_of(state.error_code, None)
            partitions = frozenset(
                TopicPartition(topic.topic, number) for topic in state.topics for number in topic.partitions
            )
            return DescribedTransaction(
                node, transactional_id, state.producer_id, state.producer_epoch, state.transaction_state,
                state.transaction_timeout_ms, state.transaction_start_time_ms, partitions,
            )  # fmt: skip

        return await self._session.retry(attempt, "describeTransactions")

    async def producers(
        self, partitions: Collection[TopicPartition], broker: int | None = None
    ) -> Mapping[TopicPartition, Sequence[ActiveProducer]]:
        """The producers that each partition's leader knows, or that `broker` does."""
        call = "describeProducers(api=METADATA)"
        await reach(self._session, call)
        found: dict[TopicPartition, Sequence[ActiveProducer]] = {}

        async def attempt() -> None:
            missing = [partition for partition in partitions if partition not in found]
            if broker is None:
                leaders = await self._session.leaders(missing)
            else:
                leaders = dict.fromkeys(missing, broker)
            for node in sorted(set(leaders.values())):
                asked = [partition for partition in missing if leaders[partition] == node]
                found.update(await self._ask_producers(node, asked))

        await self._session.retry(attempt, call)
        return {partition: found[partition] for partition in partitions}

    async def _ask_producers(
        self, node: int, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, Sequence[ActiveProducer]]:
        from barnabas.wire.messages.describe_producers import (
            DescribeProducersRequest,
            DescribeProducersResponse,
            TopicRequest,
        )

        connection = await self._session.connection(node)
        topics = [TopicRequest(name=name, partition_indexes=numbers) for name, numbers in by_topic(partitions).items()]
        answer = await connection.send(DescribeProducersRequest(topics=topics), DescribeProducersResponse)
        found: dict[TopicPartition, Sequence[ActiveProducer]] = {}
        for topic in answer.topics:
            for entry in topic.partitions:
                if entry.error_code:
                    raise error_of(entry.error_code, entry.error_message)
                found[TopicPartition(topic.name, entry.partition_index)] = [
                    ActiveProducer(
                        one.producer_id, one.producer_epoch, one.coordinator_epoch, one.last_sequence,
                        one.last_timestamp, one.current_txn_start_offset,
                    )
                    for one in entry.active_producers
                ]  # fmt: skip
        return found

    async def abort(self, abortion: Abortion) -> None:
        """Writes the end marker of a transaction that no coordinator will end."""
        from barnabas.wire.messages.write_txn_markers import (
            WritableTxnMarker,
            WritableTxnMarkerTopic,
            WriteTxnMarkersRequest,
            WriteTxnMarkersResponse,
        )

        partition = abortion.partition
        marker = WritableTxnMarker(
            producer_id=abortion.producer_id,
            producer_epoch=abortion.producer_epoch,
            transaction_result=False,
            topics=[WritableTxnMarkerTopic(name=partition.topic, partition_indexes=[partition.partition])],
            coordinator_epoch=abortion.coordinator_epoch,
        )
        await reach(self._session, "abortTransaction(api=METADATA)")

        async def attempt() -> None:
            leaders = await self._session.leaders([partition])
            connection = await self._session.connection(leaders[partition])
            answer = await connection.send(WriteTxnMarkersRequest(markers=[marker]), WriteTxnMarkersResponse)
            code = ErrorCode(answer.markers[0].topics[0].partitions[0].error_code)
            if code is not ErrorCode.NONE:
                raise KafkaError(code, "" if code.retriable else _refusal(abortion, code))

        await self._session.retry(attempt, "abortTransaction")

    async def fence(self, transactional_id: str) -> None:
        """Takes the id over for a moment: whatever transaction it had is aborted."""
        from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

        await reach(self._session, "fenceProducer(api=FIND_COORDINATOR)")

        async def attempt(connection: Connection) -> None:
            request = InitProducerIdRequest(
                transactional_id=transactional_id, transaction_timeout_ms=self._session.config.request_timeout_ms
            )
            answer = await connection.send(request, InitProducerIdResponse)
            if answer.error_code:
                raise error_of(answer.error_code, None)

        async def try_once() -> None:
            node = await self._session.coordinator(transactional_id, TRANSACTION_COORDINATOR)
            await attempt(await self._session.connection(node))

        await self._session.retry(try_once, "fenceProducer")


def _refusal(abortion: Abortion, code: ErrorCode) -> str:
    """Java's words for why a marker was not written."""
    start = f"WriteTxnMarkers request with {abortion} failed"
    if code is ErrorCode.INVALID_PRODUCER_EPOCH:
        return f"{start} due an invalid producer epoch"
    if code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        return f"{start} due to cluster authorization error"
    if code is ErrorCode.TRANSACTION_COORDINATOR_FENCED:
        return f"{start} since the provided coordinator epoch has been fenced by the active coordinator"
    return f"{start} due to {code.name}: {code.message}"
