"""`barnabas configs unset`: return to the defaults."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection, add_entity
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.configs.entities import ENTITIES
from barnabas.client.admin import config_resources
from barnabas.client.admin.session import Session


def add_arguments(parser: ArgumentParser) -> None:
    add_connection(parser)
    add_report_form(parser)
    add_entity(parser)
    parser.add_argument("names", nargs="+", metavar="CONFIG", help="names of what was set")


def run(arguments: Namespace) -> int:
    return connection.run(_unset, arguments)


async def _unset(session: Session, arguments: Namespace) -> int:
    _, name = ENTITIES[arguments.kind]
    await config_resources.alter(session, name, arguments.name, {}, arguments.names)
    content = {"kind": arguments.kind, "name": arguments.name, "unset": arguments.names}
    text = f"changed {arguments.kind} {arguments.name}: {' '.join(arguments.names)} back to default"
    output.report(arguments.output, content, text)
    return 0
