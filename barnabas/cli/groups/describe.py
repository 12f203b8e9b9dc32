"""`barnabas groups describe`: offsets, lag and members of a group."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection, add_form, add_group
from barnabas.cli.cluster.end_offsets import end_offsets
from barnabas.cli.output import Column
from barnabas.cli.terminal import styles
from barnabas.client.admin.group_admin import GroupAdmin
from barnabas.client.admin.group_descriptions import describe_group
from barnabas.client.admin.session import Session


def add_arguments(parser: ArgumentParser) -> None:
    add_connection(parser)
    add_form(parser)
    add_group(parser)


def run(arguments: Namespace) -> int:
    return connection.run(_describe, arguments)


async def _describe(session: Session, arguments: Namespace) -> int:
    admin = GroupAdmin(session)
    group = await describe_group(session, admin, arguments.group)
    committed = await admin.committed(arguments.group)
    owners = {partition: member for member in group.members for partition in member.assignment}
    partitions = sorted({*committed, *owners})
    ends = await end_offsets(session, partitions)
    rows: list[tuple[Any, ...]] = []
    for partition in partitions:
        offset = committed[partition].offset if partition in committed else None
        end = ends.get(partition)
        lag = end - offset if end is not None and offset is not None else None
        owner = owners.get(partition)
        rows.append(
            (partition.topic, partition.partition, offset, end, lag, owner and owner.client_id, owner and owner.host)
        )
    columns = (
        Column("topic"),
        Column("partition"),
        Column("offset"),
        Column("end_offset"),
        Column("lag", lambda lag: styles.YELLOW if lag else styles.GREEN),
        Column("client"),
        Column("host"),
    )
    output.write(sys.stdout, arguments.output, columns, rows)
    return 0
