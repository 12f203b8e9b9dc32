"""`barnabas connectors apply`: connectors as files describe them."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Final

from barnabas.cli import output
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.connectors import files
from barnabas.cli.connectors.arguments import add_worker, client_of
from barnabas.cli.connectors.client import NOT_FOUND, ConnectClient, Refusal, path_of
from barnabas.cli.connectors.validate import validation, write_warnings
from barnabas.cli.output import JSON
from barnabas.kernel.settings import MASK

UNCHANGED: Final = "unchanged"


def add_arguments(parser: ArgumentParser) -> None:
    add_worker(parser)
    add_report_form(parser)
    parser.add_argument(
        "--file", "-f", action="append", required=True, metavar="FILE", help="JSON or properties; may be repeated"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")


def run(arguments: Namespace) -> int:
    """All files are read before anything is changed: a mistake in the last leaves everything as it was."""
    client = client_of(arguments)
    described = [each for file in arguments.file for each in files.read(file)]
    changes = []
    try:
        for each in described:
            change = _change(client, each)
            if change != UNCHANGED:
                write_warnings(validation(client, each.config))
            if change != UNCHANGED and not arguments.dry_run:
                client.call("PUT", path_of(each.name, "/config"), each.config)
            changes.append({"name": each.name, "change": change, "dry_run": arguments.dry_run})
            if arguments.output != JSON:
                print(f"{each.name}: {change}{' (dry run)' if arguments.dry_run else ''}")
    finally:
        # Also of those before one that fails: they are changed.
        if arguments.output == JSON:
            output.write_json(sys.stdout, changes)
    return 0


def _change(client: ConnectClient, described: files.ConnectorConfig) -> str:
    try:
        former = client.call("GET", path_of(described.name, "/config"))
    except Refusal as refusal:
        if refusal.code != NOT_FOUND:
            raise
        return "created"
    names = sorted(
        name for name in former.keys() | described.config.keys() if former.get(name) != described.config.get(name)
    )
    if names and all(former.get(name) == MASK and name in described.config for name in names):
        return f"set again, since secrets cannot be compared: {', '.join(names)}"
    return f"changed {', '.join(names)}" if names else UNCHANGED
