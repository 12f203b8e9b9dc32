"""`barnabas schemas diff` and `check`: what changed, and whether readers can live with it."""

from __future__ import annotations

import difflib
import json
import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterable, Mapping
from typing import Any, Final, TextIO

from barnabas.cli import output, registry, terminal
from barnabas.cli.command_error import CommandError
from barnabas.cli.registry import Named
from barnabas.cli.schema_print import comparable
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import SchemaText, SubjectVersion

EXIT_COMPATIBLE: Final = 0
EXIT_INCOMPATIBLE: Final = 1
EXIT_TROUBLE: Final = 3
# However narrow the terminal is.
SENTENCE_MIN_CHARACTERS: Final = 30
# What the registry tells of a difference, in the order in which people ask.
_PARTS: Final = ("new", "old", "why", "fix")
SENTENCES: Final = ("why", "fix")
# As wide as "   fix: ", so that lines stand below each other.
_INDENT: Final = " " * 8
# What the registry calls the subject in its advice.
SUBJECT: Final = "<subject>"
_PART_STYLES: Final = {"new": terminal.GREEN, "old": terminal.RED, "fix": terminal.CYAN}
_LINE_STYLES: Final = {"+": terminal.GREEN, "-": terminal.RED, "@": terminal.CYAN}


def diff(client: RegistryClient, arguments: Namespace) -> int:
    left, right = _sides(client, arguments)
    lines = list(
        difflib.unified_diff(
            comparable(left[1]).splitlines(), comparable(right[1]).splitlines(), left[0], right[0], lineterm=""
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
    if subject is None or registry.is_path(arguments.left):
        raise CommandError(f"with what shall {arguments.left} be compared?", "Name a second schema.", 2)
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


def _print_lines(lines: Iterable[str]) -> None:
    colours = terminal.colours_here(sys.stdout)
    for line in lines:
        style = _LINE_STYLES.get(line[:1]) if colours else None
        print(line if style is None else terminal.painted(line, style))


def check(client: RegistryClient, arguments: Namespace) -> int:
    schema = registry.read_schema(arguments.file, arguments.type, arguments.reference)
    exists = _exists(client, arguments.subject)
    answer = compatibility(client, arguments, schema, arguments.version if exists else None)
    compatible = bool(answer["is_compatible"])
    if arguments.output == output.JSON:
        json.dump(answer, sys.stdout, ensure_ascii=False, indent=2)
        print()
    if not exists:
        where = sys.stderr if arguments.output == output.JSON else sys.stdout
        print(f"{arguments.subject} does not exist yet, so that there is nothing to compare with", file=where)
        return EXIT_INCOMPATIBLE if arguments.must_exist else EXIT_COMPATIBLE
    if arguments.output != output.JSON:
        if compatible:
            print(_painted(f"{arguments.file} is compatible with {arguments.subject}", terminal.GREEN, sys.stdout))
        else:
            tell_differences(arguments, answer, sys.stdout)
    return EXIT_COMPATIBLE if compatible else EXIT_INCOMPATIBLE


def compatibility(
    client: RegistryClient, arguments: Namespace, schema: SchemaText, version: str | None = None
) -> dict[str, Any]:
    """What the registry answers, with its reasons. A schema that it cannot read is an error of its own."""
    normalize: bool = arguments.normalize
    answer = client.compatibility(arguments.subject, schema, version, normalize=normalize)
    if not answer["is_compatible"] and not answer.get("differences"):
        try:
            client.compatibility(arguments.subject, schema, version, normalize=normalize, verbose=False)
        except RegistryClientError as error:
            if error.code != registry.INVALID_SCHEMA:
                raise
            raise registry.invalid(arguments.file, error) from None
    return answer


def _exists(client: RegistryClient, subject: str) -> bool:
    try:
        client.versions(subject)
    except RegistryClientError as error:
        if error.code != registry.SUBJECT_NOT_FOUND:
            raise
        return False
    return True


def tell_differences(arguments: Namespace, answer: Mapping[str, Any], out: TextIO) -> None:
    """Why a schema is not compatible, and what would help."""
    print(_painted(f"{arguments.file} is not compatible with {arguments.subject}", terminal.RED, out), file=out)
    differences = answer.get("differences") or ()
    for number, difference in enumerate(differences, start=1):
        _tell_difference(number, difference, arguments.subject, out)
    if not differences:
        # A registry that gives no list has told it in words of its own.
        for message in answer.get("messages") or ():
            print(f"  {message}", file=out)


def _tell_difference(number: int, difference: Mapping[str, Any], subject: str, out: TextIO) -> None:
    version, direction = difference.get("version"), difference.get("direction")
    against = f" (version {version}{f', {direction}' if direction else ''})" if version is not None else ""
    rule = _painted(str(difference.get("rule")), terminal.BOLD, out)
    print(f"\n{number}. {rule} at {difference.get('path')}{against}", file=out)
    for part in _PARTS:
        text = difference.get(part)
        if text is not None:
            lines = _lines(part, text if isinstance(text, str) else json.dumps(text, ensure_ascii=False), subject)
            shown = [_painted(line, _PART_STYLES.get(part, ""), out) for line in lines]
            print(f"   {part}: " + f"\n{_INDENT}".join(shown), file=out)


def _lines(part: str, text: str, subject: str) -> list[str]:
    """Sentences are broken where the terminal ends; what stands in a schema stays in one piece."""
    if part not in SENTENCES:
        return [text]
    room = max(terminal.width() - len(_INDENT), SENTENCE_MIN_CHARACTERS)
    return textwrap.wrap(text.replace(SUBJECT, subject), room, break_long_words=False, break_on_hyphens=False)


def _painted(text: str, style: str, out: TextIO) -> str:
    return terminal.painted(text, style) if style and terminal.colours_here(out) else text
