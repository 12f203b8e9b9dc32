"""Words for JSON Schemas, so that declarations of shapes are short."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]

INT32_MAX: Final = 2**31 - 1
INT64_MAX: Final = 2**63 - 1

ANYTHING: Final[Schema] = {}
TEXT: Final[Schema] = {"type": "string"}
NAME: Final[Schema] = {"type": "string", "minLength": 1}
FLAG: Final[Schema] = {"type": "boolean"}
INT32: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": INT32_MAX, "format": "int32"}
INT64: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": INT64_MAX, "format": "int64"}
BASE64: Final[Schema] = {"type": "string", "contentEncoding": "base64"}
TOPIC_NAME: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": 249, "pattern": "^[A-Za-z0-9._-]+$"}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


def constant(value: str) -> Schema:
    return {"const": value}


def list_of(item: Schema, **limits: int) -> Schema:
    return {"type": "array", "items": item, **limits}


def map_of(value: Schema) -> Schema:
    return {"type": "object", "additionalProperties": value}


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def answered(members: Mapping[str, Schema], sometimes: Mapping[str, Schema] | None = None) -> Schema:
    """An object of an answer: all its members are there, but for some that may be. Others may join them in time."""
    return {"type": "object", "properties": {**members, **(sometimes or {})}, "required": list(members)}


def asked(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object of a request: members that nobody knows are refused."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }
