"""A group of the consumer protocol (KIP-848): the broker assigns, each member follows at its own pace.

Three epochs: the *group epoch* rises when something happens that calls for a new assignment; the *assignment epoch* is the
group epoch for which the target assignment was computed; a *member epoch* is the assignment epoch that the member has reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Final, Protocol

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.coordinators.groups import consumer_records as records
from core_broker.coordinators.groups.assignors.group_spec import Assignment
from core_broker.coordinators.groups.consumer_member import ConsumerMember, MemberState, Partitions
from core_broker.coordinators.groups.group import ExpiryBase, GroupType
from core_broker.coordinators.groups.reconciliation import UNOWNED
from core_broker.coordinators.groups.regular_expressions import ResolvedRegex
from core_broker.coordinators.record import CoordinatorRecord

if TYPE_CHECKING:
    from core_broker.coordinators.groups.group import PartitionCheck

CONSUMER_PROTOCOL_TYPE: Final = "consumer"
NO_ASSIGNMENT: Final[Assignment] = {}
MEMBER_EPOCHS_VERSION: Final = 9
"""Of OffsetCommit: from here on a member gives its epoch, not a generation."""

_NO_ASSIGNMENT_EPOCH: Final = -1


class MemberTimers(Protocol):
    """Who watches over the members of groups."""

    def watch(self, group: ConsumerGroup) -> None: ...

    def forget(self, group: ConsumerGroup) -> None: ...


class ConsumerGroup:
    """Changed by replayed records only, except for what it remembers of its last look at the topics."""

    type = GroupType.CONSUMER
    protocol_type = CONSUMER_PROTOCOL_TYPE

    def __init__(self, group_id: str, timers: MemberTimers) -> None:
        self.group_id = group_id
        self._timers = timers
        self.group_epoch = 1
        self.metadata_hash = 0
        self.assignment_epoch = 1
        self.assignment_time_ms = 0
        self.members: dict[str, ConsumerMember] = {}
        self.static_members: dict[str, str] = {}
        """Member ids by instance ids."""
        self.target: dict[str, Assignment] = {}
        self.regexes: dict[str, ResolvedRegex] = {}
        self.has_partition_metadata = False
        """Whether a record of a broker before 4.1 is there that the next change shall delete."""
        self.topic_counts: Counter[str] = Counter()
        """Members that subscribe to a topic by its name."""
        self.regex_counts: Counter[str] = Counter()
        self.classic_count = 0
        self._partition_epochs: dict[tuple[bytes, int], int] = {}
        self._refresh_wanted = True
        self._refreshed_epoch = 0

    # What it is.

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def state_name(self) -> str:
        if not self.members:
            return "Empty"
        if self.group_epoch > self.assignment_epoch:
            return "Assigning"
        if all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return "Stable"
        return "Reconciling"

    def member(self, member_id: str) -> ConsumerMember:
        member = self.members.get(member_id)
        if member is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.group_id}."
            )
        return member

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        member_id = None if instance_id is None else self.static_members.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def partition_epoch(self, topic_id: bytes, partition: int) -> int:
        return self._partition_epochs.get((topic_id, partition), UNOWNED)

    def target_of(self, member: ConsumerMember) -> Assignment:
        """That of the static member that it replaces, if it has none yet."""
        replaced = None if member.instance_id is None else self.static_members.get(member.instance_id)
        return self.target.get(replaced or member.member_id, NO_ASSIGNMENT)

    def classic_offers(self, protocol: str) -> int:
        """How many members of the classic protocol offer one of its protocols."""
        return sum(
            member.classic is not None and any(name == protocol for name, _ in member.classic.protocols)
            for member in self.members.values()
        )

    def waits_for_others(self, member: ConsumerMember) -> bool:
        """Whether a partition that it shall have is still with another member."""
        return member.state is MemberState.UNRELEASED_PARTITIONS and any(
            number not in member.assigned.get(topic_id, {}) and self.partition_epoch(topic_id, number) != UNOWNED
            for topic_id, numbers in self.target.get(member.member_id, NO_ASSIGNMENT).items()
            for number in numbers
        )

    # Whether the subscribed topics are still what they were.

    @property
    def is_refresh_due(self) -> bool:
        """Whether the next heartbeat shall look. Also when an epoch that came of a look was never written."""
        return self._refresh_wanted or self.group_epoch < self._refreshed_epoch

    def want_refresh(self) -> None:
        self._refresh_wanted = True

    def refreshed(self, epoch: int) -> None:
        self._refresh_wanted = False
        self._refreshed_epoch = epoch

    # What Group asks for.

    def check_offset_commit(
        self, member_id: str, instance_id: str | None, generation: int, *, transactional: bool, version: int
    ) -> PartitionCheck | None:
        if generation < 0 and not self.members:
            return None
        if transactional and generation == -1 and not member_id and instance_id is None:
            return None
        member = self.member(member_id)
        if not transactional and member.classic is None and version < MEMBER_EPOCHS_VERSION:
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION,
                "OffsetCommit version 9 or above must be used by members using the consumer group protocol",
            )
        if generation == member.member_epoch:
            return None
        if generation > member.member_epoch:
            raise _stale(member, f"Received {_epoch_name(member)} {generation} is newer than {member.member_epoch}.")
        return _epoch_check(member, generation)

    def check_offset_fetch(self, member_id: str | None, generation: int) -> None:
        if member_id is None and generation < 0:
            return
        member = self.member(member_id or "")
        if member.member_epoch != generation:
            raise _stale(
                member,
                f"The received {_epoch_name(member)} {generation} does not match the expected member epoch {member.member_epoch}.",
            )

    def check_offset_delete(self) -> None:
        """Always allowed; topics that somebody subscribes to are refused one by one."""

    def check_delete(self) -> None:
        if self.members:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def subscribes_to(self, topic: str) -> bool:
        return topic in self.topic_counts or any(topic in regex.topics for regex in self.regexes.values())

    def offset_expiry(self) -> ExpiryBase | None:
        return _committed_at

    def tombstones(self) -> list[CoordinatorRecord]:
        return self.tombstones_with(self.members)

    def tombstones_with(self, member_ids: Collection[str]) -> list[CoordinatorRecord]:
        """Those of the group once its members have these ids."""
        group_id = self.group_id
        return [
            *(records.no_current_assignment(group_id, member_id) for member_id in member_ids),
            *(records.no_target_assignment(group_id, member_id) for member_id in member_ids),
            records.no_target_epoch(group_id),
            *(records.no_subscription(group_id, member_id) for member_id in member_ids),
            *(records.no_regex(group_id, regex) for regex in self.regexes),
            records.no_partition_metadata(group_id),
            records.no_group(group_id),
        ]

    def activate(self) -> None:
        self._timers.watch(self)

    def deactivate(self) -> None:
        self._timers.forget(self)

    # How it changes.

    def put_member(self, member: ConsumerMember) -> None:
        old = self.members.get(member.member_id)
        if old is not None:
            self._uncount(old)
        self.members[member.member_id] = member
        self._count(member)

    def remove_member(self, member_id: str) -> None:
        old = self.members.pop(member_id, None)
        if old is not None:
            self._uncount(old)
            if old.instance_id is not None and self.static_members.get(old.instance_id) == member_id:
                del self.static_members[old.instance_id]

    def _count(self, member: ConsumerMember) -> None:
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        self.topic_counts.update(member.topics)
        if member.regex:
            self.regex_counts[member.regex] += 1
        self.classic_count += member.classic is not None
        for partitions in (member.assigned, member.revoking):
            for key in _keys(partitions):
                if self._partition_epochs.get(key, UNOWNED) < member.member_epoch or member.member_epoch < 0:
                    self._partition_epochs[key] = member.member_epoch

    def _uncount(self, member: ConsumerMember) -> None:
        self.topic_counts.subtract(member.topics)
        for topic in member.topics:
            if not self.topic_counts[topic]:
                del self.topic_counts[topic]
        if member.regex:
            self.regex_counts[member.regex] -= 1
            if not self.regex_counts[member.regex]:
                del self.regex_counts[member.regex]
        self.classic_count -= member.classic is not None
        for partitions in (member.assigned, member.revoking):
            for key in _keys(partitions):
                # After compaction another member may have been seen with it already.
                if self._partition_epochs.get(key) == member.member_epoch:
                    del self._partition_epochs[key]

    def end_target(self) -> None:
        self.assignment_epoch = _NO_ASSIGNMENT_EPOCH
        self.assignment_time_ms = 0


def _keys(partitions: Partitions) -> Iterable[tuple[bytes, int]]:
    return ((topic_id, number) for topic_id, epochs in partitions.items() for number in epochs)


def _committed_at(commit_time_ms: int) -> int:
    return commit_time_ms


def _epoch_name(member: ConsumerMember) -> str:
    return "member epoch" if member.classic is None else "generation id"


def _stale(member: ConsumerMember, message: str) -> KafkaError:
    code = ErrorCode.STALE_MEMBER_EPOCH if member.classic is None else ErrorCode.ILLEGAL_GENERATION
    return KafkaError(code, message)


def _epoch_check(member: ConsumerMember, generation: int) -> Callable[[str, bytes, int], None]:
    """An older epoch still counts for what the member has had since then."""

    def check(topic: str, topic_id: bytes, partition: int) -> None:
        epoch = member.epoch_of(topic_id, partition)
        if epoch is None:
            raise _stale(member, f"Partition {topic}-{partition} is not assigned or pending revocation for member.")
        if generation < epoch:
            raise _stale(
                member,
                f"Received {_epoch_name(member)} {generation} is older than assignment epoch {epoch} for partition {topic}-{partition}.",
            )

    return check
