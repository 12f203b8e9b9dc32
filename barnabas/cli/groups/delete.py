"""`barnabas groups delete`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection
from barnabas.cli.command_parser import add_report_form
from barnabas.client.admin.group_admin import GroupAdmin
from barnabas.client.admin.session import Session
from barnabas.wire.errors import KafkaError


def add_arguments(parser: ArgumentParser) -> None:
    add_connection(parser)
    add_report_form(parser)
    parser.add_argument("groups", nargs="+", metavar="GROUP", help="their names; groups without members alone")


def run(arguments: Namespace) -> int:
    return connection.run(_delete, arguments)


async def _delete(session: Session, arguments: Namespace) -> int:
    admin, failures, deleted = GroupAdmin(session), [], []
    for name in dict.fromkeys(arguments.groups):
        try:
            await admin.delete_group(name)
        except KafkaError as error:
            failures.append((f"group {name}", error))
        else:
            deleted.append(name)
    results = [{"group": name, "result": "deleted"} for name in deleted]
    output.report(arguments.output, results, *[f"deleted group {name}" for name in deleted])
    connection.raise_for(failures)
    return 0
