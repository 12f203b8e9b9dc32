"""What a producer says to the broker that coordinates its transactions (or, for its id alone, to any broker)."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final, TypeVar

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.group_membership import Place
from barnabas.client.producer.producer_batch import Identity
from barnabas.client.producer.producer_settings import ProducerSettings
from barnabas.wire.client import TRANSACTION_COORDINATOR, Client, Connection
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from barnabas.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

TRANSACTION_FEATURE: Final = "transaction.version"
# From this level of the feature on brokers add partitions by themselves, and the epoch rises with every transaction.
IMPLICIT_LEVEL: Final = 2
# The last versions without that.
EXPLICIT_ADD_VERSION: Final = 3
EXPLICIT_END_VERSION: Final = 4
EXPLICIT_OFFSETS_VERSION: Final = 4

T = TypeVar("T")


class TransactionClient:
    """Requests to the transaction coordinator, repeated while their errors are passing ones."""

    def __init__(self, client: Client, settings: ProducerSettings) -> None:
        self.implicit = False
        self._client = client
        self._settings = settings
        self._connection: Connection | None = None

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def init(self) -> Identity:
        """A producer id; with a transactional id, what an earlier producer of that id left open is aborted."""
        transactional_id = self._settings.transactional_id

        async def attempt() -> Identity:
            connection = await self._coordinator() if transactional_id else await self._client.connection()
            request = InitProducerIdRequest(
                transactional_id=transactional_id, transaction_timeout_ms=self._settings.transaction_timeout_ms
            )
            answer = await connection.send(
                request, InitProducerIdResponse, timeout_ms=self._settings.request_timeout_ms
            )
            _check(answer.error_code)
            if transactional_id:
                self.implicit = await self._knows_implicit(connection)
            return Identity(answer.producer_id, answer.producer_epoch)

        return await self._retried(attempt, "InitProducerId")

    async def add_partitions(self, identity: Identity, partitions: Collection[TopicPartition]) -> None:
        topics: dict[str, list[int]] = {}
        for partition in partitions:
            topics.setdefault(partition.topic, []).append(partition.partition)

        async def attempt() -> None:
            connection = await self._coordinator()
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self._settings.transactional_id or "",
                v3_and_below_producer_id=identity.producer_id,
                v3_and_below_producer_epoch=identity.epoch,
                v3_and_below_topics=[
                    AddPartitionsToTxnTopic(name=name, partitions=numbers) for name, numbers in topics.items()
                ],
            )
            version = min(EXPLICIT_ADD_VERSION, connection.version_of(AddPartitionsToTxnRequest))
            answer = await connection.send(request, AddPartitionsToTxnResponse, version=version)
            for topic in answer.results_by_topic_v3_and_below:
                for result in topic.results_by_partition:
                    _check(result.partition_error_code)

        await self._retried(attempt, "AddPartitionsToTxn")

    async def commit_offsets(
        self, identity: Identity, group_id: str, offsets: Mapping[TopicPartition, int], place: Place
    ) -> None:
        """Make a group's offsets part of the transaction."""
        if not self.implicit:
            await self._add_offsets(identity, group_id)
        topics: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
        for partition, offset in offsets.items():
            topics.setdefault(partition.topic, []).append(
                TxnOffsetCommitRequestPartition(
                    partition_index=partition.partition, committed_offset=offset, committed_metadata=""
                )
            )
        request = TxnOffsetCommitRequest(
            transactional_id=self._settings.transactional_id or "",
            group_id=group_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            generation_id=place.epoch,
            member_id=place.member_id,
            group_instance_id=place.instance_id,
            topics=[TxnOffsetCommitRequestTopic(name=name, partitions=listed) for name, listed in topics.items()],
        )

        async def attempt() -> None:
            address = await self._client.find_coordinator(group_id)
            connection = await self._client.connect(address)
            try:
                version = connection.version_of(TxnOffsetCommitRequest)
                if not self.implicit:
                    version = min(version, EXPLICIT_OFFSETS_VERSION)
                answer = await connection.send(request, TxnOffsetCommitResponse, version=version)
            finally:
                await connection.close()
            for topic in answer.topics:
                for result in topic.partitions:
                    _check(result.error_code)

        await self._retried(attempt, "TxnOffsetCommit")

    async def end(self, identity: Identity, *, commit: bool) -> Identity:
        """Commit or abort; returns who the producer is from now on."""

        async def attempt() -> Identity:
            connection = await self._coordinator()
            request = EndTxnRequest(
                transactional_id=self._settings.transactional_id or "",
                producer_id=identity.producer_id,
                producer_epoch=identity.epoch,
                committed=commit,
            )
            version = connection.version_of(EndTxnRequest)
            if not self.implicit:
                version = min(version, EXPLICIT_END_VERSION)
            answer = await connection.send(request, EndTxnResponse, version=version)
            _check(answer.error_code)
            return Identity(answer.producer_id, answer.producer_epoch) if answer.producer_id >= 0 else identity

        return await self._retried(attempt, "EndTxn")

    async def _add_offsets(self, identity: Identity, group_id: str) -> None:
        async def attempt() -> None:
            request = AddOffsetsToTxnRequest(
                transactional_id=self._settings.transactional_id or "",
                producer_id=identity.producer_id,
                producer_epoch=identity.epoch,
                group_id=group_id,
            )
            _check((await (await self._coordinator()).send(request, AddOffsetsToTxnResponse)).error_code)

        await self._retried(attempt, "AddOffsetsToTxn")

    async def _coordinator(self) -> Connection:
        if self._connection is None or not self._connection.is_open:
            assert self._settings.transactional_id is not None, "only transactional producers have a coordinator"
            address = await self._client.find_coordinator(self._settings.transactional_id, TRANSACTION_COORDINATOR)
            self._connection = await self._client.connect(address)
        return self._connection

    async def _knows_implicit(self, connection: Connection) -> bool:
        request = ApiVersionsRequest(client_software_name="barnabas-tools", client_software_version="1")
        answer = await connection.send(request, ApiVersionsResponse)
        levels = {feature.name: feature.max_version_level for feature in answer.finalized_features}
        return levels.get(TRANSACTION_FEATURE, 0) >= IMPLICIT_LEVEL

    async def _retried(self, attempt: Callable[[], Awaitable[T]], call: str) -> T:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.max_block_ms / 1000
        pause_ms = self._settings.retry_backoff_ms
        while True:
            try:
                return await attempt()
            except KafkaError as error:
                if not error.code.retriable:
                    raise
                if loop.time() + pause_ms / 1000 > deadline:
                    raise KafkaError(
                        ErrorCode.REQUEST_TIMED_OUT,
                        f"Timeout expired after {self._settings.max_block_ms}ms while awaiting {call} ({error.message})",
                    ) from error
                if error.code is not ErrorCode.CONCURRENT_TRANSACTIONS:
                    await self.close()  # the coordinator may have moved
            await asyncio.sleep(pause_ms / 1000)
            pause_ms = min(pause_ms * 2, self._settings.retry_backoff_max_ms)


def _check(code: int) -> None:
    if code:
        raise KafkaError(ErrorCode(code))
