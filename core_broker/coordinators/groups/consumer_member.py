"""A member of a consumer group: what it subscribes to, and how far it has got with its assignment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from barnabas.wire.records.group_offsets import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    TopicPartitions,
)

JOINING_EPOCH: Final = 0
LEAVING_EPOCH: Final = -1
STATIC_LEAVING_EPOCH: Final = -2
"""A static member goes and means to come back: what it had waits for it."""

NO_TIMEOUT: Final = -1

Partitions = Mapping[bytes, Mapping[int, int]]
"""By topic id and number, with the epoch in which the member got each."""

NO_PARTITIONS: Final[Partitions] = MappingProxyType({})


class MemberState(IntEnum):
    """With the numbers that records carry."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    """It was told to give up partitions and has not said yet that it did."""
    UNRELEASED_PARTITIONS = 2
    """It waits for partitions that others still have."""
    UNKNOWN = 127

    @classmethod
    def of(cls, number: int) -> MemberState:
        return cls(number) if number in _STATES else cls.UNKNOWN


_STATES: Final = frozenset(MemberState)


class ClassicSide(NamedTuple):
    """What a member that still speaks the classic protocol said in JoinGroup."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]
    """Names and subscriptions, the best first."""


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    member_id: str
    member_epoch: int = JOINING_EPOCH
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = NO_TIMEOUT
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    regex: str = ""
    server_assignor: str | None = None
    classic: ClassicSide | None = None
    assigned: Partitions = field(default_factory=lambda: NO_PARTITIONS)
    revoking: Partitions = field(default_factory=lambda: NO_PARTITIONS)

    def is_reconciled_to(self, assignment_epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.member_epoch == assignment_epoch

    def at_epoch(self, epoch: int) -> ConsumerMember:
        return replace(self, member_epoch=epoch, previous_epoch=self.member_epoch)

    def epoch_of(self, topic_id: bytes, partition: int) -> int | None:
        """In which the member got a partition that it has, or is giving up."""
        for partitions in (self.assigned, self.revoking):
            epoch = partitions.get(topic_id, _NO_NUMBERS).get(partition)
            if epoch is not None:
                return epoch
        return None

    def subscribed_as(self, value: ConsumerGroupMemberMetadataValue) -> ConsumerMember:
        """What a record says about the subscription."""
        classic = value.classic_member_metadata
        return replace(
            self,
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            topics=frozenset(value.subscribed_topic_names),
            regex=value.subscribed_topic_regex or "",
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            server_assignor=value.server_assignor,
            classic=None if classic is None else _classic_side(classic),
        )

    def subscription(self) -> ConsumerGroupMemberMetadataValue:
        return ConsumerGroupMemberMetadataValue(
            instance_id=self.instance_id,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            subscribed_topic_names=sorted(self.topics),
            subscribed_topic_regex=self.regex,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            server_assignor=self.server_assignor,
            classic_member_metadata=None if self.classic is None else _classic_metadata(self.classic),
        )

    def assigned_as(self, value: ConsumerGroupCurrentMemberAssignmentValue) -> ConsumerMember:
        """What a record says about the assignment."""
        return replace(
            self,
            member_epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            state=MemberState.of(value.state),
            assigned=_partitions(value.assigned_partitions, value.member_epoch),
            revoking=_partitions(value.partitions_pending_revocation, value.member_epoch),
        )

    def assignment(self) -> ConsumerGroupCurrentMemberAssignmentValue:
        return ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=self.member_epoch,
            previous_member_epoch=self.previous_epoch,
            state=self.state,
            assigned_partitions=_topic_partitions(self.assigned),
            partitions_pending_revocation=_topic_partitions(self.revoking),
        )


_NO_NUMBERS: Final[Mapping[int, int]] = MappingProxyType({})


def _classic_side(metadata: ClassicMemberMetadata) -> ClassicSide:
    protocols = tuple((protocol.name, bytes(protocol.metadata)) for protocol in metadata.supported_protocols)
    return ClassicSide(metadata.session_timeout_ms, protocols)


def _classic_metadata(classic: ClassicSide) -> ClassicMemberMetadata:
    return ClassicMemberMetadata(
        session_timeout_ms=classic.session_timeout_ms,
        supported_protocols=[ClassicProtocol(name=name, metadata=metadata) for name, metadata in classic.protocols],
    )


def _partitions(topics: Iterable[TopicPartitions], member_epoch: int) -> Partitions:
    """Records of older brokers have no epochs for single partitions; the member's stands for them."""
    found: dict[bytes, dict[int, int]] = {}
    for topic in topics:
        epochs = topic.assignment_epochs
        if epochs is None or len(epochs) != len(topic.partitions):
            epochs = [max(member_epoch, 0)] * len(topic.partitions)
        found[topic.topic_id] = dict(zip(topic.partitions, epochs, strict=True))
    return found


def _topic_partitions(partitions: Partitions) -> list[TopicPartitions]:
    return [
        TopicPartitions(topic_id=topic_id, partitions=list(epochs), assignment_epochs=list(epochs.values()))
        for topic_id, epochs in partitions.items()
    ]
