"""Asks the leaders of partitions for offsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from barnabas.client.admin.session import Session
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

READ_UNCOMMITTED: Final = 0
CLIENT_REPLICA: Final = -1
# The first version of ListOffsets that knows a special time.
_VERSIONS: Final = {-3: 7, -4: 8, -5: 9, -6: 11}

Partition = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Offset:
    """-1 as offset: there is none at this time."""

    offset: int
    timestamp: int
    leader_epoch: int


async def list_offsets(
    session: Session, times: Mapping[Partition, int], isolation_level: int = READ_UNCOMMITTED
) -> dict[Partition, Offset | KafkaError]:
    """The offset of each partition at its time, or why there is none. Leaders that move are followed."""
    found: dict[Partition, Offset | KafkaError] = {}

    async def attempt() -> None:
        missing = [partition for partition in times if partition not in found]
        leaders = await session.leaders(missing)
        retriable: KafkaError | None = None
        for node in sorted(set(leaders.values())):
            asked = {partition: times[partition] for partition in missing if leaders[partition] == node}
            for partition, result in (await _ask(session, node, asked, isolation_level)).items():
                if isinstance(result, KafkaError) and result.code.retriable:
                    retriable = result
                else:
                    found[partition] = result
        if retriable is not None:
            raise retriable

    await session.retry(attempt, "listOffsets")
    return found


async def _ask(
    session: Session, node: int, times: Mapping[Partition, int], isolation_level: int
) -> dict[Partition, Offset | KafkaError]:
    connection = await session.connection(node)
    version = connection.version_of(ListOffsetsRequest)
    results: dict[Partition, Offset | KafkaError] = {}
    topics: dict[str, list[ListOffsetsPartition]] = {}
    for (topic, index), timestamp in times.items():
        if version < _VERSIONS.get(timestamp, 0):
            message = f"Broker {node} does not support the offset spec of time {timestamp}; it is older than the tool"
            results[topic, index] = KafkaError(ErrorCode.UNSUPPORTED_VERSION, message)
        else:
            topics.setdefault(topic, []).append(ListOffsetsPartition(partition_index=index, timestamp=timestamp))
    if not topics:
        return results
    request = ListOffsetsRequest(
        replica_id=CLIENT_REPLICA,
        isolation_level=isolation_level,
        topics=[ListOffsetsTopic(name=name, partitions=asked) for name, asked in topics.items()],
        timeout_ms=session.config.request_timeout_ms,
    )
    answer = await connection.send(request, ListOffsetsResponse, timeout_ms=session.config.request_timeout_ms)
    for told in answer.topics:
        for part in told.partitions:
            results[told.name, part.partition_index] = (
                error_of(part.error_code, None)
                if part.error_code
                else Offset(part.offset, part.timestamp, part.leader_epoch)
            )
    return results
