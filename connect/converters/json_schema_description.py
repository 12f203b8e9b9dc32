"""Schemas of Connect as JSON Schema, with the properties that Confluent's converter gives them."""

from __future__ import annotations

from typing import Any, Final

from connect.converters.json_values import DecimalFormat, JsonWriting
from connect.data.conversion import Convert, converted_items
from connect.data.mismatch import not_a
from connect.data.schema import DECIMAL, Schema, Type

NAMESPACE: Final = "io.confluent.connect.json"
ENUM: Final = f"{NAMESPACE}.Enum"
ONE_OF: Final = f"{NAMESPACE}.OneOf"
NULL_SYMBOL: Final = "<NULL>"
CONNECT_TYPES: Final = {
    Type.INT8: "int8",
    Type.INT16: "int16",
    Type.INT32: "int32",
    Type.INT64: "int64",
    Type.FLOAT32: "float32",
    Type.FLOAT64: "float64",
    Type.BYTES: "bytes",
    Type.MAP: "map",
}
_PLAIN: Final = {Type.BOOLEAN: "boolean", Type.STRING: "string", Type.FLOAT32: "number", Type.FLOAT64: "number"}


class JsonSchemaDescription:
    def __init__(self, writing: JsonSchemaWriting, *, allows_additional: bool) -> None:
        self._writing = writing
        self._allows_additional = allows_additional

    def describe(self, schema: Schema, place: int | None = None) -> dict[str, Any]:
        """The JSON of a schema. `place` is that of a field among the fields of its struct, whose order JSON does not keep."""
        placed = {} if place is None else {"connect.index": place}
        if is_one_of(schema):
            members = [self.describe(each.schema.as_required(), number) for number, each in enumerate(schema.fields)]
            return {"oneOf": [*([{"type": "null"}] if schema.optional else []), *members], **placed}
        described = {**self._typed(schema), **self._metadata(schema)}
        return {"oneOf": [{"type": "null"}, described], **placed} if schema.optional else {**described, **placed}

    def _typed(self, schema: Schema) -> dict[str, Any]:
        kept = {"connect.type": CONNECT_TYPES[schema.type]} if schema.type in CONNECT_TYPES else {}
        if schema.type.bits is not None:
            return {"type": "integer", **kept}
        if schema.type is Type.BYTES:
            return {"type": "number" if self._is_number(schema) else "string", **kept}
        if schema.type is Type.STRING and schema.parameter(ENUM) is not None:
            return {"enum": _symbols(schema)}
        if schema.type is Type.STRUCT:
            fields = {each.name: self.describe(each.schema, place) for place, each in enumerate(schema.fields)}
            closed = {} if self._allows_additional else {"additionalProperties": False}
            return {"type": "object", "properties": fields, **closed}
        if schema.type is Type.ARRAY and schema.values is not None:
            return {"type": "array", "items": self.describe(schema.values)}
        if schema.type is Type.MAP and schema.values is not None and schema.keys is not None:
            return {**self._map(schema, schema.keys, schema.values), **kept}
        return {"type": _PLAIN[schema.type], **kept}

    def _is_number(self, schema: Schema) -> bool:
        return schema.name == DECIMAL and self._writing.decimal_format is DecimalFormat.NUMERIC

    def _map(self, schema: Schema, keys: Schema, values: Schema) -> dict[str, Any]:
        if has_plain_keys(schema):
            return {"type": "object", "additionalProperties": self.describe(values)}
        entry = {"key": self.describe(keys, 0), "value": self.describe(values, 1)}
        return {"type": "array", "items": {"type": "object", "properties": entry}}

    def _metadata(self, schema: Schema) -> dict[str, Any]:
        parameters = {name: value for name, value in schema.parameters if not name.startswith(NAMESPACE)}
        given = {
            "title": schema.name,
            "connect.version": schema.version,
            "description": schema.doc,
            "connect.parameters": parameters or None,
            "default": None if schema.default_value is None else self._writing.default(schema),
        }
        return {name: value for name, value in given.items() if value is not None}


class JsonSchemaWriting(JsonWriting):
    """From values to JSON: maps whose keys are no strings are arrays of objects, and a union is the one value that is set."""

    def map(self, schema: Schema, key: Convert, value: Convert) -> Convert:
        if has_plain_keys(schema):
            return super().map(schema, key, value)

        def convert(given: Any) -> Any:
            if type(given) is not dict:
                raise not_a("a map", given)
            return [{"key": key(name), "value": item} for name, item in converted_items(given, value)]

        return convert

    def struct(self, schema: Schema) -> Convert:
        convert = super().struct(schema)
        if not is_one_of(schema):
            return convert
        return lambda value: next((item for item in convert(value).values() if item is not None), None)


def is_one_of(schema: Schema) -> bool:
    return schema.type is Type.STRUCT and schema.name == ONE_OF


def has_plain_keys(schema: Schema) -> bool:
    return schema.keys is not None and schema.keys.type is Type.STRING and not schema.keys.optional


def _symbols(schema: Schema) -> list[str | None]:
    prefix = f"{ENUM}."
    found = [name.removeprefix(prefix) for name, _ in schema.parameters if name.startswith(prefix)]
    return [None if symbol == NULL_SYMBOL else symbol for symbol in found]
