"""What an assignor is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

Assignment = Mapping[bytes, frozenset[int]]
"""Partitions by topic id; a topic without partitions is left out."""


class MemberSpec(NamedTuple):
    instance_id: str | None
    topic_ids: frozenset[bytes]
    """Of existing topics only."""

    assigned: Assignment
    """What it has in the current target assignment."""


class GroupSpec(NamedTuple):
    members: Mapping[str, MemberSpec]
    partition_counts: Mapping[bytes, int]
    """For every topic that somebody subscribes to."""

    is_homogeneous: bool
    """Whether all members subscribe to the same topics."""


Assignor = Callable[[GroupSpec], dict[str, Assignment]]
"""Assigns every partition to one of its topic's subscribers. A member that is left out gets nothing."""
