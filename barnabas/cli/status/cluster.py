"""What is on the broker: topics, and groups with how far they are behind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from barnabas.cli.cluster.end_offsets import end_offsets
from barnabas.cli.cluster.internal_topics import is_internal
from barnabas.cli.command_error import CommandError
from barnabas.client.admin.group_admin import GroupAdmin, ListedGroup
from barnabas.client.admin.session import Session
from barnabas.client.client_error import ClientError
from barnabas.kernel.java.java_exceptions import JavaFailure
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from core_broker.disk_space import NEARLY_FULL_BYTES, size_text

ASK_TIMEOUT_MS: Final = 5_000
GROUPS_MAX: Final = 200
"""Groups that are asked how far they are; the others are only counted."""
LAGS_TIME_MS: Final = 5_000
"""For all groups together: no more are asked after it. One that is between two coordinators, or partitions between two leaders, may take
as long as a request."""


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """`lag` counts the records behind the committed offsets, or behind what a running sink connector has read; None if there are none in
    topics that exist, or they were not looked at."""

    group: str
    protocol: str
    state: str
    lag: int | None


@dataclass(frozen=True, slots=True)
class LogDirStatus:
    """A directory of a broker's logs. Sizes are None where the broker does not report them."""

    broker: int
    directory: str
    is_writable: bool
    free_bytes: int | None
    total_bytes: int | None

    @property
    def problem(self) -> str | None:
        if self.is_writable:
            return None
        if self.free_bytes is not None and self.free_bytes < NEARLY_FULL_BYTES:
            return f"disk full: {self.directory}: {size_text(self.free_bytes)} free"
        return f"the broker cannot write to {self.directory}; its log says why"

    @property
    def warning(self) -> str | None:
        if not self.is_writable or self.free_bytes is None or self.free_bytes >= NEARLY_FULL_BYTES:
            return None
        return f"disk nearly full: {self.directory}: {size_text(self.free_bytes)} free"


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """`internal` are the topics that belong to the broker and the services; `log_dirs` is empty where they may not be seen."""

    cluster_id: str | None
    brokers: int
    topics: int
    internal: int
    partitions: int
    offline: int
    groups: tuple[GroupStatus, ...]
    log_dirs: tuple[LogDirStatus, ...] = ()

    @property
    def problem(self) -> str | None:
        """What keeps brokers from working as they should; None if nothing does."""
        found = [f"{self.offline} partitions have no leader"] if self.offline else []
        return "; ".join([*found, *(one.problem for one in self.log_dirs if one.problem)]) or None

    @property
    def warning(self) -> str | None:
        return "; ".join([one.warning for one in self.log_dirs if one.warning]) or None

    def with_lags(self, known: Mapping[str, int]) -> ClusterStatus:
        """Lags that are known better than from committed offsets, by group."""
        groups = [replace(group, lag=known.get(group.group, group.lag)) for group in self.groups]
        return replace(self, groups=_in_order(groups))


def cluster_status(bootstrap: str) -> ClusterStatus:
    """Raise CommandError when no broker answers."""
    try:
        return asyncio.run(_ask(bootstrap))
    except KafkaError as error:
        raise CommandError(error.message) from None
    except (ClientError, JavaFailure) as error:
        raise CommandError(error.message) from None


async def _ask(bootstrap: str) -> ClusterStatus:
    from barnabas.cli.cluster.connection import check_reachable

    await check_reachable(bootstrap)
    limits = {"default.api.timeout.ms": str(ASK_TIMEOUT_MS), "request.timeout.ms": str(ASK_TIMEOUT_MS)}
    async with Session.open(bootstrap, None, limits) as session:
        metadata = await session.metadata()
        named = [topic for topic in metadata.topics if topic.name is not None]
        internal = [topic for topic in named if is_internal(topic)]
        partitions = [partition for topic in named for partition in topic.partitions]
        return ClusterStatus(
            metadata.cluster_id,
            len(metadata.brokers),
            len(named) - len(internal),
            len(internal),
            len(partitions),
            sum(partition.leader_id < 0 for partition in partitions),
            _in_order(await _groups(session)),
            tuple([found for broker in metadata.brokers for found in await _log_dirs(session, broker.node_id)]),
        )


async def _log_dirs(session: Session, broker: int) -> list[LogDirStatus]:
    # No topics: how much each partition takes is not shown, and there may be thousands.
    request = DescribeLogDirsRequest(topics=[])
    try:
        answer = await session.send(request, DescribeLogDirsResponse, node=broker, call="describeLogDirs")
    except (KafkaError, JavaFailure):
        # A broker that has just gone, or is too old.
        return []
    return [
        LogDirStatus(
            broker,
            found.log_dir,
            found.error_code != ErrorCode.KAFKA_STORAGE_ERROR,
            None if found.usable_bytes < 0 else found.usable_bytes,
            None if found.total_bytes < 0 else found.total_bytes,
        )
        for found in answer.results
    ]


async def _groups(session: Session) -> list[GroupStatus]:
    admin = GroupAdmin(session)
    listed = sorted(await admin.list_groups(), key=lambda group: group.group_id)
    found = []
    deadline_s = time.monotonic() + LAGS_TIME_MS / 1000
    for place, group in enumerate(listed):
        is_asked = place < GROUPS_MAX and time.monotonic() < deadline_s
        lag = await _lag(session, admin, group) if is_asked else None
        found.append(GroupStatus(group.group_id, group.protocol_type or group.type, group.state, lag))
    return found


def _in_order(groups: Iterable[GroupStatus]) -> tuple[GroupStatus, ...]:
    """Those that are furthest behind come first."""
    return tuple(sorted(groups, key=lambda group: (-(group.lag or 0), group.group)))


async def _lag(session: Session, admin: GroupAdmin, group: ListedGroup) -> int | None:
    try:
        committed = await admin.committed(group.group_id)
        ends = await end_offsets(session, committed)
    except (KafkaError, JavaFailure):
        # A group, or a topic of its, may go while it is looked at.
        return None
    behind = [max(0, ends[place] - offset.offset) for place, offset in committed.items() if place in ends]
    return sum(behind) if behind else None
