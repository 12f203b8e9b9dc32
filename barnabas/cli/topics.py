"""`barnabas topics`: list, describe, create, delete."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any, Final

from barnabas.cli import cluster, output, terminal
from barnabas.cli.confirmation import confirm
from barnabas.cli.internal_topics import is_internal
from barnabas.cli.output import Column
from barnabas.cli.pairs import parse_pairs
from barnabas.client.admin.session import Session
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.errors import ErrorCode, KafkaError

BROKER_DEFAULT: Final = -1
EARLIEST: Final = -2
LATEST: Final = -1


def run(arguments: Namespace) -> int:
    works = {"list": _list, "describe": _describe, "create": _create, "delete": _delete}
    return cluster.run(works[arguments.action], arguments)


async def _list(session: Session, arguments: Namespace) -> int:
    answer = await session.metadata()
    shown = sorted(
        (topic for topic in answer.topics if arguments.internal or not is_internal(topic)),
        key=lambda topic: topic.name or "",
    )
    rows = [
        (topic.name, len(topic.partitions), len(topic.partitions[0].replica_nodes) if topic.partitions else 0)
        for topic in shown
    ]
    columns = (Column("name"), Column("partitions"), Column("replication"))
    output.write(sys.stdout, arguments.output, columns, rows)
    return 0


async def _describe(session: Session, arguments: Namespace) -> int:
    from barnabas.client.admin.listed_offsets import list_offsets

    topic = (await session.topics([arguments.topic])).get(arguments.topic)
    if topic is None or topic.error_code:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if topic is None else ErrorCode(topic.error_code)
        raise cluster.explained(KafkaError(code, f"topic {arguments.topic!r}: {code.message}"))
    places = [(arguments.topic, entry.partition_index) for entry in topic.partitions if entry.leader_id >= 0]
    starts = await list_offsets(session, dict.fromkeys(places, EARLIEST))
    ends = await list_offsets(session, dict.fromkeys(places, LATEST))
    rows: list[tuple[Any, ...]] = []
    for entry in sorted(topic.partitions, key=lambda entry: entry.partition_index):
        start, end = (
            getattr(found.get((arguments.topic, entry.partition_index)), "offset", None) for found in (starts, ends)
        )
        count = end - start if start is not None and end is not None else None
        rows.append((entry.partition_index, entry.leader_id, entry.replica_nodes, entry.isr_nodes, start, end, count))
    columns = (
        Column("partition"),
        Column("leader", lambda leader: terminal.RED if leader < 0 else None),
        Column("replicas"),
        Column("in_sync"),
        Column("first_offset"),
        Column("end_offset"),
        Column("records"),
    )
    output.write(sys.stdout, arguments.output, columns, rows)
    return 0


async def _create(session: Session, arguments: Namespace) -> int:
    from barnabas.wire.messages.create_topics import (
        CreatableTopic,
        CreatableTopicConfig,
        CreateTopicsRequest,
        CreateTopicsResponse,
    )

    configs = parse_pairs(arguments.set)
    topic = CreatableTopic(
        name=arguments.topic,
        num_partitions=arguments.partitions or BROKER_DEFAULT,
        replication_factor=arguments.replication_factor or BROKER_DEFAULT,
        configs=[CreatableTopicConfig(name=name, value=value) for name, value in configs.items()],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=session.config.request_timeout_ms)
    result = (await session.send_to_controller(request, CreateTopicsResponse)).topics[0]
    if result.error_code:
        raise error_of(result.error_code, result.error_message)
    output.report(arguments.output, {"topic": arguments.topic, "result": "created"}, f"created topic {arguments.topic}")
    return 0


async def _delete(session: Session, arguments: Namespace) -> int:
    from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState

    names = list(dict.fromkeys(arguments.topics))
    if not arguments.yes:
        confirm(f"delete {', '.join(names)} with all records?")
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name) for name in names],
        topic_names=names,
        timeout_ms=session.config.request_timeout_ms,
    )
    failures, deleted = [], []
    for result in (await session.send_to_controller(request, DeleteTopicsResponse)).responses:
        if result.error_code:
            failures.append((f"topic {result.name}", error_of(result.error_code, result.error_message)))
        else:
            deleted.append(result.name)
    results = [{"topic": name, "result": "deleted"} for name in deleted]
    output.report(arguments.output, results, *[f"deleted topic {name}" for name in deleted])
    cluster.raise_for(failures)
    return 0
