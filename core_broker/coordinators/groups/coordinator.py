"""The group coordinator: which shard answers for a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.group_offsets import KEYS, VALUES
from core_broker.coordinators.groups.shard_state import GroupShardState
from core_broker.coordinators.internal_topic import InternalTopic
from core_broker.coordinators.shard import Schema, Shard
from core_broker.coordinators.timers import LoopTimers
from core_broker.metadata.image import ClusterImage

if TYPE_CHECKING:
    from core_broker.broker import Broker

OFFSETS_TOPIC: Final = "__consumer_offsets"


class GroupCoordinator:
    """Owned by the event loop."""

    def __init__(self, broker: Broker) -> None:
        settings = broker.settings
        self._broker = broker
        self.timers = LoopTimers(broker.loop)
        self.topic: InternalTopic[GroupShardState] = InternalTopic(
            broker,
            OFFSETS_TOPIC,
            settings.integer("offsets.topic.num.partitions"),
            {
                "cleanup.policy": "compact",
                "compression.type": "producer",
                "segment.bytes": str(settings.integer("offsets.topic.segment.bytes")),
            },
            Schema(KEYS, VALUES),
            self._new_state,
        )

    def _new_state(self, shard: Shard[GroupShardState]) -> GroupShardState:
        return GroupShardState(shard, self.timers, self._broker.clock_ms)

    def start(self) -> None:
        self.topic.follow()

    def close(self) -> None:
        self.topic.close()

    def topics_changed(self, before: ClusterImage) -> None:
        """Topics were created, grown or deleted: the image before it is given, the broker has the one after it."""
        self.topic.follow()

    def shard_of(self, group_id: str) -> Shard[GroupShardState]:
        """The shard of a group; KafkaError when the id is empty or while nobody can answer."""
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is empty: set group.id")
        return self.topic.shard_of(group_id)
