"""What `kafka-topics --describe` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from barnabas.client.admin import described_configs
from barnabas.client.admin.described_configs import DEFAULT_CONFIG, Entries
from barnabas.client.admin.reassignments import Reassignment, ongoing
from barnabas.client.admin.session import Session
from barnabas.kernel.java.hash_map import hash_map_order
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    TopicRequest,
)
from core_broker.log.meta_properties import encode_uuid

PARTITIONS_PER_RESPONSE: Final = 2000
MIN_ISR: Final = "min.insync.replicas"


@dataclass(frozen=True, slots=True)
class Report:
    """What to leave out."""

    under_replicated: bool
    unavailable: bool
    under_min_isr: bool
    at_min_isr: bool
    overrides: bool

    @property
    def whole(self) -> bool:
        return not (self.under_replicated or self.unavailable or self.under_min_isr or self.at_min_isr)


@dataclass(frozen=True, slots=True)
class Partition:
    index: int
    leader: int
    replicas: list[int]
    isr: list[int]
    elr: list[int] | None = None
    last_known_elr: list[int] | None = None


@dataclass(slots=True)
class Topic:
    name: str
    topic_id: bytes
    partitions: list[Partition] = field(default_factory=list)


async def show(session: Session, names: Sequence[str], report: Report, limit: int | None = None) -> None:
    topics = await _topics(session, names, PARTITIONS_PER_RESPONSE if limit is None else limit)
    ordered = hash_map_order(topics, len(topics))
    configs = await described_configs.describe(session, described_configs.TOPIC, ordered)
    reassignments = await _reassignments(session, topics)
    alive = set((await session.cluster()).nodes)
    for name in ordered:
        topic = topics[name]
        partitions = sorted(topic.partitions, key=lambda partition: partition.index)
        if report.whole:
            _show_topic(topic, partitions, configs[name], reassignments, report)
        if report.overrides:
            continue
        min_isr = next((int(entry.value or 1) for entry in configs[name] if entry.name == MIN_ISR), 1)
        for partition in partitions:
            reassignment = reassignments.get((name, partition.index))
            if report.whole or _is_wanted(partition, reassignment, report, alive, min_isr):
                print(_line(name, partition, reassignment))


def _show_topic(
    topic: Topic,
    partitions: Sequence[Partition],
    entries: Entries,
    reassignments: Mapping[tuple[str, int], Reassignment],
    report: Report,
) -> None:
    own = [f"{entry.name}={entry.value}" for entry in entries if entry.config_source != DEFAULT_CONFIG]
    if report.overrides and not own:
        return
    topic_id = f"\tTopicId: {encode_uuid(topic.topic_id)}" if any(topic.topic_id) else ""
    first = partitions[0]
    factor = _replication_factor(first, reassignments.get((topic.name, first.index)))
    print(
        f"Topic: {topic.name}{topic_id}\tPartitionCount: {len(partitions)}\tReplicationFactor: {factor}"
        f"\tConfigs: {','.join(own)}"
    )


def _is_wanted(
    partition: Partition, reassignment: Reassignment | None, report: Report, alive: set[int], min_isr: int
) -> bool:
    has_leader = partition.leader >= 0
    in_sync = len(partition.isr)
    return (
        (report.under_replicated and _replication_factor(partition, reassignment) > in_sync)
        or (report.unavailable and not (has_leader and partition.leader in alive))
        or (report.under_min_isr and (not has_leader or in_sync < min_isr))
        or (report.at_min_isr and in_sync == min_isr)
    )


def _line(topic: str, partition: Partition, reassignment: Reassignment | None) -> str:
    leader = str(partition.leader) if partition.leader >= 0 else "none"
    moving = ""
    if reassignment is not None:
        moving = f"\tAdding Replicas: {_ids(reassignment.adding)}\tRemoving Replicas: {_ids(reassignment.removing)}"
    return (
        f"\tTopic: {topic}\tPartition: {partition.index}\tLeader: {leader}\tReplicas: {_ids(partition.replicas)}"
        f"\tIsr: {_ids(partition.isr)}{moving}\tElr: {_ids(partition.elr)}"
        f"\tLastKnownElr: {_ids(partition.last_known_elr)}"
    )


def _ids(nodes: Sequence[int] | None) -> str:
    return "N/A" if nodes is None else ",".join(map(str, nodes))


def _replication_factor(partition: Partition, reassignment: Reassignment | None) -> int:
    """While replicas move, the number that there were before."""
    if reassignment is not None and set(partition.replicas) & {*reassignment.adding, *reassignment.removing}:
        return len(reassignment.replicas) - len(reassignment.adding)
    return len(partition.replicas)


async def _topics(session: Session, names: Sequence[str], limit: int) -> dict[str, Topic]:
    if not names:
        return {}
    connection = await session.connection()
    try:
        connection.version_of(DescribeTopicPartitionsRequest)
    except KafkaError:
        return await _topics_from_metadata(session, names)
    found: dict[str, Topic] = {}
    cursor: Cursor | None = None
    while True:
        request = DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name=name) for name in sorted(names)], response_partition_limit=limit, cursor=cursor
        )
        answer = await session.send(request, DescribeTopicPartitionsResponse, call="describeTopicPartitions")
        for one in answer.topics:
            if one.error_code:
                raise error_of(one.error_code, None)
            topic = found.setdefault(one.name or "", Topic(one.name or "", one.topic_id))
            topic.partitions += [
                Partition(
                    part.partition_index,
                    part.leader_id,
                    part.replica_nodes,
                    part.isr_nodes,
                    part.eligible_leader_replicas,
                    part.last_known_elr,
                )
                for part in one.partitions
            ]
        cursor = answer.next_cursor
        if cursor is None:
            return found


async def _topics_from_metadata(session: Session, names: Sequence[str]) -> dict[str, Topic]:
    """Brokers before 3.9 know no DescribeTopicPartitions."""
    found: dict[str, Topic] = {}
    for name, one in (await session.topics(names)).items():
        if one.error_code:
            raise error_of(one.error_code, None)
        partitions = [
            Partition(part.partition_index, part.leader_id, part.replica_nodes, part.isr_nodes)
            for part in one.partitions
        ]
        found[name] = Topic(name, one.topic_id, partitions)
    return found


async def _reassignments(session: Session, topics: Mapping[str, Topic]) -> dict[tuple[str, int], Reassignment]:
    partitions = [(name, part.index) for name, topic in topics.items() for part in topic.partitions]
    if not partitions:
        return {}
    try:
        return await ongoing(session, partitions)
    except KafkaError as error:
        if error.code in (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.CLUSTER_AUTHORIZATION_FAILED):
            return {}
        raise
