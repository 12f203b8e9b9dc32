"""`barnabas schemas diff` and `check`: what changed, and whether readers can live with it."""

from __future__ import annotations

import difflib
import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from typing import Any, Final

from barnabas.cli import output, registry, terminal
from barnabas.cli.command_error import CommandError
from barnabas.cli.registry import Named
from barnabas.cli.schema_print import pretty
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import SchemaText, SubjectVersion

EXIT_COMPATIBLE: Final = 0
EXIT_INCOMPATIBLE: Final = 1
# What the registry tells of a difference, in the order in which people ask.
_PARTS: Final = ("new", "old", "why", "fix")
_PART_STYLES: Final = {"new": terminal.GREEN, "old": terminal.RED, "fix": terminal.CYAN}
_LINE_STYLES: Final = {"+": terminal.GREEN, "-": terminal.RED, "@": terminal.CYAN}


def diff(client: RegistryClient, arguments: Namespace) -> int:
    left, right = _sides(client, arguments)
    lines = list(
        difflib.unified_diff(
            pretty(left[1]).splitlines(), pretty(right[1]).splitlines(), left[0], right[0], lineterm=""
        )
    )
    if arguments.output == output.JSON:
        json.dump({"old": left[0], "new": right[0], "diff": lines}, sys.stdout, ensure_ascii=False, indent=2)
        print()
    elif lines:
        _print_lines(lines)
    else:
        print(f"{left[0]} and {right[0]} have the same schema", file=sys.stderr)
    return 0


def _sides(client: RegistryClient, arguments: Namespace) -> tuple[tuple[str, SchemaText], tuple[str, SchemaText]]:
    if arguments.right is not None:
        return _side(client, arguments.left), _side(client, arguments.right)
    subject = Named.parse(arguments.left).subject
    if subject is None or registry.is_schema_file(arguments.left):
        raise CommandError(f"with what shall {arguments.left} be compared?", "Name a second schema.", 2)
    versions = client.versions(subject)
    if len(versions) == 1:
        raise CommandError(f"{subject} has one version", "Name a second schema: another subject, an id or a file.", 2)
    old, new = versions[-2:]
    return _side(client, f"{subject}:{old}"), _side(client, f"{subject}:{new}")


def _side(client: RegistryClient, text: str) -> tuple[str, SchemaText]:
    if registry.is_schema_file(text):
        return text, registry.read_schema(text)
    found = registry.find(client, text)
    if isinstance(found, SubjectVersion):
        return f"{found.subject}:{found.version}", found.schema
    return text, found


def _print_lines(lines: Iterable[str]) -> None:
    colours = terminal.colours_here(sys.stdout)
    for line in lines:
        style = _LINE_STYLES.get(line[:1]) if colours else None
        print(line if style is None else terminal.painted(line, style))


def check(client: RegistryClient, arguments: Namespace) -> int:
    schema = registry.read_schema(arguments.file, arguments.type, arguments.reference)
    answer = client.compatibility(arguments.subject, schema, arguments.version, normalize=arguments.normalize)
    compatible = bool(answer["is_compatible"])
    if arguments.output == output.JSON:
        json.dump(answer, sys.stdout, ensure_ascii=False, indent=2)
        print()
    else:
        _tell(arguments, compatible, answer)
    return EXIT_COMPATIBLE if compatible else EXIT_INCOMPATIBLE


def _tell(arguments: Namespace, compatible: bool, answer: Mapping[str, Any]) -> None:
    if compatible:
        print(_painted(f"{arguments.file} is compatible with {arguments.subject}", terminal.GREEN))
        return
    print(_painted(f"{arguments.file} is not compatible with {arguments.subject}", terminal.RED))
    differences = answer.get("differences") or ()
    for number, difference in enumerate(differences, start=1):
        _tell_difference(number, difference)
    if not differences:
        # A registry that gives no list has told it in words of its own.
        for message in answer.get("messages") or ():
            print(f"  {message}")


def _tell_difference(number: int, difference: Mapping[str, Any]) -> None:
    version, direction = difference.get("version"), difference.get("direction")
    against = f" (version {version}{f', {direction}' if direction else ''})" if version is not None else ""
    print(f"\n{number}. {_painted(str(difference.get('rule')), terminal.BOLD)} at {difference.get('path')}{against}")
    for part in _PARTS:
        text = difference.get(part)
        if text is not None:
            shown = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
            print(f"   {part}: {_painted(shown, _PART_STYLES.get(part, ''))}")


def _painted(text: str, style: str) -> str:
    return terminal.painted(text, style) if style and terminal.colours_here(sys.stdout) else text
