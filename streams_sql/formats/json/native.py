"""JSON in Spark's SQL, by the same rules as the decoder and the encoder.

The object becomes a map of variants, in which each column looks for its field however that is spelt. What Spark would read or write in
another way is left to Python: at once where a column is of such a type, else at the first record that has such a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from streams_sql.evaluation.time_texts import MS_PER_DAY
from streams_sql.formats.serde import Layout
from streams_sql.formats.spark_texts import let, needs_python, text_literal
from streams_sql.formats.wrapping import is_wrapped
from streams_sql.sources import Column
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Map,
    SqlType,
    Struct,
)

_OPTIONS: Final = "map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false')"
_TEXT: Final = "CAST({payload} AS STRING)"
_FRACTION: Final = "(kind LIKE 'DECIMAL%' OR kind = 'DOUBLE')"
_PARTS: Final = "(kind LIKE 'ARRAY%' OR kind LIKE 'OBJECT%')"
_AS_TEXT: Final = "CAST(field AS STRING)"
_AS_DOUBLE: Final = "CAST(field AS DOUBLE)"
_WHOLE: Final = "'^[+-]?[0-9]{1,40}$'"
_SHORT_WHOLE: Final = "'^[+-]?[0-9]{1,18}$'"
_SHORT_FRACTION: Final = "'^[+-]?[0-9]{1,15}([.][0-9]{1,15})?$'"
# Above, floats do not tell whole numbers apart.
_FLOAT_EXACT_MAX: Final = 2**53

_LONG_NUMBER: Final = needs_python("a number in the JSON is longer than Spark reads exactly")
_NUMBER_AS_TEXT: Final = needs_python("the JSON has a fraction, an array or an object where a text is wanted")
_TEXT_AS_NUMBER: Final = needs_python("the JSON has a text where a number is wanted")
_NEGATIVE_ZERO: Final = needs_python("the JSON has a negative zero")

_WHOLE_VALUE: Final = (
    "CASE WHEN kind = 'BIGINT' THEN CAST(field AS BIGINT)"
    f" WHEN {_FRACTION} THEN CASE WHEN abs({_AS_DOUBLE}) <= {_FLOAT_EXACT_MAX} THEN CAST({_AS_DOUBLE} AS BIGINT)"
    f" ELSE {_LONG_NUMBER} END"
    f" WHEN kind = 'STRING' AND {_AS_TEXT} RLIKE {_SHORT_WHOLE} THEN CAST({_AS_TEXT} AS BIGINT)"
    f" WHEN kind = 'STRING' AND {_AS_TEXT} RLIKE {_WHOLE} THEN {_LONG_NUMBER} END"
)
_NOT_WHOLE: Final = f"kind = 'BOOLEAN' OR {_PARTS} OR (kind = 'STRING' AND NOT {_AS_TEXT} RLIKE {_WHOLE})"
_NOT_INTEGER: Final = f"{_NOT_WHOLE} OR ({_WHOLE_VALUE}) NOT BETWEEN {-(2**31)} AND {2**31 - 1}"
_NOT_NUMBER: Final = (
    f"kind = 'BOOLEAN' OR {_PARTS} OR (kind = 'STRING' AND NOT {_AS_TEXT} RLIKE '[0-9]|NaN|Infinity')"
    f" OR ({_FRACTION} AND abs({_AS_DOUBLE}) = double('Infinity'))"
)
_NUMBER_VALUE: Final = (
    f"CASE WHEN (kind = 'BIGINT' OR {_FRACTION}) THEN"
    f" CASE WHEN {_FRACTION} AND {_AS_DOUBLE} = 0 AND {_TEXT} LIKE '%-0%' THEN {_NEGATIVE_ZERO} ELSE {_AS_DOUBLE} END"
    f" WHEN kind = 'STRING' AND {_AS_TEXT} RLIKE {_SHORT_FRACTION} THEN CAST({_AS_TEXT} AS DOUBLE)"
    f" WHEN kind = 'STRING' AND {_AS_TEXT} RLIKE '[0-9]|NaN|Infinity' THEN {_TEXT_AS_NUMBER} END"
)
_TEXT_VALUE: Final = (
    f"CASE WHEN kind IN ('STRING', 'BIGINT', 'BOOLEAN') THEN {_AS_TEXT} WHEN kind <> 'VOID' THEN {_NUMBER_AS_TEXT} END"
)

# For each type, when a value cannot be one, and else the value. They speak of the variant `field` and of its type, `kind`.
_READINGS: Final[Mapping[SqlType, tuple[str, str]]] = {
    BOOLEAN: ("kind NOT IN ('VOID', 'BOOLEAN')", "CASE WHEN kind = 'BOOLEAN' THEN CAST(field AS BOOLEAN) END"),
    INTEGER: (_NOT_INTEGER, f"CAST({_WHOLE_VALUE} AS INT)"),
    BIGINT: (_NOT_WHOLE, _WHOLE_VALUE),
    TIMESTAMP: (_NOT_WHOLE, _WHOLE_VALUE),
    DATE: (_NOT_INTEGER, f"CAST({_WHOLE_VALUE} AS INT)"),
    TIME: (f"{_NOT_WHOLE} OR ({_WHOLE_VALUE}) NOT BETWEEN 0 AND {MS_PER_DAY}", f"CAST({_WHOLE_VALUE} AS INT)"),
    DOUBLE: (_NOT_NUMBER, _NUMBER_VALUE),
    STRING: ("false", _TEXT_VALUE),
}
_WRITTEN: Final = frozenset({BOOLEAN, INTEGER, BIGINT, DOUBLE, STRING, TIME, DATE, TIMESTAMP})


def json_decoding(layout: Layout) -> str | None:
    if not is_wrapped(layout) or any(column.type not in _READINGS for column in layout.columns):
        return None
    parsed = f"CASE WHEN is_valid_utf8({_TEXT}) THEN from_json({_TEXT}, 'map<string,variant>', {_OPTIONS}) END"
    fields = [f"'f{place}', {_field(column)}" for place, column in enumerate(layout.columns)]
    bad = " OR ".join(f"fields.f{place}.bad" for place in range(len(fields)))
    values = [f"{text_literal(column.name)}, fields.f{place}.value" for place, column in enumerate(layout.columns)]
    row = let(
        "fields",
        f"named_struct({', '.join(fields)})",
        f"CASE WHEN NOT ({bad}) THEN named_struct({', '.join(values)}) END",
    )
    return let("entries", f"map_entries({parsed})", f"CASE WHEN entries IS NOT NULL THEN {row} END")


def _field(column: Column) -> str:
    """Whether the column's field is bad, and its value. A field that is spelt as the column goes before the others; of several, the
    last one counts."""
    name = text_literal(column.name)
    found = [
        f"element_at(filter(entries, entry -> {spelt} = {name}), -1)" for spelt in ("entry.key", "upper(entry.key)")
    ]
    bad, value = _READINGS[column.type]
    read = f"named_struct('bad', coalesce({bad}, false), 'value', {value})"
    of_kind = let("kind", "coalesce(schema_of_variant(field), 'VOID')", read)
    return let("field", f"coalesce({found[0]}, {found[1]}).value", of_kind)


def json_encoding(layout: Layout) -> str | None:
    if not is_wrapped(layout) or not all(_is_written(column.type) for column in layout.columns):
        return None
    return "CAST(to_json({row}, map('ignoreNullFields', 'false')) AS BINARY)"


def _is_written(type_: SqlType) -> bool:
    match type_:
        case Array(element):
            return _is_written(element)
        case Map(key, value):
            return key is STRING and _is_written(value)
        case Struct(fields):
            return all(_is_written(field.type) for field in fields)
    return type_ in _WRITTEN
