"""`barnabas topics describe`: the partitions of a topic."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection, add_form, add_topic
from barnabas.cli.cluster.offsets import EARLIEST, LATEST
from barnabas.cli.output import Column
from barnabas.cli.terminal import styles
from barnabas.client.admin.listed_offsets import list_offsets
from barnabas.client.admin.session import Session
from barnabas.wire.errors import ErrorCode, KafkaError


def add_arguments(parser: ArgumentParser) -> None:
    add_connection(parser)
    add_form(parser)
    add_topic(parser)


def run(arguments: Namespace) -> int:
    return connection.run(_describe, arguments)


async def _describe(session: Session, arguments: Namespace) -> int:
    topic = (await session.topics([arguments.topic])).get(arguments.topic)
    if topic is None or topic.error_code:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if topic is None else ErrorCode(topic.error_code)
        raise connection.explained(KafkaError(code, f"topic {arguments.topic!r}: {code.message}"))
    partitions = [(arguments.topic, entry.partition_index) for entry in topic.partitions if entry.leader_id >= 0]
    starts = await list_offsets(session, dict.fromkeys(partitions, EARLIEST))
    ends = await list_offsets(session, dict.fromkeys(partitions, LATEST))
    rows: list[tuple[Any, ...]] = []
    for entry in sorted(topic.partitions, key=lambda entry: entry.partition_index):
        start, end = (
            getattr(found.get((arguments.topic, entry.partition_index)), "offset", None) for found in (starts, ends)
        )
        count = end - start if start is not None and end is not None else None
        rows.append((entry.partition_index, entry.leader_id, entry.replica_nodes, entry.isr_nodes, start, end, count))
    columns = (
        Column("partition"),
        Column("leader", lambda leader: styles.RED if leader < 0 else None),
        Column("replicas"),
        Column("in_sync"),
        Column("first_offset"),
        Column("end_offset"),
        Column("records"),
    )
    output.write(sys.stdout, arguments.output, columns, rows)
    return 0
