"""The group coordinator: which shard answers for a group."""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.group_offsets import KEYS, VALUES
from core_broker.coordinators.groups.consumer_cluster import ConsumerCluster
from core_broker.coordinators.groups.settings import GroupSettings
from core_broker.coordinators.groups.shard_state import GroupShardState
from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.internal_topic import InternalTopic
from core_broker.coordinators.shard import Schema, Shard
from core_broker.coordinators.timers import Timer
from core_broker.metadata.image import ClusterImage

if TYPE_CHECKING:
    from core_broker.broker import Broker

logger = logging.getLogger(__name__)

OFFSETS_TOPIC: Final = "__consumer_offsets"


class GroupCoordinator:
    """Owned by the event loop."""

    def __init__(self, broker: Broker) -> None:
        settings = broker.settings
        self._broker = broker
        self.timers = broker.timers
        self.settings = GroupSettings.of(settings)
        self._surroundings = Surroundings(self.settings, self.timers, broker.clock_ms, self.timers.now_ms, _new_uuid)
        self.consumers = ConsumerCluster(broker)
        self._expiry_interval_ms = settings.integer("offsets.retention.check.interval.ms")
        self._expiry: Timer | None = None
        self._expiring: asyncio.Task[None] | None = None
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
            settings.integer("offsets.load.buffer.size"),
        )

    def _new_state(self, shard: Shard[GroupShardState]) -> GroupShardState:
        state = GroupShardState(shard, self._surroundings)
        state.serve_consumers(self.consumers)
        return state

    def start(self) -> None:
        self.topic.follow()
        self._expiry = self.timers.after(self._expiry_interval_ms, self._expire_offsets)

    def close(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
        if self._expiring is not None:
            self._expiring.cancel()
        self.topic.close()

    def topics_changed(self, before: ClusterImage) -> None:
        """Topics were created, grown or deleted: the image before it is given, the broker has the one after it."""
        self.topic.follow()
        changed = self.consumers.changed_topics(before)
        for shard in self.topic.active():
            if shard.state.consumers is not None:
                shard.state.consumers.topics_changed(changed)
        after = self._broker.metadata.image.topics
        gone = {
            name for name, topic in before.topics.items() if name not in after or after[name].topic_id != topic.topic_id
        }
        if gone:
            for shard in self.topic.active():
                shard.state.commits.forget_topics(gone.__contains__, _log_failure)

    def shard_of(self, group_id: str) -> Shard[GroupShardState]:
        """The shard of a group; KafkaError when the id is empty or while nobody can answer."""
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is empty: set group.id")
        return self.lookup(group_id)

    def lookup(self, group_id: str) -> Shard[GroupShardState]:
        """As `shard_of`, also for the group without a name: requests that are older than that rule may use it."""
        if not self.topic.exists:
            raise KafkaError(ErrorCode.NOT_COORDINATOR, f"{OFFSETS_TOPIC} does not exist yet: FindCoordinator makes it")
        return self.topic.shard_of(group_id)

    def _expire_offsets(self) -> None:
        self._expiry = self.timers.after(self._expiry_interval_ms, self._expire_offsets)
        if self._expiring is None or self._expiring.done():
            self._expiring = self._broker.loop.create_task(self.expire_offsets())

    async def expire_offsets(self) -> None:
        """Deletes the offsets that are too old, and groups that have nothing left."""
        for shard in list(self.topic.active()):
            if shard.state.groups:
                shard.state.commits.expire(_log_failure)
                await asyncio.sleep(0)


def _new_uuid() -> str:
    return str(uuid.uuid4())


def _log_failure(error: KafkaError | None) -> None:
    if error is not None:
        logger.error("offsets could not be deleted: %s; they are tried again with the next that grow old", error)
