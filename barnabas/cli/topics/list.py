"""`barnabas topics list`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection, add_form
from barnabas.cli.cluster.internal_topics import is_internal
from barnabas.cli.output import Column
from barnabas.client.admin.session import Session


def add_arguments(parser: ArgumentParser) -> None:
    add_connection(parser)
    add_form(parser)
    parser.add_argument(
        "--internal",
        action="store_true",
        help="show the topics of the broker and the services, too: names that begin with an underscore",
    )


def run(arguments: Namespace) -> int:
    return connection.run(_list, arguments)


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
