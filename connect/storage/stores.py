"""Where a worker stores what it knows: in the topics of its group, or, standalone, in memory and a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from barnabas.kernel.kafka_clients.topic_shape import TopicShape
from barnabas.kernel.kafka_log.log import Apply, Log, MemoryLog
from barnabas.kernel.kafka_log.topic_log import LeaderLog, LogClients, TopicLog
from connect.storage.config_store import ConfigStore
from connect.storage.internal_topics import provide_topic
from connect.storage.offset_store import FileOffsets, OffsetStore, TopicOffsets
from connect.storage.status_store import StatusStore


@dataclass(frozen=True, slots=True)
class Stores:
    configs: ConfigStore
    statuses: StatusStore
    offsets: OffsetStore


@dataclass(frozen=True, slots=True)
class TopicShapes:
    config: TopicShape
    offsets: TopicShape
    status: TopicShape


@asynccontextmanager
async def topic_stores(clients: LogClients, shapes: TopicShapes, group_id: str) -> AsyncIterator[Stores]:
    """Those of a group of workers, whose topics exist, read to their ends."""
    admin = clients.admin

    async def provide_offsets(topic: str) -> None:
        await provide_topic(admin, replace(shapes.offsets, name=topic), (await admin.cluster()).brokers)

    configs = ConfigStore(
        lambda apply, on_fenced: LeaderLog(shapes.config.name, f"connect-cluster-{group_id}", clients, apply, on_fenced)
    )
    statuses = StatusStore(lambda apply: TopicLog(shapes.status.name, clients, apply))
    offsets = TopicOffsets(shapes.offsets.name, clients, provide_offsets)
    async with _opened(Stores(configs, statuses, offsets)) as stores:
        yield stores


@asynccontextmanager
async def standalone_stores(offsets_file: Path) -> AsyncIterator[Stores]:
    """Those of a standalone worker."""

    def memory(apply: Apply, *_: object) -> MemoryLog:
        return MemoryLog(apply)

    offsets = await FileOffsets.open(offsets_file)
    async with _opened(Stores(ConfigStore(memory), StatusStore(memory), offsets)) as stores:
        yield stores


@asynccontextmanager
async def _opened(stores: Stores) -> AsyncIterator[Stores]:
    """Statuses are read after configs, so that it is known what they are about."""
    logs: tuple[Log, ...] = (stores.configs.log, stores.statuses.log)
    try:
        for log in logs:
            await log.start()
        yield stores
    finally:
        await asyncio.gather(stores.offsets.close(), *(log.stop() for log in logs))
