"""`barnabas schemas diff`: what changed between two schemas."""

from __future__ import annotations

import difflib
import sys
from argparse import ArgumentParser, Namespace
from typing import Final

from barnabas.cli import output
from barnabas.cli.command_error import CommandError
from barnabas.cli.schemas import registry
from barnabas.cli.schemas.arguments import WHICH, add_registry_and_report_form
from barnabas.cli.schemas.formatting import comparable
from barnabas.cli.schemas.registry import SchemaName
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.styles import styled
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import SchemaText, SubjectVersion

_LINE_STYLES: Final = {"+": styles.GREEN, "-": styles.RED, "@": styles.CYAN}


def add_arguments(parser: ArgumentParser) -> None:
    add_registry_and_report_form(parser)
    parser.add_argument(
        "left",
        metavar="OLD",
        help=f"{WHICH}, or a file: what holds a / or ends in .avsc, .json or .proto, unless :VERSION follows",
    )
    parser.add_argument("right", metavar="NEW", nargs="?", help="the same; without it, the last two versions of OLD")


def run(arguments: Namespace) -> int:
    return registry.run(_diff, arguments)


def _diff(client: RegistryClient, arguments: Namespace) -> int:
    left, right = _sides(client, arguments)
    lines = list(
        difflib.unified_diff(
            comparable(left[1]).splitlines(), comparable(right[1]).splitlines(), left[0], right[0], lineterm=""
        )
    )
    if arguments.output == output.JSON:
        output.write_json(sys.stdout, {"old": left[0], "new": right[0], "diff": lines})
    elif lines:
        for line in lines:
            print(styled(line, _LINE_STYLES.get(line[:1]), sys.stdout))
    else:
        print(f"{left[0]} and {right[0]} have the same schema", file=sys.stderr)
    return 0


def _sides(client: RegistryClient, arguments: Namespace) -> tuple[tuple[str, SchemaText], tuple[str, SchemaText]]:
    if arguments.right is not None:
        return _side(client, arguments.left), _side(client, arguments.right)
    subject = SchemaName.parse(arguments.left).subject
    if subject is None or registry.is_path(arguments.left):
        raise CommandError(f"nothing to compare {arguments.left} with", "Name a second schema.", 2)
    versions = client.versions(subject)
    if len(versions) == 1:
        raise CommandError(f"{subject} has one version", "Name a second schema: another subject, an id or a file.", 2)
    old, new = versions[-2:]
    return _side(client, f"{subject}:{old}"), _side(client, f"{subject}:{new}")


def _side(client: RegistryClient, text: str) -> tuple[str, SchemaText]:
    found = registry.find_or_read(client, text)
    if isinstance(found, SubjectVersion):
        return f"{found.subject}:{found.version}", found.schema
    return text, found
