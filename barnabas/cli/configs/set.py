"""`barnabas configs set`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection, add_entity
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.configs.entities import ENTITIES
from barnabas.cli.key_values import parse_key_values
from barnabas.client.admin import config_resources
from barnabas.client.admin.session import Session


def add_arguments(parser: ArgumentParser) -> None:
    add_connection(parser)
    add_report_form(parser)
    add_entity(parser)
    parser.add_argument("pairs", nargs="+", metavar="NAME=VALUE", help="what to set")


def run(arguments: Namespace) -> int:
    return connection.run(_set, arguments)


async def _set(session: Session, arguments: Namespace) -> int:
    _, name = ENTITIES[arguments.kind]
    pairs = parse_key_values(arguments.pairs)
    await config_resources.alter(session, name, arguments.name, pairs, [])
    content = {"kind": arguments.kind, "name": arguments.name, "set": pairs}
    output.report(arguments.output, content, f"changed {arguments.kind} {arguments.name}: {' '.join(arguments.pairs)}")
    return 0
