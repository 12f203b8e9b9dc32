"""Values of Connect as the codec takes them, which makes bytes of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from connect.converters import avro_names as names
from connect.converters.avro_names import has_plain_keys, is_enum, is_fixed, is_union, scrubbed
from connect.converters.avro_schema import AvroDescription, AvroOptions
from connect.data import logical
from connect.data.conversion import (
    Absent,
    Conversion,
    Convert,
    as_date,
    as_decimal,
    as_time,
    as_timestamp,
    converted_items,
    unknown_fields,
)
from connect.data.mismatch import Mismatch, not_a
from connect.data.schema import DECIMAL, Schema, Type
from connect.errors import DataError

_PLAIN: Final = frozenset({Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64, Type.BOOLEAN, Type.STRING})


class AvroWriting(Conversion):
    """Compiles schemas to what makes values ready for the codec. It must know the names that a description has given."""

    def __init__(self, description: AvroDescription, options: AvroOptions, *, replaces_null: bool) -> None:
        super().__init__(replaces_null=replaces_null)
        self._description = description
        self._options = options

    def present(self, schema: Schema, absent: Absent) -> Convert:
        convert = super().present(schema, absent)
        if is_fixed(schema) and schema.name == DECIMAL:
            return _fixed_decimal(convert, int(schema.parameter(names.FIXED_SIZE) or 0))
        return convert

    def decimal(self, scale: int) -> Convert:
        return lambda value: logical.decimal_bytes(as_decimal(value), scale)

    def date(self, value: Any) -> Any:
        return logical.days(as_date(value))

    def time(self, value: Any) -> Any:
        return logical.time_ms(as_time(value))

    def timestamp(self, value: Any) -> Any:
        return logical.timestamp_ms(as_timestamp(value))

    def map(self, schema: Schema, key: Convert, value: Convert) -> Convert:
        if has_plain_keys(schema, allows_optional=self._options.allows_optional_keys):
            return super().map(schema, key, value)

        def convert(given: Any) -> Any:
            if type(given) is not dict:
                raise not_a("a map", given)
            return [{"key": key(name), "value": item} for name, item in converted_items(given, value)]

        return convert

    def struct(self, schema: Schema) -> Convert:
        if is_union(schema):
            return self._union(schema)
        if self._options.scrubs_names:
            convert = super().struct(schema)
            return lambda value: {scrubbed(name): item for name, item in convert(value).items()}
        changed = [(each.name, self.compile(each.schema)) for each in schema.fields if not self._is_plain(each.schema)]
        return _struct(frozenset(each.name for each in schema.fields), changed)

    def _is_plain(self, schema: Schema) -> bool:
        """Whether the codec takes values as they are, and checks them itself."""
        return schema.type in _PLAIN and schema.name not in names.LOGICAL_TYPES and schema.default_value is None

    def _union(self, schema: Schema) -> Convert:
        """A struct of which one field is set, for each type that the union holds."""
        members = {}
        for each in schema.fields:
            required = each.schema.as_required()
            members[each.name] = self._union_branch(required), self.compile(required)
        # The codec has the branch only where there is a choice.
        is_single = len(members) == 1

        def convert(value: Any) -> Any:
            if type(value) is not dict:
                raise not_a("a struct", value)
            given = [name for name, item in value.items() if item is not None]
            if len(given) != 1 or given[0] not in members:
                raise Mismatch(f"one of the fields {', '.join(members)} must be set, and here {given} are")
            branch, convert_member = members[given[0]]
            converted = convert_member(value[given[0]])
            return converted if is_single else {branch: converted}

        return convert

    def _union_branch(self, schema: Schema) -> str:
        if schema.type is Type.STRUCT or is_fixed(schema) or (is_enum(schema) and self._options.is_enhanced):
            return self._description.full_name(schema)
        described = self._description.describe(schema)
        kind: str = described if isinstance(described, str) else described["type"]
        return kind


def _struct(known: frozenset[str], changed: Sequence[tuple[str, Convert]]) -> Convert:
    def convert(value: Any) -> Any:
        if type(value) is not dict:
            raise not_a("a struct", value)
        if not known.issuperset(value):
            raise unknown_fields(value, known)
        found = value.copy()
        name = ""
        try:
            for name, convert_field in changed:
                found[name] = convert_field(found.get(name))
        except Mismatch as error:
            raise error.inside(name) from None
        return found

    return convert


def _fixed_decimal(convert: Convert, size: int) -> Convert:
    def convert_fixed(value: Any) -> Any:
        data = convert(value)
        return None if data is None else data.rjust(size, b"\xff" if data[:1] >= b"\x80" else b"\0")

    return convert_fixed


ANYTHING_SCHEMA: Final = {
    "type": "record",
    "name": "Anything",
    "namespace": names.NAMESPACE,
    "fields": [
        *(
            {"name": kind, "type": ["null", kind], "default": None}
            for kind in ("boolean", "bytes", "double", "float", "int", "long", "string")
        ),
        {"name": "array", "type": ["null", {"type": "array", "items": "Anything"}], "default": None},
        {
            "name": "map",
            "type": [
                "null",
                {
                    "type": "array",
                    "items": {
                        "type": "record",
                        "name": names.MAP_ENTRY,
                        "fields": [{"name": "key", "type": "Anything"}, {"name": "value", "type": "Anything"}],
                    },
                },
            ],
            "default": None,
        },
    ],
}
"""What a value without schema is: a record of which the field of the value's type is set."""

_FIELDS: Final = {bool: "boolean", int: "long", float: "double", str: "string"}


def anything(value: Any) -> dict[str, Any]:
    """A value without schema as such a record."""
    if value is None:
        return {}
    field = _FIELDS.get(type(value))
    if field is not None:
        return {field: value}
    if isinstance(value, bytes | bytearray | memoryview):
        return {"bytes": bytes(value)}
    if isinstance(value, list | tuple):
        return {"array": [anything(item) for item in value]}
    if isinstance(value, dict):
        return {"map": [{"key": anything(name), "value": anything(item)} for name, item in value.items()]}
    if isinstance(value, Decimal | date | datetime | time):
        raise DataError(f"{value!r} has no schema, and Avro needs one for it: let the source give schemas")
    raise not_a("a value that Avro can say", value)


def from_anything(record: dict[str, Any]) -> Any:
    """What such a record stands for; null if no field is set."""
    for name, value in record.items():
        if value is None:
            continue
        if name == "array":
            return [from_anything(item) for item in value]
        if name == "map":
            return {from_anything(entry["key"]): from_anything(entry["value"]) for entry in value}
        return value
    return None
