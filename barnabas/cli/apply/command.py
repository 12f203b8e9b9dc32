"""`barnabas apply -f FILE`. What it needs is loaded when it runs, since not every installation has all of it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

from barnabas.cli.command_error import EXIT_UNREACHABLE, CommandError
from barnabas.cli.output import JSON, TABLE
from barnabas.cli.platform.addresses import add_addresses

EXIT_ERROR: Final = 1


def add_arguments(parser: ArgumentParser) -> None:
    parser.description = (
        "Make topics, schemas, connectors and SQL what a YAML file says. What is so already stays untouched."
    )
    parser.add_argument("--file", "-f", required=True, metavar="FILE", help="YAML; see docs/apply.md")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="only show what would change: 0 is nothing, 2 is something, 1 is an error",
    )
    parser.add_argument(
        "--prune",
        action="store_true",
        help="delete what an earlier run of this file made and it does not name any more",
    )
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask before something is deleted")
    parser.add_argument("--output", "-o", choices=(TABLE, JSON), default=TABLE, help="form of the output (table)")
    add_addresses(parser)


def run(arguments: Namespace) -> int:
    from barnabas.cli.apply.reconciliation import reconcile

    # 2 is the answer of a dry run that has found something, so that no failure may have it.
    try:
        return reconcile(arguments)
    except CommandError as error:
        status = EXIT_UNREACHABLE if error.status == EXIT_UNREACHABLE else EXIT_ERROR
        raise CommandError(str(error), status=status) from None
