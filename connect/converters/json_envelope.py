"""Schemas in the words of the JSON converter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from connect.converters.json_values import JsonReading, JsonWriting
from connect.data.mismatch import Mismatch
from connect.data.schema import Field, Schema, Type
from connect.errors import DataError

SCHEMA: Final = "schema"
PAYLOAD: Final = "payload"

_TYPES: Final = {kind.value: kind for kind in Type}


def to_json(schema: Schema, writing: JsonWriting) -> dict[str, Any]:
    """The members in the order in which Kafka Connect writes them."""
    described: dict[str, Any] = {"type": schema.type.value}
    if schema.type is Type.STRUCT:
        described["fields"] = [{**to_json(each.schema, writing), "field": each.name} for each in schema.fields]
    if schema.keys is not None:
        described["keys"] = to_json(schema.keys, writing)
    if schema.values is not None:
        described["values" if schema.type is Type.MAP else "items"] = to_json(schema.values, writing)
    described["optional"] = schema.optional
    given = {"name": schema.name, "version": schema.version, "doc": schema.doc, "parameters": dict(schema.parameters)}
    described |= {name: value for name, value in given.items() if value is not None and value != {}}
    if schema.default_value is not None:
        described["default"] = writing.default(schema)
    return described


def of_json(described: Any, reading: JsonReading) -> Schema:
    kind = _TYPES.get(str(described.get("type"))) if isinstance(described, dict) else None
    if kind is None:
        raise DataError(
            f"the schema of a JSON record must have a 'type' that is one of {', '.join(_TYPES)}: {described!r:.80}"
        )
    name, version, doc = described.get("name"), described.get("version"), described.get("doc")
    schema = Schema(
        kind,
        described.get("optional") is True,
        name if isinstance(name, str) else None,
        version if type(version) is int else None,
        doc if isinstance(doc, str) else None,
        _parameters(described.get("parameters")),
        fields=_fields(described, reading) if kind is Type.STRUCT else (),
        keys=_part(described, "keys", reading) if kind is Type.MAP else None,
        values=_values(kind, described, reading),
    )
    return _with_default(schema, described.get("default"), reading)


def _values(kind: Type, described: dict[str, Any], reading: JsonReading) -> Schema | None:
    if kind is Type.MAP:
        return _part(described, "values", reading)
    return _part(described, "items", reading) if kind is Type.ARRAY else None


def _part(described: dict[str, Any], name: str, reading: JsonReading) -> Schema:
    if described.get(name) is None:
        raise DataError(f"the schema of a JSON record has a type {described['type']!r} without {name!r}")
    return of_json(described[name], reading)


def _fields(described: dict[str, Any], reading: JsonReading) -> tuple[Field, ...]:
    fields = described.get("fields")
    if not isinstance(fields, list):
        raise DataError("the schema of a JSON record has a struct whose 'fields' are no array")
    found = []
    for each in fields:
        name = each.get("field") if isinstance(each, dict) else None
        if not isinstance(name, str):
            raise DataError(f"the schema of a JSON record has a field without its name in 'field': {each!r:.80}")
        found.append(Field(name, of_json(each, reading)))
    return tuple(found)


def _parameters(given: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(given, dict):
        return ()
    if not all(isinstance(value, str) for value in given.values()):
        raise DataError(f"the schema of a JSON record has 'parameters' that are no strings: {given!r:.80}")
    return tuple(given.items())


def _with_default(schema: Schema, given: Any, reading: JsonReading) -> Schema:
    if given is None:
        return schema
    try:
        return replace(schema, default=reading.compile(schema)(given))
    except Mismatch as error:
        raise DataError(f"the schema of a JSON record has a default that it refuses: {error}") from None
