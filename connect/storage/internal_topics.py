"""The three topics that a group of workers keeps its state in: made when they are missing, else looked at."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_clients.topic_shape import TopicShape
from connect.cluster.failures import WorkerError

POLICY: Final = "cleanup.policy"
COMPACT: Final = "compact"

_logger = logging.getLogger(__name__)


class TopicUnfit(WorkerError):
    """A topic that is there and cannot hold what it should."""


async def provide(admin: Admin, config: TopicShape, others: Sequence[TopicShape]) -> None:
    """The config topic must have one partition: its order is the order of everything that was decided."""
    brokers = (await admin.cluster()).brokers
    await asyncio.gather(*(provide_topic(admin, shape, brokers) for shape in (config, *others)))
    partitions = await admin.partition_count(config.name)
    if partitions != 1:
        raise TopicUnfit(
            f"config.storage.topic={config.name} has {partitions} partitions and must have exactly 1; "
            "name another topic, or delete it and let the worker make it"
        )


async def provide_topic(admin: Admin, shape: TopicShape, brokers: int) -> None:
    if await admin.partition_count(shape.name) is None:
        await _create(admin, shape, brokers)
        return
    policy = await admin.topic_setting(shape.name, POLICY)
    if policy != COMPACT:
        raise TopicUnfit(
            f"topic {shape.name} has {POLICY}={policy}, with which what workers know would be lost in time; set it to {COMPACT}"
        )


async def _create(admin: Admin, shape: TopicShape, brokers: int) -> None:
    if shape.replication_factor > brokers:
        # As with the registry's topic: a lone broker is no mistake; a cluster that is smaller than somebody thought may be one.
        _logger.log(
            logging.INFO if brokers == 1 else logging.WARNING,
            "topic %s gets %d replicas and not %d, since there are no more brokers",
            shape.name, brokers, shape.replication_factor,
        )  # fmt: skip
        shape = replace(shape, replication_factor=brokers)
    await admin.create_topic(replace(shape, settings={**shape.settings, POLICY: COMPACT}))
    _logger.info("topic %s was created with %d partitions", shape.name, shape.partitions)
