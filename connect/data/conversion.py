"""Values changed from one form to another by their schema: a schema becomes a tree of closures, each of which checks and changes a part.

What a form does differently, its subclass says: `Conversion` itself checks values and leaves them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, ClassVar, Final

from barnabas.kernel.serdes.json_numbers import float_number
from connect.data.mismatch import Mismatch, not_a
from connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, Type

Convert = Callable[[Any], Any]
Absent = Callable[[], Any]


class Conversion:
    """Compiles schemas. Null becomes the default of its schema, if it has one and `replaces_null`, and else stays null where it may."""

    takes_unknown_fields: ClassVar[bool] = False

    def __init__(self, *, replaces_null: bool = True) -> None:
        self.replaces_null = replaces_null

    def compile(self, schema: Schema) -> Convert:
        return self.present(schema, self._absent(schema))

    def present(self, schema: Schema, absent: Absent) -> Convert:
        """What is to be done with a value; `absent` is called for none."""
        logical = self._logical(schema)
        if logical is not None:
            return nullable(logical, absent)
        if schema.type.bits is not None:
            return self.whole_number(schema.type, absent)
        if schema.type is Type.STRING:
            return _exactly(str, "a string", absent)
        if schema.type is Type.BOOLEAN:
            return _exactly(bool, "a boolean", absent)
        if schema.type is Type.FLOAT64:
            return nullable(self.float64, absent)
        if schema.type is Type.FLOAT32:
            return nullable(self.float32, absent)
        if schema.type is Type.BYTES:
            return nullable(self.binary, absent)
        return nullable(self._compound(schema), absent)

    def _logical(self, schema: Schema) -> Convert | None:
        if schema.name == DECIMAL and schema.type is Type.BYTES:
            return self.decimal(scale_of(schema))
        if schema.type is Type.INT32 and schema.name in (DATE, TIME):
            return self.date if schema.name == DATE else self.time
        return self.timestamp if schema.name == TIMESTAMP and schema.type is Type.INT64 else None

    def _compound(self, schema: Schema) -> Convert:
        if schema.type is Type.STRUCT:
            return self.struct(schema)
        assert schema.values is not None, "arrays and maps say what they hold"
        if schema.type is Type.ARRAY:
            return array(self.compile(schema.values))
        assert schema.keys is not None, "maps say what their keys are"
        return self.map(schema, self.compile(schema.keys), self.compile(schema.values))

    def _absent(self, schema: Schema) -> Absent:
        if self.replaces_null and schema.default_value is not None:
            default = self.default(schema)
            return lambda: default
        if schema.optional:
            return lambda: None
        kind = schema.name or schema.type.value
        reason = f"null, where a value of type {kind} is required and there is no default"

        def absent() -> Any:
            raise Mismatch(reason)

        return absent

    def default(self, schema: Schema) -> Any:
        """The default in the form that is converted to."""
        return self.present(schema, _no_default)(schema.default)

    def whole_number(self, kind: Type, absent: Absent) -> Convert:
        bits = kind.bits
        assert bits is not None, f"{kind} is a whole number"
        least, most = -(1 << bits - 1), (1 << bits - 1) - 1
        expected = f"a whole number of {bits} bits"

        def convert(value: Any) -> Any:
            if type(value) is int and least <= value <= most:
                return value
            if value is None:
                return absent()
            number = self.whole(value)
            if number is not None and least <= number <= most:
                return number
            raise not_a(expected, value)

        return convert

    def whole(self, value: Any) -> int | None:
        """The number of a value that is no plain integer; None: it is no whole number."""
        return int(value) if isinstance(value, int) and type(value) is not bool else None

    def float64(self, value: Any) -> Any:
        return as_float(value)

    def float32(self, value: Any) -> Any:
        return as_float32(value)

    def binary(self, value: Any) -> Any:
        return as_bytes(value)

    def decimal(self, scale: int) -> Convert:
        return as_decimal

    def date(self, value: Any) -> Any:
        return as_date(value)

    def time(self, value: Any) -> Any:
        return as_time(value)

    def timestamp(self, value: Any) -> Any:
        return as_timestamp(value)

    def map(self, schema: Schema, key: Convert, value: Convert) -> Convert:
        def convert(given: Any) -> Any:
            if type(given) is not dict:
                raise not_a("a map", given)
            return {key(name): item for name, item in converted_items(given, value)}

        return convert

    def struct(self, schema: Schema) -> Convert:
        fields = [(each.name, self.compile(each.schema)) for each in schema.fields]
        return struct_of(fields, takes_unknown=self.takes_unknown_fields)


_INFINITY: Final = float("inf")
# What is less is rounded to the greatest number of 32 bits.
_FLOAT32_LIMIT: Final = 3.4028235677973366e38


def _no_default() -> Any:
    raise Mismatch("the default is null")


def struct_of(fields: Sequence[tuple[str, Convert]], *, takes_unknown: bool) -> Convert:
    names = frozenset(name for name, _ in fields)

    def convert(value: Any) -> Any:
        if type(value) is not dict:
            raise not_a("a struct", value)
        if not (takes_unknown or names.issuperset(value)):
            raise unknown_fields(value, names)
        converted = {}
        get = value.get
        name = ""
        try:
            for name, convert_field in fields:
                converted[name] = convert_field(get(name))
        except Mismatch as error:
            raise error.inside(name) from None
        return converted

    return convert


def unknown_fields(value: dict[Any, Any], known: frozenset[str]) -> Mismatch:
    return Mismatch(f"the schema has no field {', '.join(sorted(map(str, value.keys() - known)))}")


def array(convert_item: Convert) -> Convert:
    def convert(value: Any) -> Any:
        if type(value) is not list and type(value) is not tuple:
            raise not_a("an array", value)
        items: list[Any] = []
        try:
            items.extend(map(convert_item, value))
        except Mismatch as error:
            raise error.inside(f"[{len(items)}]") from None
        return items

    return convert


def converted_items(given: dict[Any, Any], convert: Convert) -> list[tuple[Any, Any]]:
    """The entries of a map with their values converted."""
    items: list[tuple[Any, Any]] = []
    name = None
    try:
        for name, item in given.items():
            items.append((name, convert(item)))
    except Mismatch as error:
        raise error.inside(f"[{name!r}]") from None
    return items


def nullable(present: Convert, absent: Absent) -> Convert:
    def convert(value: Any) -> Any:
        return absent() if value is None else present(value)

    return convert


def _exactly(kind: type, expected: str, absent: Absent) -> Convert:
    def convert(value: Any) -> Any:
        if type(value) is kind:
            return value
        if value is None:
            return absent()
        if isinstance(value, kind):
            return kind(value)
        raise not_a(expected, value)

    return convert


def scale_of(schema: Schema) -> int:
    try:
        return schema.scale
    except ValueError:
        raise Mismatch(f"the scale of a decimal is {schema.parameter('scale')!r}, which is no whole number") from None


def as_float(value: Any) -> float:
    if type(value) is float:
        return value
    if isinstance(value, int | float) and type(value) is not bool:
        return float(value)
    raise not_a("a number", value)


def as_float32(value: Any) -> float:
    number = as_float(value)
    if abs(number) >= _FLOAT32_LIMIT and abs(number) != _INFINITY:
        raise not_a("a number of 32 bits", value)
    return number


def shortest_float32(value: Any) -> float:
    """The shortest number that stands for one of 32 bits: 0.1, where its bits alone say 0.10000000149011612."""
    return float(float_number(float(value)))


def as_bytes(value: Any) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise not_a("bytes", value)


def as_decimal(value: Any) -> Decimal:
    if isinstance(value, Decimal):
        return value
    if isinstance(value, int) and type(value) is not bool:
        return Decimal(value)
    raise not_a("a decimal", value)


def as_date(value: Any) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    raise not_a("a date", value)


def as_time(value: Any) -> time:
    if isinstance(value, time):
        return value
    raise not_a("a time", value)


def as_timestamp(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    raise not_a("a timestamp", value)
