"""Words of the form name=value."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.cli.command_error import CommandError


def parse_pairs(words: Iterable[str]) -> dict[str, str]:
    pairs = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise CommandError(f"{word!r} is not of the form name=value", "Example: retention.ms=3600000", status=2)
        pairs[name.strip()] = value
    return pairs
