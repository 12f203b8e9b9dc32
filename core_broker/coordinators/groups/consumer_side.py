"""The consumer groups of one shard, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from barnabas.wire.struct import Message
from core_broker.coordinators.groups.classic_calls import ClassicCalls
from core_broker.coordinators.groups.classic_group import ClassicGroup
from core_broker.coordinators.groups.cluster import Cluster
from core_broker.coordinators.groups.consumer_group import ConsumerGroup
from core_broker.coordinators.groups.consumer_protocol import ConsumerProtocol
from core_broker.coordinators.groups.consumer_replay import ConsumerReplay
from core_broker.coordinators.groups.group import Group
from core_broker.coordinators.groups.migration import Migration
from core_broker.coordinators.groups.rebalances import Write
from core_broker.coordinators.groups.surroundings import Surroundings


class ConsumerSide:
    """`groups` is the shard's, with groups of every type."""

    def __init__(
        self,
        groups: dict[str, Group],
        surroundings: Surroundings,
        cluster: Cluster,
        write: Write,
        begin_rebalance: Callable[[ClassicGroup], None],
    ) -> None:
        self._groups = groups
        migration = Migration(surroundings, cluster, groups, write, begin_rebalance, self._new_group)
        self.protocol = ConsumerProtocol(surroundings, cluster, write, migration, self.find)
        self.classic_calls = ClassicCalls(surroundings, cluster, write, self.protocol, migration)
        self.replayers: dict[type[Message], Callable[[Any, Any], None]] = ConsumerReplay(self).replayers()

    def _new_group(self, group_id: str) -> ConsumerGroup:
        return ConsumerGroup(group_id, self.protocol)

    def find(self, group_id: str) -> ConsumerGroup | None:
        group = self._groups.get(group_id)
        return group if isinstance(group, ConsumerGroup) else None

    def find_or_add(self, group_id: str) -> ConsumerGroup:
        """A classic group of this id is one that only offsets are known of; the offsets stay."""
        group = self._groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return group
        if group is not None:
            group.deactivate()
        added = self._groups[group_id] = self._new_group(group_id)
        return added

    def remove(self, group: ConsumerGroup) -> None:
        group.deactivate()
        del self._groups[group.group_id]

    def topics_changed(self, names: frozenset[str]) -> None:
        """Topics were created, grown or deleted: groups that subscribe to one of them look with the next heartbeat."""
        for group in self._groups.values():
            if isinstance(group, ConsumerGroup) and any(group.subscribes_to(name) for name in names):
                group.want_refresh()
