"""Where a worker keeps what it knows: in the topics of its group, or alone in memory and a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from barnabas.kernel.kafka_clients.topic_shape import TopicShape
from barnabas.kernel.kafka_log.log import Apply, ConfigLog, Log, MemoryLog
from barnabas.kernel.kafka_log.topic_log import LeaderLog, LogClients, TopicLog
from connect.worker.internal_topics import provide, provide_topic
from connect.worker.offset_store import FileOffsets, OffsetStore, TopicOffsets


@dataclass(frozen=True, slots=True)
class Stores:
    config_log: ConfigLog
    status_log: Log
    offsets: OffsetStore

    async def start(self) -> None:
        """Statuses after configs, so that it is known what they are about."""
        await self.config_log.start()
        await self.status_log.start()
        await self.offsets.start()

    async def stop(self) -> None:
        await asyncio.gather(self.offsets.stop(), self.status_log.stop(), self.config_log.stop())


@dataclass(frozen=True, slots=True)
class Appliers:
    """What takes the records of the logs."""

    configs: Apply
    statuses: Apply


@dataclass(frozen=True, slots=True)
class TopicShapes:
    config: TopicShape
    offsets: TopicShape
    status: TopicShape


async def in_topics(
    clients: LogClients, shapes: TopicShapes, group_id: str, appliers: Appliers, on_fenced: Callable[[], None]
) -> Stores:
    """Those of a group of workers; topics that are missing are created. TopicUnfit."""
    admin = clients.admin
    await provide(admin, shapes.config, (shapes.offsets, shapes.status))

    async def provide_offsets(topic: str) -> None:
        await provide_topic(admin, replace(shapes.offsets, name=topic), (await admin.cluster()).brokers)

    return Stores(
        LeaderLog(shapes.config.name, f"connect-cluster-{group_id}", clients, appliers.configs, on_fenced),
        TopicLog(shapes.status.name, clients, appliers.statuses),
        TopicOffsets(shapes.offsets.name, clients, provide_offsets),
    )


def alone(offsets_file: Path, appliers: Appliers) -> Stores:
    """Those of a standalone worker."""
    return Stores(MemoryLog(appliers.configs), MemoryLog(appliers.statuses), FileOffsets(offsets_file))
