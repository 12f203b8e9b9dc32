"""DescribeLogDirs (key 35), versions 1 to 5: how much each partition takes on disk.

v2 flexible; v3 an error for the whole; v4 the size of the disk; v5 cordoned directories.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from core_broker.configs.log import log_directory
from core_broker.context import RequestContext
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


class Wanted(NamedTuple):
    topic: str
    partitions: Iterable[int]


async def handle(broker: Broker, context: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    if not broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
        return DescribeLogDirsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    topics = broker.metadata.image.topics
    if request.topics is None:
        wanted = [Wanted(name, range(len(topic.partitions))) for name, topic in topics.items()]
    else:
        wanted = [
            Wanted(
                asked.topic, [index for index in asked.partitions if 0 <= index < len(topics[asked.topic].partitions)]
            )
            for asked in request.topics
            if asked.topic in topics
        ]
    result = await asyncio.to_thread(_measure, log_directory(broker.settings), wanted)
    if (await broker.disk_health.look()).problem is not None:
        # As Kafka reports a directory that it cannot write to; sizes are in it nevertheless: they say what takes the space.
        result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
    return DescribeLogDirsResponse(results=[result])


def _measure(directory: Path, wanted: list[Wanted]) -> DescribeLogDirsResult:
    """Looks at the files, on a thread of its own: there may be many, and the disk may be slow."""
    try:
        disk = os.statvfs(directory)
    except OSError:
        return DescribeLogDirsResult(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=str(directory))
    return DescribeLogDirsResult(
        log_dir=str(directory),
        topics=[
            DescribeLogDirsTopic(
                name=topic,
                partitions=[
                    DescribeLogDirsPartition(
                        partition_index=index, partition_size=_size_bytes(directory / f"{topic}-{index}")
                    )
                    for index in partitions
                ],
            )
            for topic, partitions in wanted
        ],
        total_bytes=disk.f_blocks * disk.f_frsize,
        usable_bytes=disk.f_bavail * disk.f_frsize,
    )


def _size_bytes(folder: Path) -> int:
    """The bytes in the segments of a partition; one that was never written to has no folder yet."""
    try:
        with os.scandir(folder) as files:
            return sum(file.stat().st_size for file in files if file.name.endswith(".log"))
    except FileNotFoundError:
        return 0
