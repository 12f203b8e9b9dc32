"""`barnabas groups reset`: show where the offsets of a group would go; with --execute, commit them."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection
from datetime import datetime

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection, add_form, add_group
from barnabas.cli.cluster.offsets import EARLIEST, LATEST, parse_offset
from barnabas.cli.command_error import CommandError
from barnabas.cli.output import Column
from barnabas.cli.terminal import styles
from barnabas.client.admin.group_admin import GroupAdmin
from barnabas.client.admin.listed_offsets import Offset, list_offsets
from barnabas.client.admin.session import Session
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.wire.errors import ErrorCode, KafkaError


def add_arguments(parser: ArgumentParser) -> None:
    add_connection(parser)
    add_form(parser)
    add_group(parser)
    parser.add_argument(
        "--to",
        required=True,
        metavar="PLACE",
        help="beginning (earliest), end (latest), an offset, or a time: 2026-01-31T12:00",
    )
    parser.add_argument(
        "--topic", action="append", default=[], metavar="TOPIC", help="only this topic; may be repeated"
    )
    parser.add_argument("--execute", action="store_true", help="do it; without this flag, it is only shown")


def run(arguments: Namespace) -> int:
    return connection.run(_reset, arguments)


async def _reset(session: Session, arguments: Namespace) -> int:
    admin = GroupAdmin(session)
    committed = await admin.committed(arguments.group)
    topics = arguments.topic or sorted({partition.topic for partition in committed})
    if not topics:
        raise CommandError(f"group {arguments.group} has no offsets", "Name the topics to set them for with --topic.")
    described = await session.topics(topics)
    for name in topics:
        if name not in described or described[name].error_code:
            raise connection.explained(KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name!r}"))
    partitions = [
        TopicPartition(name, entry.partition_index) for name in topics for entry in described[name].partitions
    ]
    targets = await _targets(session, sorted(partitions), arguments.to)
    rows = [
        (partition.topic, partition.partition, committed[partition].offset if partition in committed else None, target)
        for partition, target in sorted(targets.items())
    ]
    columns = (Column("topic"), Column("partition"), Column("offset"), Column("new_offset", lambda _: styles.CYAN))
    if arguments.execute:
        await admin.commit(arguments.group, targets)
    output.write(sys.stdout, arguments.output, columns, rows)
    if not arguments.execute:
        print("Nothing has changed yet: --execute sets these offsets.", file=sys.stderr)
    return 0


async def _targets(session: Session, partitions: Collection[TopicPartition], to: str) -> dict[TopicPartition, int]:
    """The offsets that an offset or a time stands for, inside of each log."""
    wanted = parse_offset(to)
    starts, ends = await _log_offsets(session, partitions, EARLIEST), await _log_offsets(session, partitions, LATEST)
    if wanted == EARLIEST:
        return starts
    if wanted == LATEST:
        return ends
    if wanted is not None:
        return {partition: min(max(wanted, starts[partition]), ends[partition]) for partition in starts}
    found = await _log_offsets(session, partitions, _moment_ms(to))
    return {partition: found[partition] if found.get(partition, -1) >= 0 else ends[partition] for partition in starts}


def _moment_ms(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        raise CommandError(
            f"invalid --to {text!r}",
            "Use beginning, end, an offset, or a time as 2026-01-31T12:00:00.",
            2,
        ) from None


async def _log_offsets(
    session: Session, partitions: Collection[TopicPartition], time: int
) -> dict[TopicPartition, int]:
    if not partitions:
        return {}
    answers = await list_offsets(
        session, dict.fromkeys([(partition.topic, partition.partition) for partition in partitions], time)
    )
    return {
        TopicPartition(*partition): answer.offset for partition, answer in answers.items() if isinstance(answer, Offset)
    }
