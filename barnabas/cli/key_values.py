"""Arguments of the form name=value."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.cli.command_error import CommandError


def parse_key_values(words: Iterable[str]) -> dict[str, str]:
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise CommandError(f"{word!r} is not of the form name=value", "Example: retention.ms=3600000", status=2)
        found[name.strip()] = value
    return found
