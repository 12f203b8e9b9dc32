"""Values of columns as the kernel's codec takes them, which makes bytes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from barnabas.kernel.serdes.avro_names import AvroNames, is_null, parsed
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.serde import Values
from streams_sql.formats.written import Convert, unscaled_bytes
from streams_sql.sources import Column
from streams_sql.sql_types import Array, Decimal, Map, SqlType, Struct


def avro_value_writer(text: str, referenced: Sequence[str], type_: SqlType) -> Callable[[Any], Any]:
    schema, names = parsed(text, referenced)
    return _Writer(names).value(schema, type_, "")


def avro_row_writer(text: str, referenced: Sequence[str], columns: Sequence[Column]) -> Callable[[Values], Any]:
    """Mismatch where the schema has no field for a column, or a field that no column fills and that has no default."""
    schema, names = parsed(text, referenced)
    described = names.named(schema, "")
    if described is None:
        raise Mismatch("The schema is no record: set WRAP_SINGLE_VALUE=false for a single column that stands alone")
    fields = _Writer(names).fields(described, [(column.name, column.type) for column in columns])
    return _record(fields)


class _Field(NamedTuple):
    name: str
    convert: Convert
    has_default: bool


class _Writer:
    def __init__(self, names: AvroNames) -> None:
        self._names = names

    def fields(self, record: Mapping[str, Any], wanted: Sequence[tuple[str, SqlType]]) -> list[_Field]:
        described = {each["name"]: each for each in record["fields"]}
        space = record["name"].rpartition(".")[0]
        found = []
        for name, type_ in wanted:
            given = name if name in described else name.replace(".", "_")
            if given not in described:
                raise Mismatch(f"Schema from Schema Registry misses field with name: {name}")
            field = described.pop(given)
            has_default = "default" in field and not _takes_null(field["type"])
            found.append(_Field(given, self.value(field["type"], type_, space), has_default))
        for name, field in described.items():
            if "default" not in field:
                raise Mismatch(
                    f"Schema from Schema Registry has a field without a default that no column fills: {name}"
                )
        return found

    def value(self, described: Any, type_: SqlType, space: str) -> Convert:
        """From a value, None for NULL, to what the codec takes."""
        if not isinstance(described, list):
            return _present(self._single(described, type_, space))
        given = [each for each in described if not is_null(each)]
        if len(given) != 1:
            raise Mismatch(f"A union of several types cannot be written from a column of type {type_}")
        return _present(self._single(given[0], type_, space))

    def _single(self, described: Any, type_: SqlType, space: str) -> Convert:
        named = self._names.named(described, space)
        match type_:
            case Struct(fields) if named is not None and "fields" in named:
                write = _record(self.fields(named, [(field.name, field.type) for field in fields]))
                return lambda value: write(tuple(value.values()))
            case Array(element) if isinstance(described, dict) and described["type"] == "array":
                item = self.value(described["items"], element, space)
                return lambda values: [item(value) for value in values]
            case Map(key, value) if isinstance(described, dict):
                return self._map(described, key, value, space)
            case Decimal(_, scale):
                return _decimal(scale, named)
        return _same

    def _map(self, described: Mapping[str, Any], key: SqlType, value: SqlType, space: str) -> Convert:
        if described["type"] == "map":
            item = self.value(described["values"], value, space)
            return lambda entries: {name: item(held) for name, held in entries.items()}
        entry = self._names.named(described["items"], space)
        if entry is None:
            raise Mismatch("The schema has no map where the column is one")
        write = _record(self.fields(entry, [("key", key), ("value", value)]))
        return lambda entries: [write(item) for item in entries.items()]


def _same(value: Any) -> Any:
    return value


def _present(convert: Convert) -> Convert:
    return convert if convert is _same else lambda value: None if value is None else convert(value)


def _record(fields: Sequence[_Field]) -> Convert:
    """From the values of the fields. NULL for a field that takes none, but has a default, is left out: the codec puts the default in."""
    if not any(field.has_default for field in fields):
        pairs = [(field.name, field.convert) for field in fields]
        return lambda values: {name: convert(held) for (name, convert), held in zip(pairs, values, strict=True)}
    return lambda values: {
        field.name: field.convert(held)
        for field, held in zip(fields, values, strict=True)
        if held is not None or not field.has_default
    }


def _takes_null(described: Any) -> bool:
    return any(map(is_null, described)) if isinstance(described, list) else is_null(described)


def _decimal(scale: int, fixed: Mapping[str, Any] | None) -> Convert:
    size = 0 if fixed is None else int(fixed["size"])

    def write(value: Any) -> bytes:
        data = unscaled_bytes(value, scale)
        return data.rjust(size, b"\xff" if data[0] & 0x80 else b"\0")

    return write
