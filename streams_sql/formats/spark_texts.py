"""Pieces of Spark's SQL that the native forms of formats are made of."""

from __future__ import annotations

from typing import Final

NEEDS_PYTHON: Final = "NeedsPython"
"""Begins what a query fails with at a record that only the decoder reads rightly."""
NEW_SCHEMA: Final = "NewSchema"
"""Begins what a query fails with at a record whose schema it was not made for; the number of the schema follows."""


def text_literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def let(name: str, value: str, body: str) -> str:
    """`body`, in which `name` stands for the value, which is worked out once."""
    return f"get(transform(array({value}), {name} -> {body}), 0)"


def needs_python(reason: str) -> str:
    """Fails the query. Of a record of Kafka's source, the place is told."""
    place = f"concat('{NEEDS_PYTHON}: [partition=', partition, ' offset=', offset, '] ', {text_literal(reason)})"
    return f"raise_error({place})"


def new_schema(number: str) -> str:
    return f"raise_error(concat('{NEW_SCHEMA}: ', {number}))"
