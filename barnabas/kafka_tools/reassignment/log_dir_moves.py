"""Moves of replicas between the log directories of a broker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from barnabas.client.admin.session import Session
from barnabas.kafka_tools.reassignment.reassignment_plan import Replica
from barnabas.kafka_tools.shell.exits import ToolError
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.errors import ErrorCode

PAUSE_MS: Final = 100


@dataclass(frozen=True, slots=True)
class Place:
    """The log directory of a replica, and the one to which it is being moved."""

    current: str | None = None
    future: str | None = None


def _broker_first(replica: Replica) -> tuple[int, str, int]:
    return replica[2], replica[0], replica[1]


async def show(session: Session, wanted: Mapping[Replica, str]) -> bool:
    """Says how far the moves are; True if one is still going on."""
    places = await find(session, wanted)
    lines = [_line(replica, wanted[replica], places.get(replica)) for replica in sorted(wanted, key=_broker_first)]
    print("\n".join(lines))
    return any(place.future is not None for place in places.values())


def _line(replica: Replica, target: str, place: Place | None) -> str:
    topic, index, broker = replica
    what = f"Partition {topic}-{index}"
    if place is None:
        return f"{what} cannot be found in any live log directory on broker {broker}."
    if place.current is None:
        return (
            f"{what} is not found in any live log dir on broker {broker}. "
            "There is likely an offline log directory on the broker."
        )
    if place.future == target:
        return f"Reassignment of replica {topic}-{index}-{broker} is still in progress."
    if place.future is not None:
        return f"{what} on broker {broker} is being moved to log dir {place.future} instead of {target}."
    if place.current == target:
        return f"Reassignment of replica {topic}-{index}-{broker} completed successfully."
    return f"{what} on broker {broker} is not being moved from log dir {place.current} to {target}."


async def find(session: Session, replicas: Iterable[Replica]) -> dict[Replica, Place]:
    """Where replicas are; those of brokers that are away are left out."""
    from barnabas.wire.messages.describe_log_dirs import (
        DescribableLogDirTopic,
        DescribeLogDirsRequest,
        DescribeLogDirsResponse,
    )

    listed = list(replicas)
    alive = (await session.cluster()).nodes if listed else {}
    found: dict[Replica, Place] = {}
    for broker in sorted({broker for _, _, broker in listed if broker in alive}):
        own = [replica for replica in listed if replica[2] == broker]
        found |= dict.fromkeys(own, Place())
        topics: dict[str, list[int]] = {}
        for topic, index, _ in own:
            topics.setdefault(topic, []).append(index)
        request = DescribeLogDirsRequest(
            topics=[DescribableLogDirTopic(topic=topic, partitions=indexes) for topic, indexes in topics.items()]
        )
        answer = await session.send(request, DescribeLogDirsResponse, node=broker)
        for result in answer.results:
            for told in result.topics:
                for part in told.partitions:
                    replica = (told.name, part.partition_index, broker)
                    before = found.get(replica, Place())
                    future = Place(before.current, result.log_dir)
                    found[replica] = future if part.is_future_key else Place(result.log_dir, before.future)
    return found


async def start(session: Session, wanted: Mapping[Replica, str], timeout_ms: int) -> None:
    """Asks brokers to move replicas, again while the replicas do not exist yet."""
    pending = dict(wanted)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_ms / 1000
    while True:
        for replica in sorted(await _started(session, pending), key=_broker_first):
            topic, index, broker = replica
            folder = pending.pop(replica)
            print(
                f"Successfully started moving log directory to {folder} for replica {topic}-{index} with broker {broker} "
            )
        if not pending:
            return
        if loop.time() >= deadline:
            names = ",".join("-".join(map(str, replica)) for replica in sorted(pending, key=_broker_first))
            raise ToolError(
                f"Timed out before log directory move{'' if len(pending) == 1 else 's'} could be started for: {names}"
            )
        await asyncio.sleep(PAUSE_MS / 1000)


async def _started(session: Session, wanted: Mapping[Replica, str]) -> list[Replica]:
    from barnabas.wire.messages.alter_replica_log_dirs import (
        AlterReplicaLogDir,
        AlterReplicaLogDirsRequest,
        AlterReplicaLogDirsResponse,
        AlterReplicaLogDirTopic,
    )

    started = []
    for broker in sorted({broker for _, _, broker in wanted}):
        folders: dict[str, dict[str, list[int]]] = {}
        for (topic, index, owner), folder in wanted.items():
            if owner == broker:
                folders.setdefault(folder, {}).setdefault(topic, []).append(index)
        request = AlterReplicaLogDirsRequest(
            dirs=[
                AlterReplicaLogDir(
                    path=folder,
                    topics=[AlterReplicaLogDirTopic(name=name, partitions=found) for name, found in topics.items()],
                )
                for folder, topics in folders.items()
            ]
        )
        answer = await session.send(request, AlterReplicaLogDirsResponse, node=broker)
        for told in answer.results:
            for part in told.partitions:
                replica = (told.topic_name, part.partition_index, broker)
                if part.error_code and part.error_code != ErrorCode.REPLICA_NOT_AVAILABLE:
                    shown = "-".join(map(str, replica))
                    reason = error_of(part.error_code, None)
                    raise ToolError(f"Error: Failed to alter dir for {shown}\n{reason}")
                if not part.error_code:
                    started.append(replica)
    return started
