"""OffsetFetch (key 9), versions 1 to 10.

v2 all offsets of a group; v5 leader epochs; v6 flexible; v7 only offsets that no transaction may change; v8 several groups;
v9 consumer groups (KIP-848); v10 topic ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from core_broker.context import RequestContext
from core_broker.coordinators.groups.group_offsets import NO_EPOCH, NO_OFFSET, FetchedOffset, GroupOffsets
from core_broker.coordinators.groups.offset_store import TopicPartition
from core_broker.deferred import Deferred
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

GROUP_ERROR_VERSION: Final = 2
SEVERAL_GROUPS_VERSION: Final = 8
TOPIC_ID_VERSION: Final = 10
NO_ID: Final = bytes(16)


class AskedTopic(NamedTuple):
    """A topic that is asked for. Without a name it was asked for by an id that nobody knows."""

    name: str | None
    topic_id: bytes
    partitions: Sequence[int]


class FetchedTopic(NamedTuple):
    name: str
    topic_id: bytes
    partitions: list[tuple[int, FetchedOffset]]


class Fetched(NamedTuple):
    error: int
    topics: list[FetchedTopic]


def handle(broker: Broker, context: RequestContext, request: OffsetFetchRequest) -> Deferred[OffsetFetchResponse]:
    deferred: Deferred[OffsetFetchResponse] = Deferred()
    several = context.version >= SEVERAL_GROUPS_VERSION
    groups = request.groups if several else [_only(request)]
    fetched = [Fetched(ErrorCode.NONE, [])] * len(groups)
    left = len(groups) + 1

    def done() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            deferred.resolve(_several(groups, fetched) if several else _one(fetched[0], context.version))

    def fetch(index: int, group: OffsetFetchRequestGroup) -> None:
        asked = None if group.topics is None else [_named(broker, context, topic) for topic in group.topics]

        def finished(result: Fetched) -> None:
            fetched[index] = result
            done()

        try:
            _fetch(broker, context, group, asked, request.require_stable, finished)
        except KafkaError as error:
            finished(Fetched(error.code, _failed(asked or [], error.code)))

    for index, group in enumerate(groups):
        fetch(index, group)
    done()
    deferred.release()
    return deferred


def _only(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    """An older request in the form of a newer one."""
    topics = None
    if request.topics is not None:
        topics = [
            OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in request.topics
        ]
    return OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)


def _named(broker: Broker, context: RequestContext, topic: OffsetFetchRequestTopics) -> AskedTopic:
    if context.version < TOPIC_ID_VERSION:
        return AskedTopic(topic.name, NO_ID, topic.partition_indexes)
    return AskedTopic(broker.topic_name(topic.topic_id), topic.topic_id, topic.partition_indexes)


def _fetch(
    broker: Broker,
    context: RequestContext,
    group: OffsetFetchRequestGroup,
    asked: list[AskedTopic] | None,
    require_stable: bool,
    finished: Callable[[Fetched], None],
) -> None:
    """Looks up now, and tells when what was found is durable. KafkaError when the group cannot be asked."""
    if not broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.GROUP, group.group_id):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    shard = broker.groups.lookup(group.group_id)
    offsets = shard.state.commits
    offsets.check_fetch(group.group_id, group.member_id, group.member_epoch)
    topics = [
        _look_up(broker, context, offsets, group.group_id, topic, require_stable)
        for topic in (_all(broker, context, offsets, group.group_id) if asked is None else asked)
    ]

    def then(error: KafkaError | None) -> None:
        finished(Fetched(ErrorCode.NONE, topics) if error is None else Fetched(error.code, []))

    shard.write([], then)


def _all(broker: Broker, context: RequestContext, offsets: GroupOffsets, group_id: str) -> list[AskedTopic]:
    """Every topic that a group has offsets of, as far as the client may know of it."""
    partitions: dict[str, list[int]] = {}
    for topic, partition in offsets.partitions(group_id):
        partitions.setdefault(topic, []).append(partition)
    asked = []
    for name, indexes in partitions.items():
        if not broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.TOPIC, name):
            continue
        image = broker.metadata.image.topics.get(name)
        if image is not None or context.version < TOPIC_ID_VERSION:
            asked.append(AskedTopic(name, NO_ID if image is None else image.topic_id, indexes))
    return asked


def _look_up(
    broker: Broker,
    context: RequestContext,
    offsets: GroupOffsets,
    group_id: str,
    topic: AskedTopic,
    require_stable: bool,
) -> FetchedTopic:
    name = topic.name
    if name is None:
        return _refused(topic, ErrorCode.UNKNOWN_TOPIC_ID)
    if not broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.TOPIC, name):
        return _refused(topic, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return FetchedTopic(
        name,
        topic.topic_id,
        [
            (
                index,
                offsets.fetch(
                    group_id, TopicPartition(name, index), require_stable=require_stable, topic_id=topic.topic_id
                ),
            )
            for index in topic.partitions
        ],
    )


def _refused(topic: AskedTopic, error: ErrorCode) -> FetchedTopic:
    nothing = FetchedOffset(NO_OFFSET, NO_EPOCH, "", error)
    return FetchedTopic(topic.name or "", topic.topic_id, [(index, nothing) for index in topic.partitions])


def _failed(topics: list[AskedTopic], error: ErrorCode) -> list[FetchedTopic]:
    return [_refused(topic, error) for topic in topics]


def _one(fetched: Fetched, version: int) -> OffsetFetchResponse:
    """The answer for a single group. What fails as a whole was told with each partition at first, and since then once."""
    response = OffsetFetchResponse(error_code=fetched.error)
    if fetched.error == ErrorCode.NONE or version < GROUP_ERROR_VERSION:
        response.topics = [
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=index,
                        committed_offset=found.offset,
                        committed_leader_epoch=found.leader_epoch,
                        metadata=found.metadata,
                        error_code=found.error,
                    )
                    for index, found in topic.partitions
                ],
            )
            for topic in fetched.topics
        ]
    return response


def _several(groups: list[OffsetFetchRequestGroup], fetched: list[Fetched]) -> OffsetFetchResponse:
    return OffsetFetchResponse(
        groups=[
            OffsetFetchResponseGroup(
                group_id=group.group_id,
                error_code=found.error,
                topics=[] if found.error else [_topic(topic) for topic in found.topics],
            )
            for group, found in zip(groups, fetched, strict=True)
        ]
    )


def _topic(topic: FetchedTopic) -> OffsetFetchResponseTopics:
    return OffsetFetchResponseTopics(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[
            OffsetFetchResponsePartitions(
                partition_index=index,
                committed_offset=found.offset,
                committed_leader_epoch=found.leader_epoch,
                metadata=found.metadata,
                error_code=found.error,
            )
            for index, found in topic.partitions
        ],
    )
