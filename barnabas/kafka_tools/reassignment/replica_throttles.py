"""The throttles of partitions that move between brokers or log directories: set at the start, taken back at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from barnabas.client.admin.described_configs import BROKER, TOPIC
from barnabas.client.admin.reassignments import Reassignment
from barnabas.client.admin.session import Session
from barnabas.kafka_tools.reassignment.reassignment_plan import Partition
from barnabas.kernel.java.hash_map import hash_map_order
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

LEADER_RATE: Final = "leader.replication.throttled.rate"
FOLLOWER_RATE: Final = "follower.replication.throttled.rate"
FOLDER_RATE: Final = "replica.alter.log.dirs.io.max.bytes.per.second"
LEADER_REPLICAS: Final = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS: Final = "follower.replication.throttled.replicas"

_SET: Final = 0
_DELETE: Final = 1


async def clear(session: Session, partitions: Iterable[tuple[Partition, Sequence[int]]]) -> None:
    """Takes back the throttles of every broker and of the topics, and says so."""
    listed = list(partitions)
    alive = set((await session.cluster()).nodes)
    brokers = sorted(alive | {broker for _, replicas in listed for broker in replicas})
    print(f"Clearing broker-level throttles on broker{_s(brokers)} {','.join(map(str, brokers))}")
    for broker in brokers:
        if broker in alive:
            await _alter(session, BROKER, str(broker), {LEADER_RATE: None, FOLLOWER_RATE: None, FOLDER_RATE: None})
    topics = hash_map_order(sorted({topic for (topic, _), _ in listed}))
    print(f"Clearing topic-level throttles on topic{_s(topics)} {','.join(topics)}")
    for topic in topics:
        await _alter(session, TOPIC, topic, {LEADER_REPLICAS: None, FOLLOWER_REPLICAS: None})


async def limit_moves(
    session: Session,
    ongoing: Mapping[Partition, Reassignment],
    proposed: Mapping[Partition, Sequence[int]],
    current: Mapping[Partition, Sequence[int]],
    bytes_per_second: int,
) -> None:
    """Throttles everything that moves between brokers, the moves of before included."""
    moves: dict[Partition, tuple[set[int], set[int]]] = {}
    for partition, move in ongoing.items():
        moves[partition] = (set(move.replicas) - set(move.adding), set(move.adding))
    for partition, replicas in proposed.items():
        sources = moves[partition][0] if partition in moves else set(current[partition])
        moves[partition] = (sources, set(replicas) - sources)
    for topic in sorted({topic for topic, _ in moves}):
        own = {index: move for (name, index), move in moves.items() if name == topic}
        leaders = sorted(f"{index}:{broker}" for index, (sources, _) in own.items() for broker in sources)
        followers = sorted(f"{index}:{broker}" for index, (_, targets) in own.items() for broker in targets)
        throttled = {LEADER_REPLICAS: ",".join(leaders), FOLLOWER_REPLICAS: ",".join(followers)}
        await _alter(session, TOPIC, topic, throttled)
    for broker in sorted({broker for sources, targets in moves.values() for broker in sources | targets}):
        rate = str(bytes_per_second)
        await _alter(session, BROKER, str(broker), {LEADER_RATE: rate, FOLLOWER_RATE: rate})
    print(f"The inter-broker throttle limit was set to {bytes_per_second} B/s")


async def limit_folders(session: Session, brokers: Iterable[int], bytes_per_second: int) -> None:
    for broker in sorted(set(brokers)):
        await _alter(session, BROKER, str(broker), {FOLDER_RATE: str(bytes_per_second)})
    print(f"The replica-alter-dir throttle limit was set to {bytes_per_second} B/s")


async def _alter(session: Session, resource_type: int, name: str, values: Mapping[str, str | None]) -> None:
    """Sets values; None takes one back."""
    changes = [
        AlterableConfig(name=key, config_operation=_DELETE if value is None else _SET, value=value)
        for key, value in values.items()
    ]
    resource = AlterConfigsResource(resource_type=resource_type, resource_name=name, configs=changes)
    answer = await session.send(
        IncrementalAlterConfigsRequest(resources=[resource]),
        IncrementalAlterConfigsResponse,
        node=int(name) if resource_type == BROKER else None,
        check=lambda found: found.responses[0].error_code,
    )
    result = answer.responses[0]
    if result.error_code:
        raise error_of(result.error_code, result.error_message)


def _s(items: Sequence[object]) -> str:
    return "" if len(items) == 1 else "s"
