"""JSON Schema as schemas of Connect, and the values of such schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from connect.converters.json_schema_description import (
    CONNECT_TYPES,
    ENUM,
    NULL_SYMBOL,
    ONE_OF,
    has_plain_keys,
    is_one_of,
)
from connect.converters.json_values import JsonReading
from connect.data.conversion import Convert
from connect.data.mismatch import Mismatch, not_a
from connect.data.schema import BOOLEAN, BYTES, FLOAT64, INT64, STRING, Field, Schema, Type, array_of, map_of
from connect.errors import DataError

NESTING_MAX_LEVELS: Final = 100
_BY_CONNECT_TYPE: Final = {name: kind for kind, name in CONNECT_TYPES.items() if kind is not Type.MAP}
_PLAIN: Final = {"boolean": BOOLEAN, "integer": INT64, "number": FLOAT64, "string": STRING}
_NULL: Final = {"type": "null"}


class JsonSchemaReader:
    """Reads one schema, with the texts that it refers to by name."""

    def __init__(
        self, referenced: Mapping[str, str], *, optional_unless_required: bool, flattens_singletons: bool
    ) -> None:
        self._referenced = referenced
        self._optional_unless_required = optional_unless_required
        self._flattens_singletons = flattens_singletons
        self._root: Any = None
        self._level = 0

    def read(self, text: str) -> Schema:
        self._root = json.loads(text, parse_float=Decimal)
        return self._read(self._root)

    def _read(self, described: Any) -> Schema:
        self._level += 1
        if self._level > NESTING_MAX_LEVELS:
            raise DataError(
                "the JSON schema refers to itself, or is nested too deeply, which schemas of Connect cannot say"
            )
        if not isinstance(described, dict):
            raise DataError(
                f"the JSON schema has a part of any type ({described!r}), which schemas of Connect cannot say"
            )
        schema = self._kind(described)
        self._level -= 1
        return schema

    def _kind(self, described: dict[str, Any]) -> Schema:
        if "$ref" in described:
            return self._read(self._target(described["$ref"]))
        for word in ("oneOf", "anyOf"):
            if word in described:
                return self._one_of(described[word], described)
        if "allOf" in described:
            return self._read(self._all_of(described))
        kind = described.get("type")
        if isinstance(kind, list):
            return self._one_of([{**described, "type": each} for each in kind], {})
        if kind in ("integer", "number"):
            return self._with_metadata(_number(described), described)
        if "enum" in described or "const" in described:
            return self._with_metadata(_enum(described), described)
        return self._with_metadata(self._typed(kind, described), described)

    def _typed(self, kind: Any, described: dict[str, Any]) -> Schema:
        if kind == "string" and described.get("connect.type") == "bytes":
            return BYTES
        if kind in _PLAIN:
            return _PLAIN[kind]
        if kind == "array":
            return self._array(described)
        if kind == "object" or "properties" in described:
            return self._object(described)
        raise DataError(f"the JSON schema has a part without a type that Connect knows: {described!r:.120}")

    def _target(self, reference: str) -> Any:
        name, _, pointer = reference.partition("#")
        if name and name not in self._referenced:
            raise DataError(f"the JSON schema refers to {name!r}, and no reference of the schema has this name")
        found = json.loads(self._referenced[name]) if name else self._root
        for step in pointer.split("/")[1:]:
            found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        if found is None:
            raise DataError(f"the JSON schema refers to {reference!r}, where nothing is")
        return found

    def _one_of(self, members: list[Any], described: dict[str, Any]) -> Schema:
        given = [
            each for each in members if each != _NULL and not (isinstance(each, dict) and each.get("type") == "null")
        ]
        has_null = len(given) < len(members)
        if len(given) == 1 and (has_null or self._flattens_singletons):
            schema = self._read(given[0])
            return schema.as_optional() if has_null else schema
        fields = (Field(f"{ONE_OF}.field.{place}", self._read(each).as_optional()) for place, each in enumerate(given))
        return replace(Schema(Type.STRUCT, has_null, ONE_OF, fields=tuple(fields)), doc=described.get("description"))

    def _all_of(self, described: dict[str, Any]) -> dict[str, Any]:
        """One schema that has what each of them has."""
        merged: dict[str, Any] = {name: value for name, value in described.items() if name != "allOf"}
        for each in described["allOf"]:
            part = self._target(each["$ref"]) if isinstance(each, dict) and "$ref" in each else each
            for name, value in (part if isinstance(part, dict) else {}).items():
                if name == "properties":
                    merged["properties"] = {**merged.get("properties", {}), **value}
                elif name == "required":
                    merged["required"] = [*merged.get("required", []), *value]
                else:
                    merged.setdefault(name, value)
        return merged

    def _array(self, described: dict[str, Any]) -> Schema:
        items = described.get("items")
        if items is None:
            raise DataError("the JSON schema has an array that does not say what its items are")
        if described.get("connect.type") == "map" and isinstance(items, dict) and "properties" in items:
            entry = items["properties"]
            return map_of(self._read(entry.get("key")), self._read(entry.get("value")))
        return array_of(self._read(items))

    def _object(self, described: dict[str, Any]) -> Schema:
        if described.get("connect.type") == "map":
            return map_of(STRING, self._read(described.get("additionalProperties")))
        required = described.get("required", ())
        properties = described.get("properties", {})
        fields = []
        for name in sorted(properties, key=lambda each: _place(properties[each])):
            schema = self._read(properties[name])
            if self._optional_unless_required and name not in required:
                schema = schema.as_optional()
            fields.append(Field(name, schema))
        return Schema(Type.STRUCT, fields=tuple(fields))

    def _with_metadata(self, schema: Schema, described: dict[str, Any]) -> Schema:
        parameters = dict(schema.parameters) | (described.get("connect.parameters") or {})
        made = replace(
            schema,
            name=described.get("title"),
            version=described.get("connect.version"),
            doc=described.get("description"),
            parameters=tuple(parameters.items()),
        )
        default = described.get("default")
        if default is None:
            return made
        return replace(made, default=JsonSchemaReading().compile(made)(default))


class JsonSchemaReading(JsonReading):
    """From JSON to values. What is not there at all is left out, since JSON Schema calls few properties required."""

    def map(self, schema: Schema, key: Convert, value: Convert) -> Convert:
        if has_plain_keys(schema):
            return super().map(schema, key, value)

        def convert(given: Any) -> Any:
            if type(given) is not list:
                raise not_a("a map: one whose keys are no strings is an array of objects", given)
            return {key(_part(entry, "key")): value(_part(entry, "value")) for entry in given}

        return convert

    def struct(self, schema: Schema) -> Convert:
        if is_one_of(schema):
            return self._one_of(schema)
        fields = [(each.name, each.schema.default_value, self.compile(each.schema)) for each in schema.fields]

        def convert(value: Any) -> Any:
            if type(value) is not dict:
                raise not_a("a struct", value)
            found = {}
            name = ""
            try:
                for name, default, convert_field in fields:
                    if name in value:
                        found[name] = convert_field(value[name])
                    else:
                        found[name] = default
            except Mismatch as error:
                raise error.inside(name) from None
            return found

        return convert

    def _one_of(self, schema: Schema) -> Convert:
        """The first simple type that takes the value, or the struct that has most of its fields."""
        members = [(each.name, each.schema, self.compile(each.schema)) for each in schema.fields]

        def convert(value: Any) -> Any:
            for name, member, convert_member in members:
                if member.type is not Type.STRUCT:
                    try:
                        return {name: convert_member(value)}
                    except Mismatch:
                        continue
            structs = [each for each in members if _fields_in_common(each[1], value)]
            if not structs:
                raise Mismatch(f"{value!r:.80} is of no type of the union")
            name, _, convert_member = max(structs, key=lambda each: _fields_in_common(each[1], value))
            return {name: convert_member(value)}

        return convert


def _part(entry: Any, name: str) -> Any:
    if type(entry) is not dict or entry.keys() != {"key", "value"}:
        raise not_a("an entry of a map: an object of its key and its value", entry)
    return entry[name]


def _fields_in_common(schema: Schema, value: Any) -> int:
    if schema.type is not Type.STRUCT or type(value) is not dict:
        return 0
    inside = [each for each in schema.fields if each.name in value]
    return len(inside) + sum(_fields_in_common(each.schema, value[each.name]) for each in inside)


def _number(described: dict[str, Any]) -> Schema:
    kept = _BY_CONNECT_TYPE.get(described.get("connect.type", ""))
    return _PLAIN[described["type"]] if kept is None else Schema(kept)


def _enum(described: dict[str, Any]) -> Schema:
    values = described.get("enum", [described.get("const")])
    symbols = [NULL_SYMBOL if value is None else str(value) for value in values]
    return Schema(Type.STRING, parameters=((ENUM, ""), *((f"{ENUM}.{symbol}", symbol) for symbol in symbols)))


def _place(described: Any) -> int:
    """The place that Connect gave a field; those without one come in the order in which they stand, which sorting keeps."""
    place = described.get("connect.index") if isinstance(described, dict) else None
    return place if type(place) is int else 0
