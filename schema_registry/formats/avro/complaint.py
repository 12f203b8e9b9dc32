"""How a schema is refused: what is wrong, where, and what to do."""

from __future__ import annotations

from typing import NoReturn

from schema_registry.formats.json_text import JsonValue, print_compact
from schema_registry.formats.parsed_schema import InvalidSchema

EXCERPT_MAX_CHARACTERS = 120
"""How much of a schema an error shows."""


def refuse(what: str, path: str, advice: str) -> NoReturn:
    """`what` is the sentence of Avro for Java, which people search for; the place and the advice are ours."""
    raise InvalidSchema(f"{what} (at {path}; {advice})")


def excerpt(value: JsonValue) -> str:
    text = print_compact(value)
    return text if len(text) <= EXCERPT_MAX_CHARACTERS else f"{text[:EXCERPT_MAX_CHARACTERS]}…"
