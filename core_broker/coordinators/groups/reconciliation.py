"""One step of a member from what it has towards what it shall have: give up, wait for others, take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.coordinators.groups.assignors.group_spec import Assignment
from core_broker.coordinators.groups.consumer_member import NO_PARTITIONS, ConsumerMember, MemberState, Partitions

UNOWNED: Final = -1


class OwnedPartitions(Protocol):
    """A topic's partitions that a member says it has."""

    topic_id: bytes
    partitions: list[int]


Owned = Sequence[OwnedPartitions] | None
"""None: it did not say."""

PartitionEpoch = Callable[[bytes, int], int]
"""The epoch of a partition's owner, or UNOWNED."""


def owns_any(owned: Owned, partitions: Mapping[bytes, Mapping[int, int]]) -> bool:
    """Who did not say what it owns may own everything."""
    if owned is None:
        return True
    return any(
        number in partitions[topic.topic_id]
        for topic in owned
        if topic.topic_id in partitions
        for number in topic.partitions
    )


def owns_only(owned: Owned, partitions: Mapping[bytes, Mapping[int, int]]) -> bool:
    if owned is None:
        return False
    return all(
        topic.topic_id in partitions and all(number in partitions[topic.topic_id] for number in topic.partitions)
        for topic in owned
    )


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What a step depends on besides the member."""

    target_epoch: int
    target: Assignment
    subscribed: frozenset[bytes]
    """The topics that the member subscribes to now; others it must give up, whatever the target says."""

    subscription_changed: bool
    partition_epoch: PartitionEpoch
    owned: Owned

    def step(self, member: ConsumerMember) -> ConsumerMember:
        match member.state:
            case MemberState.STABLE:
                if member.member_epoch != self.target_epoch:
                    return self._next(member)
                return self._drop_unsubscribed(member) if self.subscription_changed else member
            case MemberState.UNREVOKED_PARTITIONS:
                if not owns_any(self.owned, member.revoking):
                    return self._next(member)
                return self._drop_unsubscribed(member) if self.subscription_changed else member
            case MemberState.UNRELEASED_PARTITIONS:
                return self._next(member)
            case MemberState.UNKNOWN:
                # Written by a newer broker: the member must begin again with nothing.
                if self.owned is None or len(self.owned) > 0:
                    raise KafkaError(
                        ErrorCode.FENCED_MEMBER_EPOCH,
                        "The consumer group member is in a unknown state. The member must abandon all its partitions and rejoin.",
                    )
                return self._next(replace(member, member_epoch=self.target_epoch))

    def _drop_unsubscribed(self, member: ConsumerMember) -> ConsumerMember:
        """Without looking at the target, which may not know of the new subscription yet."""
        dropped = {topic_id: epochs for topic_id, epochs in member.assigned.items() if topic_id not in self.subscribed}
        if not dropped:
            return member
        assigned = {topic_id: epochs for topic_id, epochs in member.assigned.items() if topic_id in self.subscribed}
        revoking = dict(member.revoking)
        for topic_id, epochs in dropped.items():
            revoking[topic_id] = {**revoking.get(topic_id, {}), **epochs}
        updated = replace(member.at_epoch(member.member_epoch), assigned=assigned)
        if owns_any(self.owned, revoking):
            return replace(updated, state=MemberState.UNREVOKED_PARTITIONS, revoking=revoking)
        return updated

    def _next(self, member: ConsumerMember) -> ConsumerMember:
        kept: dict[bytes, dict[int, int]] = {}
        revoked: dict[bytes, dict[int, int]] = {}
        taken: dict[bytes, dict[int, int]] = {}
        has_unreleased = False
        for topic_id in {**self.target, **member.assigned}:
            target = self.target.get(topic_id, frozenset()) if topic_id in self.subscribed else frozenset()
            current = member.assigned.get(topic_id, {})
            _put(kept, topic_id, {number: epoch for number, epoch in current.items() if number in target})
            _put(revoked, topic_id, {number: epoch for number, epoch in current.items() if number not in target})
            wanted = [number for number in sorted(target) if number not in current]
            free = [number for number in wanted if self._is_free(member, topic_id, number)]
            has_unreleased = has_unreleased or len(free) < len(wanted)
            _put(taken, topic_id, dict.fromkeys(free, self.target_epoch))
        if revoked and owns_any(self.owned, revoked):
            waiting = member.at_epoch(member.member_epoch)
            return replace(waiting, state=MemberState.UNREVOKED_PARTITIONS, assigned=kept, revoking=revoked)
        return replace(
            member.at_epoch(self.target_epoch),
            state=MemberState.UNRELEASED_PARTITIONS if has_unreleased else MemberState.STABLE,
            assigned=_merged(kept, taken),
            revoking=NO_PARTITIONS,
        )

    def _is_free(self, member: ConsumerMember, topic_id: bytes, number: int) -> bool:
        """What the member itself is giving up nobody else can have."""
        return self.partition_epoch(topic_id, number) == UNOWNED or number in member.revoking.get(topic_id, {})


def _put(partitions: dict[bytes, dict[int, int]], topic_id: bytes, epochs: dict[int, int]) -> None:
    if epochs:
        partitions[topic_id] = epochs


def _merged(first: Partitions, second: Partitions) -> Partitions:
    merged = {topic_id: dict(epochs) for topic_id, epochs in first.items()}
    for topic_id, epochs in second.items():
        merged.setdefault(topic_id, {}).update(epochs)
    return merged
