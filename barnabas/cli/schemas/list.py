"""`barnabas schemas list`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Final

from barnabas.cli import output
from barnabas.cli.output import FORMS, TABLE, Column
from barnabas.cli.schemas import registry
from barnabas.cli.schemas.arguments import add_registry
from barnabas.cli.schemas.formatting import write_comment
from barnabas.cli.terminal import styles
from barnabas.kernel.serdes.registry_client import ALL_CONTEXTS, RegistryClient

DELETED: Final = "deleted"


def add_arguments(parser: ArgumentParser) -> None:
    add_registry(parser)
    parser.add_argument("--output", "-o", choices=FORMS, default=TABLE, help=f"form of the output ({TABLE})")
    parser.add_argument("prefix", nargs="?", metavar="PREFIX", help="only subjects that begin so")
    parser.add_argument("--versions", action="store_true", help="show every version, not the newest alone")
    parser.add_argument("--deleted", action="store_true", help="show what is deleted but not for good, too")


def run(arguments: Namespace) -> int:
    return registry.run(_list, arguments)


def _list(client: RegistryClient, arguments: Namespace) -> int:
    found = client.schemas(
        arguments.prefix or ALL_CONTEXTS, deleted=arguments.deleted, latest_only=not arguments.versions
    )
    rows = [
        (each.subject, each.version, each.id, each.schema.type, DELETED if each.deleted else "live")
        for each in sorted(found, key=lambda each: (each.subject, each.version))
    ]
    columns = [Column("subject"), Column("version"), Column("id"), Column("type")]
    if arguments.deleted:
        columns.append(Column("state", lambda state: styles.DIM if state == DELETED else None))
    output.write(sys.stdout, arguments.output, columns, [row[: len(columns)] for row in rows])
    if not rows:
        write_comment(f"no subject begins with {arguments.prefix}" if arguments.prefix else "there are no subjects")
    return 0
