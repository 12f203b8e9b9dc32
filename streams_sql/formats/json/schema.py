"""The JSON Schema of columns, as ksqlDB builds it through Connect, and what such schemas say of records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from streams_sql.formats import connect_names as names
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.serde import Layout
from streams_sql.formats.wrapping import is_wrapped
from streams_sql.formats.written import Entries, Fields, Items, Part, Scalar
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DECIMAL_PRECISION_MAX,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Base,
    Decimal,
    Field,
    Map,
    SqlType,
    Struct,
)

NESTING_MAX_LEVELS: Final = 100
_NULL: Final = {"type": "null"}
_TYPES: Final[Mapping[SqlType, Mapping[str, Any]]] = {
    BOOLEAN: {"type": "boolean"},
    INTEGER: {"type": "integer", names.TYPE: "int32"},
    BIGINT: {"type": "integer", names.TYPE: "int64"},
    DOUBLE: {"type": "number", names.TYPE: "float64"},
    STRING: {"type": "string"},
    BYTES: {"type": "string", names.TYPE: "bytes"},
    DATE: {"type": "integer", "title": names.DATE, names.TYPE: "int32", names.VERSION: 1},
    TIME: {"type": "integer", "title": names.TIME, names.TYPE: "int32", names.VERSION: 1},
    TIMESTAMP: {"type": "integer", "title": names.TIMESTAMP, names.TYPE: "int64", names.VERSION: 1},
}
_BY_TITLE: Final[Mapping[Any, Base]] = {_TYPES[type_]["title"]: type_ for type_ in (DATE, TIME, TIMESTAMP)}
_NARROW: Final = ("int8", "int16", "int32")


def json_schema(layout: Layout) -> dict[str, Any]:
    if is_wrapped(layout):
        return _described(Struct(tuple(Field(column.name, column.type) for column in layout.columns)))
    # Connect's schema of a single column is optional, as those of fields are.
    return _optional(layout.columns[0].type)


def _optional(type_: SqlType, place: int | None = None) -> dict[str, Any]:
    """`place` is that of a field among the fields of its struct, whose order JSON does not keep."""
    placed = {} if place is None else {names.INDEX: place}
    return {**placed, "oneOf": [_NULL, _described(type_)]}


def _described(type_: SqlType) -> dict[str, Any]:
    match type_:
        case Decimal(precision, scale):
            parameters = {names.SCALE: str(scale), names.PRECISION: str(precision)}
            described = {"type": "number", "title": names.DECIMAL, names.TYPE: "bytes", names.VERSION: 1}
            return {**described, names.PARAMETERS: parameters}
        case Array(element):
            return {"type": "array", "items": _optional(element)}
        case Map(key, value):
            # Keys may be null, which names of JSON cannot be.
            entry = {"key": _optional(key, 0), "value": _optional(value, 1)}
            return {"type": "array", names.TYPE: names.MAP, "items": {"type": "object", "properties": entry}}
        case Struct(fields):
            return {
                "type": "object",
                "properties": {field.name: _optional(field.type, place) for place, field in enumerate(fields)},
            }
    return dict(_TYPES[type_])


def has_entries(described: Any) -> bool:
    """Whether maps of the schema are arrays of objects with a key and a value."""
    if isinstance(described, list):
        return any(map(has_entries, described))
    if not isinstance(described, dict):
        return False
    is_one = described.get(names.TYPE) == names.MAP and described.get("type") == "array"
    return is_one or any(map(has_entries, described.values()))


def read_json_schema(text: str, referenced: Mapping[str, str]) -> Part | None:
    """What the schema says; None where no column can hold it."""
    try:
        return _Reader(json.loads(text), referenced).part
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Mismatch(f"The JSON schema cannot be read ({type(error).__name__}: {error}): {text[:200]}") from None


class _Reader:
    def __init__(self, root: Any, referenced: Mapping[str, str]) -> None:
        self._root = root
        self._referenced = referenced
        self.part = self._read(root, 0)

    def _read(self, described: Any, level: int) -> Part | None:
        if level > NESTING_MAX_LEVELS or not isinstance(described, dict):
            return None
        if "$ref" in described:
            return self._read(self._target(described["$ref"]), level + 1)
        for word in ("oneOf", "anyOf"):
            if word in described:
                return self._choice(described[word], level + 1)
        if "allOf" in described:
            return self._read(self._merged(described), level + 1)
        kind = described.get("type")
        if isinstance(kind, list):
            return self._choice([{**described, "type": each} for each in kind], level + 1)
        if kind == "array":
            return self._array(described, level + 1)
        if kind == "object" or "properties" in described:
            return self._object(described, level + 1)
        return _scalar(kind, described)

    def _choice(self, members: list[Any], level: int) -> Part | None:
        """Of several types beside null, no column can be made."""
        given = [each for each in members if not (isinstance(each, dict) and each.get("type") == "null")]
        return self._read(given[0], level) if len(given) == 1 else None

    def _target(self, reference: str) -> Any:
        name, _, pointer = reference.partition("#")
        found = json.loads(self._referenced[name]) if name else self._root
        for step in pointer.split("/")[1:]:
            found = found[step.replace("~1", "/").replace("~0", "~")]
        return found

    def _merged(self, described: Mapping[str, Any]) -> dict[str, Any]:
        """One schema that has what each of them has."""
        merged = {word: value for word, value in described.items() if word != "allOf"}
        for each in described["allOf"]:
            part = self._target(each["$ref"]) if "$ref" in each else each
            properties = {**merged.get("properties", {}), **part.get("properties", {})}
            merged = {**part, **merged, **({"properties": properties} if properties else {})}
        return merged

    def _array(self, described: Mapping[str, Any], level: int) -> Part | None:
        items = described["items"]
        if described.get(names.TYPE) == names.MAP:
            value = self._read(items["properties"]["value"], level)
            return None if value is None else Entries(value)
        item = self._read(items, level)
        return None if item is None else Items(item)

    def _object(self, described: Mapping[str, Any], level: int) -> Part | None:
        if described.get(names.TYPE) == names.MAP:
            value = self._read(described.get("additionalProperties"), level)
            return None if value is None else Entries(value)
        properties = described.get("properties", {})
        # Those that Connect gave no place come in the order in which they stand, which sorting keeps.
        placed = sorted(properties, key=lambda name: int(_property(properties[name], names.INDEX, 0)))
        parts = [(name, self._read(properties[name], level)) for name in placed]
        return Fields(tuple((name, part) for name, part in parts if part is not None))


def _property(described: Any, word: str, default: Any) -> Any:
    return described.get(word, default) if isinstance(described, dict) else default


def _scalar(kind: Any, described: Mapping[str, Any]) -> Part | None:
    title, connect_type = described.get("title"), described.get(names.TYPE)
    if kind == "integer":
        return Scalar(_BY_TITLE.get(title) or (INTEGER if connect_type in _NARROW else BIGINT))
    if title == names.DECIMAL:
        parameters = described.get(names.PARAMETERS, {})
        precision = int(parameters.get(names.PRECISION, DECIMAL_PRECISION_MAX))
        return Scalar(Decimal(precision, int(parameters.get(names.SCALE, 0))))
    if kind == "number":
        return Scalar(INTEGER if connect_type in _NARROW else BIGINT if connect_type == "int64" else DOUBLE)
    if kind == "string":
        return Scalar(BYTES if connect_type == "bytes" else STRING)
    if kind == "boolean":
        return Scalar(BOOLEAN)
    return Scalar(STRING) if "enum" in described or "const" in described else None
