"""Offsets that a consumer asks for: those its group has stored, and those that a log has at its ends or at a point in time."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.cluster_view import NO_LEADER, ClusterView
from barnabas.client.consumer.group_membership import Place
from barnabas.wire.client import Client, Connection
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
)

EARLIEST: Final = -2
LATEST: Final = -1
NO_OFFSET: Final = -1
API_TIMEOUT_MS: Final = 60_000
RETRY_BACKOFF_MS: Final = 100
# From version 10 on both APIs name topics by id.
TOPIC_NAMES_VERSION: Final = 9
GROUPS_VERSION: Final = 8

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AtTime:
    """The first record that is not older than this."""

    timestamp_ms: int


OffsetSpec = int | AtTime


async def retried(attempt: Callable[[], Awaitable[T]], recover: Callable[[], Awaitable[None]]) -> T:
    """What `attempt` returns; after retriable errors `recover` runs and it is tried again, for up to a minute."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + API_TIMEOUT_MS / 1000
    while True:
        try:
            return await attempt()
        except KafkaError as error:
            if not error.code.retriable or loop.time() > deadline:
                raise
        await asyncio.sleep(RETRY_BACKOFF_MS / 1000)
        await recover()


async def list_offsets(
    cluster: ClusterView, specs: Mapping[TopicPartition, OffsetSpec], *, committed_only: bool
) -> dict[TopicPartition, int]:
    """The offset for each EARLIEST, LATEST or AtTime; the end of the log where no record is young enough."""

    async def attempt() -> dict[TopicPartition, int]:
        by_leader: dict[int, dict[TopicPartition, OffsetSpec]] = defaultdict(dict)
        for partition, spec in specs.items():
            by_leader[cluster.leader(partition)][partition] = spec
        if NO_LEADER in by_leader:
            names = ", ".join(map(str, by_leader[NO_LEADER]))
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"no leader for {names}")
        found: dict[TopicPartition, int] = {}
        for node, asked in by_leader.items():
            found |= await _ask_leader(await cluster.connection(node), asked, committed_only)
        return found

    found = await retried(attempt, lambda: cluster.refresh({partition.topic for partition in specs}))
    behind = {partition: LATEST for partition, offset in found.items() if offset == NO_OFFSET}
    if behind:
        found |= await list_offsets(cluster, dict(behind), committed_only=committed_only)
    return found


async def _ask_leader(
    connection: Connection, asked: Mapping[TopicPartition, OffsetSpec], committed_only: bool
) -> dict[TopicPartition, int]:
    topics: dict[str, list[ListOffsetsPartition]] = defaultdict(list)
    for (topic, number), spec in asked.items():
        timestamp = spec.timestamp_ms if isinstance(spec, AtTime) else spec
        topics[topic].append(ListOffsetsPartition(partition_index=number, timestamp=timestamp))
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=int(committed_only),
        topics=[ListOffsetsTopic(name=name, partitions=partitions) for name, partitions in topics.items()],
    )
    answer = await connection.send(request, ListOffsetsResponse)
    found = {}
    for listed in answer.topics:
        for entry in listed.partitions:
            partition = TopicPartition(listed.name, entry.partition_index)
            if entry.error_code:
                raise KafkaError(
                    ErrorCode(entry.error_code), f"offsets of {partition}: {ErrorCode(entry.error_code).message}"
                )
            found[partition] = entry.offset
    return found


class GroupOffsets:
    """The offsets that one group has stored."""

    def __init__(self, client: Client, group_id: str) -> None:
        self._client = client
        self._group_id = group_id
        self._connection: Connection | None = None

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def fetch(self, partitions: Collection[TopicPartition], place: Place) -> dict[TopicPartition, int]:
        """What is stored for `partitions`; offsets of transactions that are not over yet are waited for."""

        async def attempt() -> dict[TopicPartition, int]:
            connection = await self._coordinator()
            version = min(connection.version_of(OffsetFetchRequest), TOPIC_NAMES_VERSION)
            answer = await connection.send(
                self._fetch_request(partitions, place, version), OffsetFetchResponse, version=version
            )
            return _stored(answer, version)

        return await retried(attempt, self.close)

    async def commit(self, offsets: Mapping[TopicPartition, int], place: Place) -> None:
        topics: dict[str, list[OffsetCommitRequestPartition]] = defaultdict(list)
        for (topic, number), offset in offsets.items():
            topics[topic].append(
                OffsetCommitRequestPartition(partition_index=number, committed_offset=offset, committed_metadata="")
            )
        request = OffsetCommitRequest(
            group_id=self._group_id,
            generation_id_or_member_epoch=place.epoch,
            member_id=place.member_id,
            group_instance_id=place.instance_id,
            topics=[OffsetCommitRequestTopic(name=name, partitions=parts) for name, parts in topics.items()],
        )

        async def attempt() -> None:
            connection = await self._coordinator()
            version = min(connection.version_of(OffsetCommitRequest), TOPIC_NAMES_VERSION)
            answer = await connection.send(request, OffsetCommitResponse, version=version)
            for topic in answer.topics:
                for entry in topic.partitions:
                    if entry.error_code:
                        code = ErrorCode(entry.error_code)
                        partition = TopicPartition(topic.name, entry.partition_index)
                        raise KafkaError(code, f"commit of {partition} for group {self._group_id!r}: {code.message}")

        await retried(attempt, self.close)

    def _fetch_request(self, partitions: Collection[TopicPartition], place: Place, version: int) -> OffsetFetchRequest:
        topics: dict[str, list[int]] = defaultdict(list)
        for topic, number in partitions:
            topics[topic].append(number)
        if version < GROUPS_VERSION:
            single = [OffsetFetchRequestTopic(name=name, partition_indexes=listed) for name, listed in topics.items()]
            return OffsetFetchRequest(group_id=self._group_id, topics=single, require_stable=True)
        group = OffsetFetchRequestGroup(
            group_id=self._group_id,
            member_id=place.member_id or None,
            member_epoch=place.epoch,
            topics=[OffsetFetchRequestTopics(name=name, partition_indexes=listed) for name, listed in topics.items()],
        )
        return OffsetFetchRequest(groups=[group], require_stable=True)

    async def _coordinator(self) -> Connection:
        if self._connection is None or not self._connection.is_open:
            self._connection = await self._client.connect(await self._client.find_coordinator(self._group_id))
        return self._connection


def _stored(answer: OffsetFetchResponse, version: int) -> dict[TopicPartition, int]:
    code = answer.error_code if version < GROUPS_VERSION else answer.groups[0].error_code
    if code:
        raise KafkaError(ErrorCode(code))
    entries: list[tuple[str, OffsetFetchResponsePartition | OffsetFetchResponsePartitions]]
    if version < GROUPS_VERSION:
        entries = [(topic.name, entry) for topic in answer.topics for entry in topic.partitions]
    else:
        entries = [(topic.name, entry) for topic in answer.groups[0].topics for entry in topic.partitions]
    found = {}
    for name, entry in entries:
        if entry.error_code:
            raise KafkaError(ErrorCode(entry.error_code))
        if entry.committed_offset != NO_OFFSET:
            found[TopicPartition(name, entry.partition_index)] = entry.committed_offset
    return found
