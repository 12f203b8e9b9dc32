"""JSON Schemas of requests and responses, in the few forms that HTTP services need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]

INT32_MAX: Final = 2**31 - 1
INT64_MAX: Final = 2**63 - 1

ANYTHING: Final[Schema] = {}
STRING: Final[Schema] = {"type": "string"}
NAME: Final[Schema] = {"type": "string", "minLength": 1}
BOOLEAN: Final[Schema] = {"type": "boolean"}
INTEGER: Final[Schema] = {"type": "integer"}
NUMBER: Final[Schema] = {"type": "number"}
OBJECT: Final[Schema] = {"type": "object"}
INT32: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": INT32_MAX, "format": "int32"}
INT64: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": INT64_MAX, "format": "int64"}
BASE64: Final[Schema] = {"type": "string", "contentEncoding": "base64"}
URI: Final[Schema] = {"type": "string", "format": "uri"}
DATE_TIME: Final[Schema] = {"type": "string", "format": "date-time"}
TOPIC_NAME: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": 249, "pattern": "^[A-Za-z0-9._-]+$"}


class Shape(dict[str, Any]):
    """A schema with a name. Where it is used it is a reference; the document has the schema itself once."""

    def __init__(self, name: str, schema: Schema) -> None:
        super().__init__(ref(name))
        self.name = name
        self.schema = schema
        self.members = frozenset(schema.get("properties", ()))
        """The names of an object's members."""


def ref(name: str) -> Schema:
    """A reference by name: for schemas that contain themselves."""
    return {"$ref": f"#/components/schemas/{name}"}


def shapes_in(value: object) -> Iterator[Shape]:
    """All shapes that a value refers to, directly or through other shapes."""
    if isinstance(value, Shape):
        yield value
        yield from shapes_in(value.schema)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from shapes_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from shapes_in(each)


def enum(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def constant(value: str) -> Schema:
    return {"const": value}


def list_of(item: Schema, **limits: int) -> Schema:
    return {"type": "array", "items": item, **limits}


def map_of(value: Schema) -> Schema:
    return {"type": "object", "additionalProperties": value}


def any_of(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def nullable(schema: Schema) -> Schema:
    return any_of(schema, {"type": "null"})


def open_object(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object that may have members beside these, as responses do: later versions may add some."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


def closed_object(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object in which unknown members are rejected."""
    return {**open_object(required, optional), "additionalProperties": False}
