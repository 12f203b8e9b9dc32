"""Avro in Spark's SQL, for records whose fields are single values.

A record names the schema that it was written with, and Spark reads with one that it knows beforehand: there is a branch for each schema
that is known, and a record of another one fails the query, which is then started again with that one. Annotations of a schema (dates,
times) are left out of what Spark is given: it then has the numbers themselves, as the rest of the program does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from barnabas.kernel.serdes.avro_names import is_null
from streams_sql.evaluation.time_texts import MS_PER_DAY
from streams_sql.formats.avro.reading import read_avro_schema
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.serde import Layout
from streams_sql.formats.spark_texts import let, needs_python, new_schema, text_literal
from streams_sql.formats.spark_types import spark_type
from streams_sql.formats.wrapping import is_wrapped
from streams_sql.formats.written import Fields, Scalar, value_reader
from streams_sql.sources import Column
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    SqlType,
    quoted,
)

_PLAIN: Final = frozenset({"boolean", "int", "long", "float", "double", "bytes", "string"})
_KIND_OF: Final[Mapping[SqlType, str]] = {
    BOOLEAN: "boolean",
    INTEGER: "int",
    DATE: "int",
    TIME: "int",
    BIGINT: "long",
    TIMESTAMP: "long",
    DOUBLE: "double",
    STRING: "string",
    BYTES: "bytes",
}
_ID: Final = "conv(hex(substring({payload}, 2, 4)), 16, 10)"
# Of a record by itself, Spark does not tell one that it cannot read from one whose fields are all NULL; of an array of one, it does.
_ONE_ITEM: Final = "concat(X'02', substring({payload}, 6), X'00')"
_ITEMS: Final = "from_avro(%s, %s, map('mode', 'PERMISSIVE'))"

_LONG_DAY: Final = needs_python("the record has a TIME beyond the end of the day")


def avro_decoding(layout: Layout, schemas: Mapping[int, str | None]) -> str | None:
    """`schemas` are the texts of those that are known by their ids; None for one that is no schema of Avro's."""
    if not is_wrapped(layout) or any(column.type not in _KIND_OF for column in layout.columns):
        return None
    branches = []
    for number, text in sorted(schemas.items()):
        read = _nothing(layout.columns) if text is None else _reading(text, layout.columns)
        if read is None:
            return None
        branches.append(f"WHEN '{number}' THEN {read}")
    known = f"CASE {_ID} {' '.join(branches)} ELSE {new_schema(_ID)} END" if branches else new_schema(_ID)
    by_guid = needs_python("the record names its schema by a GUID")
    return (
        f"CASE WHEN length({{payload}}) >= 5 AND substring({{payload}}, 1, 1) = X'00' THEN {known}"
        f" WHEN length({{payload}}) >= 17 AND substring({{payload}}, 1, 1) = X'01' THEN {by_guid} END"
    )


def _reading(text: str, columns: Sequence[Column]) -> str | None:
    """What makes the columns of a record of this schema; None where that is left to Python. One that no column goes with is NULL."""
    described = json.loads(text)
    if not isinstance(described, dict) or described.get("type") != "record":
        return None
    fields = [(name, _kind(type_)) for name, type_ in _types(described)]
    # Spark does not tell names apart that differ in case alone.
    if any(kind is None for _, kind in fields) or len({name.upper() for name, _ in fields}) < len(fields):
        return None
    part = read_avro_schema(text)
    if not isinstance(part, Fields):
        return None
    kinds = {name: str(kind) for name, kind in fields}
    try:
        wanted = {column.name for column in columns}
        upper = {name.upper(): name for name, _ in part.fields if name not in wanted}
        values = [f"{text_literal(column.name)}, {_value(part, kinds, upper, column)}" for column in columns]
    except Mismatch:
        return _nothing(columns)
    except _LeftToPython:
        return None
    schema = text_literal(json.dumps({"type": "array", "items": _stripped(described)}))
    row = let("item", "items[0]", f"named_struct({', '.join(values)})")
    return let("items", _ITEMS % (_ONE_ITEM, schema), f"CASE WHEN size(items) = 1 THEN {row} END")


def _nothing(columns: Sequence[Column]) -> str:
    fields = ", ".join(f"{quoted(column.name)}: {spark_type(column.type)}" for column in columns)
    return f"CAST(NULL AS STRUCT<{fields}>)"


class _LeftToPython(Exception):
    """Spark would make another value of it."""


def _types(described: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(each["name"], each["type"]) for each in described["fields"]]


def _kind(type_: Any) -> str | None:
    """The plain type of a field, which may be NULL; None for all others."""
    if isinstance(type_, list):
        given = [each for each in type_ if not is_null(each)]
        return _kind(given[0]) if len(given) == 1 else None
    if isinstance(type_, dict):
        return None if type_.get("logicalType") == "decimal" else _kind(type_["type"])
    return type_ if type_ in _PLAIN else None


def _stripped(described: Mapping[str, Any]) -> dict[str, Any]:
    """The record without annotations, and under a name that Spark takes."""
    fields = [{"name": name, "type": _nullable(type_, str(_kind(type_)))} for name, type_ in _types(described)]
    return {"type": "record", "name": "Written", "fields": fields}


def _nullable(type_: Any, kind: str) -> Any:
    """The type without annotations. The order of a union is part of how it is written."""
    if isinstance(type_, list):
        return ["null" if is_null(each) else kind for each in type_]
    return kind


def _value(part: Fields, kinds: Mapping[str, str], upper: Mapping[str, str], column: Column) -> str:
    """From the field that `item` has for a column to its value. Mismatch where no value of the column's type can be made of it."""
    written = dict(part.fields)
    name = column.name
    found = name if name in written else upper.get(name)
    type_ = spark_type(column.type)
    if found is None:
        return f"CAST(NULL AS {type_})"
    scalar = written[found]
    value_reader(scalar, column.type, f"->{name}")
    assert isinstance(scalar, Scalar), "only single values have come so far"
    field = f"item.{quoted(found)}"
    if column.type in (TIMESTAMP, TIME) and scalar.units_per_ms > 1:
        units = scalar.units_per_ms
        field = f"(({field} - pmod({field}, {units})) div {units})"
    if column.type is TIME:
        return f"CAST(CASE WHEN {field} NOT BETWEEN 0 AND {MS_PER_DAY} THEN {_LONG_DAY} ELSE {field} END AS {type_})"
    if column.type is STRING and kinds[found] in ("float", "double"):
        raise _LeftToPython
    return f"CAST({field} AS {type_})"


def avro_encoding(layout: Layout, schema_id: int, text: str) -> str | None:
    """With the schema of this id. Every field must take NULL, and be of the column's own type."""
    described = json.loads(text)
    if not is_wrapped(layout) or not isinstance(described, dict) or described.get("type") != "record":
        return None
    columns = {column.name.replace(".", "_"): column for column in layout.columns}
    fields = _types(described)
    if set(columns) != {name for name, _ in fields}:
        return None
    for name, type_ in fields:
        if not isinstance(type_, list) or not any(map(is_null, type_)):
            return None
        kind = _kind(type_)
        if kind is None or kind != _KIND_OF.get(columns[name].type):
            return None
    values = ", ".join(f"{text_literal(name)}, {{row}}.{quoted(columns[name].name)}" for name, _ in fields)
    body = f"to_avro(named_struct({values}), {text_literal(json.dumps(_stripped(described)))})"
    return f"concat(X'00{schema_id:08x}', {body})"
