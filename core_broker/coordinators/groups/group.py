"""What every kind of group has: the part that offsets, listings and deletion ask for."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from core_broker.coordinators.record import CoordinatorRecord


class GroupType(Enum):
    """Kinds of groups, by the names that ListGroups gives them."""

    CLASSIC = "classic"
    CONSUMER = "consumer"


ExpiryBase = Callable[[int], int]
"""From when on an offset grows old, given when it was committed; both in milliseconds since 1970."""


PartitionCheck = Callable[[str, bytes, int], None]
"""Whether one partition's offset may be committed: topic name, topic id, number. Raises the KafkaError for that partition."""


class Group(Protocol):
    """A group of members that share offsets. What changes is seen here at once; what is checked raises KafkaError."""

    @property
    def group_id(self) -> str: ...

    @property
    def type(self) -> GroupType: ...

    @property
    def protocol_type(self) -> str:
        """ "consumer", "connect" or what else the members call themselves; empty when nobody has ever joined."""

    @property
    def state_name(self) -> str:
        """As DescribeGroups and ListGroups write it."""

    @property
    def is_empty(self) -> bool:
        """Whether there are no members."""

    def check_offset_commit(
        self, member_id: str, instance_id: str | None, generation: int, *, transactional: bool, version: int
    ) -> PartitionCheck | None:
        """Whether this member may commit offsets now. `version` is the request's. What it returns, if anything, decides for each
        partition on its own."""

    def check_offset_fetch(self, member_id: str | None, generation: int) -> None:
        """Whether this member may ask for offsets now."""

    def check_offset_delete(self) -> None:
        """Whether offsets may be deleted by an operator now; of topics that `subscribes_to` they may not even then."""

    def check_delete(self) -> None:
        """Whether the group may be deleted now."""

    def subscribes_to(self, topic: str) -> bool:
        """Whether members may be consuming a topic; True when that cannot be known."""

    def offset_expiry(self) -> ExpiryBase | None:
        """How the offsets of topics that it does not subscribe to grow old; None: they do not, at the moment."""

    def tombstones(self) -> list[CoordinatorRecord]:
        """The records that delete the group, not its offsets."""

    def activate(self) -> None:
        """The log has been replayed: timers of members start."""

    def deactivate(self) -> None:
        """The group or its shard goes away: no timer may call any more, and who waits for an answer gets one."""
