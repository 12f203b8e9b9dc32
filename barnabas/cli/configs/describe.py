"""`barnabas configs describe`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection, add_entity, add_form
from barnabas.cli.configs.entities import ENTITIES
from barnabas.cli.output import Column
from barnabas.cli.terminal import styles
from barnabas.client.admin import described_configs
from barnabas.client.admin.described_configs import DEFAULT_CONFIG, SOURCES
from barnabas.client.admin.session import Session


def add_arguments(parser: ArgumentParser) -> None:
    add_connection(parser)
    add_form(parser)
    add_entity(parser)
    parser.add_argument("--all", "-a", action="store_true", help="show defaults, too")


def run(arguments: Namespace) -> int:
    return connection.run(_describe, arguments)


async def _describe(session: Session, arguments: Namespace) -> int:
    resource_type, _ = ENTITIES[arguments.kind]
    node = int(arguments.name) if arguments.kind == "broker" and arguments.name.isdigit() else None
    found = await described_configs.describe(session, resource_type, [arguments.name], node=node)
    rows = [
        (entry.name, entry.value, SOURCES.get(entry.config_source, "UNKNOWN"), entry.read_only)
        for entry in sorted(found[arguments.name], key=lambda entry: entry.name)
        if arguments.all or entry.config_source != DEFAULT_CONFIG
    ]
    columns = (
        Column("name"),
        Column("value"),
        Column("source", lambda source: styles.CYAN if source.startswith("DYNAMIC") else None),
        Column("read_only"),
    )
    output.write(sys.stdout, arguments.output, columns, rows)
    if not rows and not arguments.all:
        print("Every value is the default; --all shows them.", file=sys.stderr)
    return 0
