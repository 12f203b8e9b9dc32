"""Fields inside of fields: `a.b.c` names c in b in a."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

from connect.data.schema import Field, Schema, Type
from connect.errors import DataError

V1: Final = "V1"
V2: Final = "V2"
STEPS_MAX: Final = 64
_QUOTE: Final = "`"

Path: TypeAlias = tuple[str, ...]


def parse_path(text: str, version: str) -> Path:
    """The steps of a field's name: one in V1, in which dots are ordinary characters. In V2, a name with a dot stands in backticks."""
    if version.upper() == V1:
        return (text,)
    steps: list[str] = []
    rest = text
    while True:
        if rest.startswith(_QUOTE):
            end = _end_of_quoted(rest, text)
            steps.append(rest[1:end].replace("\\`", _QUOTE))
            rest = rest[end + 1 :]
            if rest and not rest.startswith("."):
                raise ValueError(f"{text!r}: expected a dot behind the closing backtick")
        else:
            step = rest.partition(".")[0]
            steps.append(step)
            rest = rest[len(step) :]
        if not rest:
            break
        rest = rest[1:]
    if len(steps) > STEPS_MAX:
        raise ValueError(f"a path has at most {STEPS_MAX} steps")
    return tuple(steps)


def _end_of_quoted(rest: str, text: str) -> int:
    """The backtick that closes: one that a dot or nothing follows, and that no backslash stands before."""
    place = 1
    while (place := rest.find(_QUOTE, place)) != -1:
        if rest[place - 1] != "\\" and rest[place + 1 : place + 2] in ("", "."):
            return place
        place += 1
    raise ValueError(f"{text!r}: the backtick is never closed")


def value_at(value: Any, path: Path) -> Any:
    """What is there, None when a step leads nowhere."""
    for step in path:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def schema_at(schema: Schema, path: Path) -> Schema | None:
    """The schema of a field; optional when anything on the way to it is. None when there is no such field."""
    optional = False
    for step in path:
        field = schema.field_of(step) if schema.type is Type.STRUCT else None
        if field is None:
            return None
        schema = field.schema
        optional = optional or schema.optional
    return schema.as_optional() if optional else schema


def with_value(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """A copy in which the field at the path is changed; the same when there is none."""
    if not isinstance(value, dict) or path[0] not in value:
        return value
    step, rest = path[0], path[1:]
    return {**value, step: with_value(value[step], rest, change) if rest else change(value[step])}


def without_value(value: Any, path: Path) -> Any:
    if not isinstance(value, dict) or path[0] not in value:
        return value
    step, rest = path[0], path[1:]
    if rest:
        return {**value, step: without_value(value[step], rest)}
    return {name: item for name, item in value.items() if name != step}


def with_schema(schema: Schema, path: Path, change: Callable[[Schema], Schema | None]) -> Schema:
    """A copy in which the schema of the field at the path is changed, or the field left out when there is none any more."""
    if schema.type is not Type.STRUCT or schema.field_of(path[0]) is None:
        return schema
    fields: list[Field] = []
    for field in schema.fields:
        changed: Schema | None = field.schema
        if field.name == path[0]:
            changed = with_schema(field.schema, path[1:], change) if len(path) > 1 else change(field.schema)
        if changed is not None:
            fields.append(Field(field.name, changed))
    return replace(schema, fields=tuple(fields))


def require_struct(value: Any, schema: Schema | None, purpose: str) -> dict[str, Any]:
    """The value as fields: of a struct, or of an object without a schema."""
    if isinstance(value, dict) and (schema is None or schema.type is Type.STRUCT):
        return value
    what = type(value).__name__ if schema is None else schema.type.value
    raise DataError(f"Only Struct objects and maps supported for [{purpose}], found: {what}")
