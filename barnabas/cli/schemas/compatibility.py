"""What the registry finds when it compares a schema with the versions of a subject."""

from __future__ import annotations

import json
import textwrap
from argparse import Namespace
from collections.abc import Mapping
from typing import Any, Final, TextIO

from barnabas.cli.output import printable, say
from barnabas.cli.schemas import registry
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.styles import styled
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import SchemaText

EXIT_INCOMPATIBLE: Final = 1
# However narrow the terminal is.
SENTENCE_MIN_CHARACTERS: Final = 30
# What the registry reports of a difference, in the order in which people ask.
_PARTS: Final = ("new", "old", "why", "fix")
SENTENCES: Final = ("why", "fix")
# As wide as "   fix: ", so that lines stand below each other.
_INDENT: Final = " " * 8
# What the registry calls the subject in its advice.
SUBJECT: Final = "<subject>"
_PART_STYLES: Final = {"new": styles.GREEN, "old": styles.RED, "fix": styles.CYAN}


def check(
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


def write_differences(arguments: Namespace, answer: Mapping[str, Any], out: TextIO) -> None:
    """Why a schema is not compatible, and what would help."""
    print(styled(f"{arguments.file} is not compatible with {arguments.subject}", styles.RED, out), file=out)
    differences = answer.get("differences") or ()
    for number, difference in enumerate(differences, start=1):
        _write_difference(number, difference, arguments.subject, out)
    if not differences:
        # A registry that gives no list has said it in messages.
        for message in answer.get("messages") or ():
            say(f"  {message}", out)


def _write_difference(number: int, difference: Mapping[str, Any], subject: str, out: TextIO) -> None:
    version, direction = difference.get("version"), difference.get("direction")
    against = f" (version {version}{f', {direction}' if direction else ''})" if version is not None else ""
    rule = styled(str(difference.get("rule")), styles.BOLD, out)
    path = printable(str(difference.get("path"))) if out.isatty() else difference.get("path")
    print(f"\n{number}. {rule} at {path}{against}", file=out)
    for part in _PARTS:
        text = difference.get(part)
        if text is not None:
            lines = _lines(part, text if isinstance(text, str) else json.dumps(text, ensure_ascii=False), subject)
            shown = [styled(line, _PART_STYLES.get(part), out) for line in lines]
            print(f"   {part}: " + f"\n{_INDENT}".join(shown), file=out)


def _lines(part: str, text: str, subject: str) -> list[str]:
    """Sentences are broken where the terminal ends; what stands in a schema stays in one piece."""
    if part not in SENTENCES:
        return [text]
    room = max(styles.width() - len(_INDENT), SENTENCE_MIN_CHARACTERS)
    return textwrap.wrap(text.replace(SUBJECT, subject), room, break_long_words=False, break_on_hyphens=False)
