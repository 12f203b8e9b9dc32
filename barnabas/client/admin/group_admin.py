"""What an administrator asks of groups: who is there, where they have got to, and changes to it. Finds the coordinators."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from barnabas.client.admin.session import Session
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kernel.java.java_exceptions import JavaFailure
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.client import Connection
from barnabas.wire.errors import ErrorCode, KafkaError

NO_OFFSET: Final = -1
NO_EPOCH: Final = -1
UNKNOWN: Final = "Unknown"
# From version 10 on OffsetFetch and OffsetCommit name topics by id.
TOPIC_NAMES_VERSION: Final = 9
GROUPS_VERSION: Final = 8
_STATE_VERSION: Final = 4
_TYPE_VERSION: Final = 5

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """One line of a list of groups."""

    group_id: str
    protocol_type: str
    state: str
    type: str


class Committed(NamedTuple):
    """A committed offset with the epoch that the consumer gave, or NO_EPOCH."""

    offset: int
    leader_epoch: int = NO_EPOCH


async def reach(session: Session, call: str) -> None:
    """Connects to any broker. `call` is what Java's client calls the request that comes next and names if it cannot."""
    try:
        await session.retry(session.connection, call)
    except KafkaError as error:
        if error.code is ErrorCode.REQUEST_TIMED_OUT:
            raise KafkaError(error.code, f"Timed out waiting for a node assignment. Call: {call}") from None
        raise


class GroupAdmin:
    """Requests about groups, each sent to the broker that is in charge."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def list_groups(self, states: Collection[str] = (), types: Collection[str] = ()) -> list[ListedGroup]:
        """The groups of all brokers, in the order of their answers."""
        from barnabas.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse

        try:
            await reach(self._session, "findAllBrokers")
        except KafkaError:
            raise JavaFailure(
                "org.apache.kafka.common.KafkaException", "Failed to find brokers to send ListGroups"
            ) from None
        found: list[ListedGroup] = []
        for node in sorted((await self._session.cluster()).nodes):
            connection = await self._session.connection(node)
            version = connection.version_of(ListGroupsRequest)
            answer = await self._session.send(
                ListGroupsRequest(
                    states_filter=list(states) if version >= _STATE_VERSION else [],
                    types_filter=list(types) if version >= _TYPE_VERSION else [],
                ),
                ListGroupsResponse,
                node=node,
                version=version,
                check=lambda told: told.error_code,
            )
            if answer.error_code:
                raise error_of(answer.error_code, None)
            found += [
                ListedGroup(
                    one.group_id,
                    one.protocol_type,
                    one.group_state or UNKNOWN,
                    one.group_type.capitalize() or UNKNOWN,
                )
                for one in answer.groups
            ]
        return found

    async def committed(self, group_id: str) -> dict[TopicPartition, Committed]:
        """Everything that the group has committed, in the order of the answer."""
        from barnabas.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponse

        async def attempt(connection: Connection) -> dict[TopicPartition, Committed]:
            version = min(connection.version_of(OffsetFetchRequest), TOPIC_NAMES_VERSION)
            if version < GROUPS_VERSION:
                request = OffsetFetchRequest(group_id=group_id, topics=None)
            else:
                request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=None)])
            answer = await connection.send(request, OffsetFetchResponse, version=version)
            found: dict[TopicPartition, Committed] = {}
            code = answer.error_code if version < GROUPS_VERSION else answer.groups[0].error_code
            if code:
                raise error_of(code, None)
            for topic in answer.topics if version < GROUPS_VERSION else answer.groups[0].topics:
                for entry in topic.partitions:
                    if entry.error_code:
                        raise error_of(entry.error_code, None)
                    if entry.committed_offset != NO_OFFSET:
                        place = TopicPartition(topic.name, entry.partition_index)
                        found[place] = Committed(entry.committed_offset, entry.committed_leader_epoch)
            return found

        return await self.at_coordinator(group_id, attempt, "listConsumerGroupOffsets")

    async def commit(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Sets the offsets of a group without members; the first error of a partition is raised."""
        from barnabas.wire.messages.offset_commit import (
            OffsetCommitRequest,
            OffsetCommitRequestPartition,
            OffsetCommitRequestTopic,
            OffsetCommitResponse,
        )

        if not offsets:
            return
        request = OffsetCommitRequest(
            group_id=group_id,
            topics=[
                OffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        OffsetCommitRequestPartition(
                            partition_index=number,
                            committed_offset=offsets[TopicPartition(topic, number)],
                            committed_metadata="",
                        )
                        for number in numbers
                    ],
                )
                for topic, numbers in by_topic(offsets).items()
            ],
        )

        async def attempt(connection: Connection) -> None:
            version = min(connection.version_of(OffsetCommitRequest), TOPIC_NAMES_VERSION)
            answer = await connection.send(request, OffsetCommitResponse, version=version)
            for topic in answer.topics:
                for entry in topic.partitions:
                    if entry.error_code:
                        raise error_of(entry.error_code, None)

        await self.at_coordinator(group_id, attempt, "commitOffsets")

    async def delete_offsets(
        self, group_id: str, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, KafkaError | None]:
        """What became of each partition; an error of the group as a whole is raised."""
        from barnabas.wire.messages.offset_delete import (
            OffsetDeleteRequest,
            OffsetDeleteRequestPartition,
            OffsetDeleteRequestTopic,
            OffsetDeleteResponse,
        )

        request = OffsetDeleteRequest(
            group_id=group_id,
            topics=[
                OffsetDeleteRequestTopic(
                    name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=number) for number in numbers]
                )
                for topic, numbers in by_topic(partitions).items()
            ],
        )

        async def attempt(connection: Connection) -> dict[TopicPartition, KafkaError | None]:
            answer = await connection.send(request, OffsetDeleteResponse)
            if answer.error_code:
                raise error_of(answer.error_code, None)
            return {
                TopicPartition(topic.name, entry.partition_index): error_of(entry.error_code, None)
                if entry.error_code
                else None
                for topic in answer.topics
                for entry in topic.partitions
            }

        return await self.at_coordinator(group_id, attempt, "offsetDelete")

    async def delete_group(self, group_id: str) -> None:
        from barnabas.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse

        async def attempt(connection: Connection) -> None:
            answer = await connection.send(DeleteGroupsRequest(groups_names=[group_id]), DeleteGroupsResponse)
            for result in answer.results:
                if result.error_code:
                    raise error_of(result.error_code, None)

        await self.at_coordinator(group_id, attempt, "deleteConsumerGroups")

    async def remove_members(self, group_id: str, member_ids: Iterable[str]) -> None:
        """Throws members out of a group, as if they had left."""
        from barnabas.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity

        members = [MemberIdentity(member_id=member_id) for member_id in member_ids]

        async def attempt(connection: Connection) -> None:
            request = LeaveGroupRequest(group_id=group_id, members=members)
            answer = await connection.send(request, LeaveGroupResponse)
            for code in [answer.error_code, *(member.error_code for member in answer.members)]:
                if code not in (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID):
                    raise error_of(code, None)

        await self.at_coordinator(group_id, attempt, "leaveGroup")

    async def at_coordinator(self, group_id: str, attempt: Callable[[Connection], Awaitable[T]], call: str) -> T:
        """What `attempt` returns with a connection to the group's coordinator; a coordinator that moves is followed.

        `call` is what Java's client calls the request, for the message when no broker can be reached.
        """
        session = self._session
        await reach(session, f"{call}(api=FIND_COORDINATOR)")

        async def try_once() -> T:
            return await attempt(await session.connection(await session.coordinator(group_id)))

        return await session.retry(try_once, call)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    grouped: dict[str, list[int]] = {}
    for topic, number in partitions:
        grouped.setdefault(topic, []).append(number)
    return grouped
