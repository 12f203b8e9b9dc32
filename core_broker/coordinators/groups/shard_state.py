"""The groups and offsets of one partition of the offsets topic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from barnabas.wire.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from barnabas.wire.records.group_offsets import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from barnabas.wire.struct import Message
from core_broker.coordinators.groups.classic_group import ClassicGroup
from core_broker.coordinators.groups.classic_protocol import ClassicProtocol
from core_broker.coordinators.groups.cluster import Cluster
from core_broker.coordinators.groups.consumer_side import ConsumerSide
from core_broker.coordinators.groups.group import Group
from core_broker.coordinators.groups.group_offsets import GroupOffsets
from core_broker.coordinators.groups.offset_store import CommittedOffset, OffsetStore, TopicPartition
from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.groups.transactional_commits import commit_transactional_offsets
from core_broker.coordinators.record import NOT_TRANSACTIONAL
from core_broker.coordinators.shard import Shard


class GroupShardState:
    """What the records come to: `groups` by their ids, of every type, and `offsets`.

    `classic` and `commits` serve requests: they write records, and what the records say comes true in `replay` alone.
    """

    def __init__(self, shard: Shard[GroupShardState], surroundings: Surroundings) -> None:
        self.shard = shard
        self.surroundings = surroundings
        self.groups: dict[str, Group] = {}
        self.offsets = OffsetStore()
        self.classic = ClassicProtocol(surroundings, self.groups, shard.write)
        self.commits = GroupOffsets(
            surroundings, self.groups, self.offsets, shard.write, shard.write_ready, self._apply_offset
        )
        self.consumers: ConsumerSide | None = None
        self._replayers: dict[type[Message], Callable[[Any, Any], None]] = {GroupMetadataKey: self._replay_group}

    def serve_consumers(self, cluster: Cluster) -> None:
        """Groups of the consumer protocol are served too, and classic groups may become such."""
        self.consumers = ConsumerSide(
            self.groups, self.surroundings, cluster, self.shard.write, self.classic.begin_rebalance
        )
        self.classic.host = self.consumers.classic_calls
        self._replayers.update(self.consumers.replayers)

    def replay(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        """Applies a record."""
        if isinstance(key, (OffsetCommitKey, LegacyOffsetCommitKey)):
            self._replay_offset(offset, producer_id, key, value)
            return
        replayer = self._replayers.get(type(key))
        if replayer is not None:
            replayer(key, value)

    def _replay_offset(
        self, record_offset: int, producer_id: int, key: OffsetCommitKey | LegacyOffsetCommitKey, value: Message | None
    ) -> None:
        where = TopicPartition(key.topic, key.partition)
        if value is None:
            self.offsets.remove(key.group, where)
            return
        self._apply_offset(producer_id, key.group, where, _committed(record_offset, value))

    def _apply_offset(self, producer_id: int, group_id: str, where: TopicPartition, committed: CommittedOffset) -> None:
        if group_id not in self.groups:
            # Offsets without members: somebody assigns partitions and only keeps offsets here.
            self.groups[group_id] = self.classic.new_group(group_id)
        if producer_id == NOT_TRANSACTIONAL.producer_id:
            self.offsets.put(group_id, where, committed)
        else:
            self.offsets.put_pending(producer_id, group_id, where, committed)

    def _replay_group(self, key: GroupMetadataKey, value: GroupMetadataValue | None) -> None:
        """A generation of a classic group, or its end."""
        group = self.groups.get(key.group)
        if value is None:
            if group is not None:
                del self.groups[key.group]
                group.deactivate()
            return
        if not isinstance(group, ClassicGroup):
            group = self.groups[key.group] = self.classic.new_group(key.group)
        group.apply(value)

    def replay_marker(self, producer_id: int, commits: bool) -> None:
        """Ends a transaction."""
        self.offsets.end(producer_id, commits=commits)

    def commit_transactional_offsets(
        self, request: TxnOffsetCommitRequest, version: int, answer: Callable[[TxnOffsetCommitResponse], None]
    ) -> None:
        """Keeps offsets that count when the producer's transaction commits. Every partition gets a code of its own."""
        commit_transactional_offsets(self.commits, request, version, answer)

    def activate(self) -> None:
        """Starts the timers of members."""
        for group in list(self.groups.values()):
            if isinstance(group, ClassicGroup):
                self.classic.activate(group)
            else:
                group.activate()

    def deactivate(self) -> None:
        """Stops them."""
        for group in self.groups.values():
            group.deactivate()


def _committed(record_offset: int, value: Message) -> CommittedOffset:
    if isinstance(value, LegacyOffsetCommitValue):
        return CommittedOffset(record_offset, value.offset, -1, value.metadata, value.commit_timestamp, None, bytes(16))
    assert isinstance(value, OffsetCommitValue)
    return CommittedOffset(
        record_offset,
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        None if value.expire_timestamp < 0 else value.expire_timestamp,
        value.topic_id,
    )
