"""Avro schemas as parts that are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from barnabas.kernel.serdes.avro_names import AvroNames, is_null, parsed
from streams_sql.formats import connect_names as names
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.written import Convert, Entries, Fields, Items, Part, Scalar, decimal_of
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
    Decimal,
)

_PRECISION_DEFAULT: Final = 64


_PRIMITIVES: Final[Mapping[str, Scalar]] = {
    "boolean": Scalar(BOOLEAN),
    "int": Scalar(INTEGER),
    "long": Scalar(BIGINT),
    "float": Scalar(DOUBLE),
    "double": Scalar(DOUBLE),
    "bytes": Scalar(BYTES),
    "string": Scalar(STRING),
}
_LOGICAL: Final[Mapping[tuple[str, str], Scalar]] = {
    ("int", "date"): Scalar(DATE),
    ("int", "time-millis"): Scalar(TIME),
    ("long", "timestamp-millis"): Scalar(TIMESTAMP),
    ("long", "timestamp-micros"): Scalar(BIGINT, units_per_ms=1_000),
    ("long", "time-micros"): Scalar(BIGINT, units_per_ms=1_000),
}


def read_avro_schema(text: str, referenced: Sequence[str] = ()) -> Part | None:
    """The part that a schema is; None where no column can hold it. The texts that it refers to come first."""
    try:
        schema, found = parsed(text, referenced)
        return _Reader(found).part(schema, "")
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise Mismatch(f"The Avro schema cannot be read ({type(error).__name__}: {error}): {text[:200]}") from None


class _Reader:
    def __init__(self, found: AvroNames) -> None:
        self._names = found
        self._open: set[str] = set()

    def part(self, described: Any, space: str) -> Part | None:
        if isinstance(described, list):
            return self._union(described, space)
        named = self._names.named(described, space)
        if named is not None:
            return self._named_part(named)
        if isinstance(described, str):
            return _PRIMITIVES.get(described)
        kind = described["type"]
        if isinstance(kind, dict | list):
            return self.part(kind, space)
        if kind == "array":
            return self._array(described["items"], space)
        if kind == "map":
            value = self.part(described["values"], space)
            return None if value is None else Entries(value)
        return _scalar(kind, described) if kind in _PRIMITIVES else None

    def _named_part(self, described: dict[str, Any]) -> Part | None:
        if described["type"] == "enum":
            return Scalar(STRING)
        if described["type"] == "fixed":
            return _scalar("bytes", described)
        full_name = described["name"]
        if full_name in self._open:
            # A record that holds itself has no type in SQL.
            return None
        self._open.add(full_name)
        space = full_name.rpartition(".")[0]
        fields = [(each["name"], self.part(each["type"], space)) for each in described["fields"]]
        self._open.discard(full_name)
        return Fields(tuple((name, part) for name, part in fields if part is not None))

    def _array(self, items: Any, space: str) -> Part | None:
        item = self.part(items, space)
        if isinstance(item, Fields) and _is_entry(self._names.named(items, space)):
            parts = dict(item.fields)
            return Entries(parts["value"], _entries_reader(parts["key"].read))
        return None if item is None else Items(item)

    def _union(self, described: list[Any], space: str) -> Part | None:
        """With null and one type more, that type; else a struct with a field for each type, of which one is set."""
        given = [each for each in described if not is_null(each)]
        parts = [(self._names.branch(each, space), self.part(each, space)) for each in given]
        if len(parts) == 1:
            return parts[0][1]
        fields = tuple((branch.rpartition(".")[2], part) for branch, part in parts if part is not None)
        return Fields(fields, _shortened)


def _is_entry(item: Mapping[str, Any] | None) -> bool:
    """Whether an array of these items is a map of Connect."""
    if item is None or {each["name"] for each in item.get("fields", ())} != {"key", "value"}:
        return False
    return item["name"] == names.MAP_ENTRY_FULL_NAME or item.get(names.INTERNAL_TYPE) == names.MAP_ENTRY


def _scalar(kind: str, described: Mapping[str, Any]) -> Scalar:
    logical = described.get("logicalType")
    if kind == "bytes" and logical == "decimal":
        return _decimal(int(described.get("precision", _PRECISION_DEFAULT)), int(described.get("scale", 0)))
    return _LOGICAL.get((kind, str(logical)), _PRIMITIVES[kind])


def _decimal(precision: int, scale: int) -> Scalar:
    return Scalar(Decimal(min(precision, DECIMAL_PRECISION_MAX), scale), lambda value: decimal_of(value, scale))


def _shortened(value: Mapping[str, Any]) -> dict[str, Any]:
    return {branch.rpartition(".")[2]: item for branch, item in value.items()}


def _entries_reader(read_key: Convert | None) -> Convert:
    if read_key is None:
        return lambda entries: {entry["key"]: entry["value"] for entry in entries}
    return lambda entries: {entry["key"] and read_key(entry["key"]): entry["value"] for entry in entries}
