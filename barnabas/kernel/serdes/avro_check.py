"""Avro's binary data checked byte by byte, without making values of it.

fastavro is quicker, and trusts its data: it counts items that take no bytes as far as they are said to go, follows nesting until the
stack overflows, and drops the bits of a number beyond 64. What could do so is checked before it, and what it cannot read after it, since
the reason is known here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Final

from barnabas.kernel.serdes.avro_types import (
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    MapType,
    PrimitiveType,
    RecordField,
    RecordType,
    UnionType,
)
from barnabas.kernel.serdes.serdes_error import SerdesError
from barnabas.wire.varint import read_varlong
from barnabas.wire.wire_error import WireError

# Items that take no bytes, such as nulls, could be counted without end by a few bytes.
ITEMS_WITHOUT_BYTES_MAX: Final = 1_000_000
EMPTY_VALUES_TRUSTED: Final = 10
"""In one record. More of them make much memory of few bytes."""
INT_MAX: Final = 2**31 - 1
NESTED_MAX_BYTES: Final = 256
"""Each level takes a byte at least: so little nests no deeper than the stack of fastavro allows."""


def trusted_bytes(kind: AvroType) -> int:
    """How long data may be to be read without a check. Always checked are arrays of items, and records in themselves, that take no bytes,
    and records of many values that take none: such records in one another multiply them."""
    search = _Search()
    search.takes_bytes(kind)
    if search.has_empty_items or not all(search.records[each] for each in search.items):
        return -1
    if max(search.empty_values.values(), default=0) > EMPTY_VALUES_TRUSTED:
        return -1
    if search.is_recursive and not all(search.records.values()):
        return -1
    return NESTED_MAX_BYTES if search.is_recursive else sys.maxsize


class _Search:
    def __init__(self) -> None:
        self.is_recursive = False
        self.has_empty_items = False
        self.records: dict[RecordType, bool] = {}
        self.empty_values: dict[RecordType, int] = {}
        """How many values that take no bytes each record holds, with those of records inside it."""
        self.items: set[RecordType] = set()
        self._open: set[RecordType] = set()

    def takes_bytes(self, kind: AvroType) -> bool:
        """Whether each value of the type takes a byte at least."""
        if isinstance(kind, RecordType):
            return self._record_takes_bytes(kind)
        for inside in _inside(kind):
            takes_bytes = self.takes_bytes(inside)
            if isinstance(kind, ArrayType) and isinstance(inside, RecordType):
                # Known when the record is complete, which it may not be yet.
                self.items.add(inside)
            elif isinstance(kind, ArrayType) and not takes_bytes:
                self.has_empty_items = True
        if isinstance(kind, PrimitiveType):
            return kind.name != "null"
        return not isinstance(kind, FixedType) or kind.size != 0

    def _record_takes_bytes(self, kind: RecordType) -> bool:
        self.is_recursive |= kind in self._open
        if kind not in self.records:
            self.records[kind] = False
            self._open.add(kind)
            taking = [self.takes_bytes(each.type) for each in kind.fields]
            self._open.discard(kind)
            self.records[kind] = any(taking)
            self.empty_values[kind] = sum(map(self._empty_values, kind.fields, taking)) or not kind.fields
        return self.records[kind]

    def _empty_values(self, field: RecordField, takes_bytes: bool) -> int:
        return self.empty_values.get(field.type, 0) if isinstance(field.type, RecordType) else not takes_bytes


def _inside(kind: AvroType) -> tuple[AvroType, ...]:
    if isinstance(kind, UnionType):
        return kind.branches
    if isinstance(kind, ArrayType):
        return (kind.items,)
    return (kind.values,) if isinstance(kind, MapType) else ()


def check_data(kind: AvroType, data: bytes) -> None:
    """SerdesError if the data is not one value of the type."""
    try:
        end = _Walk(data).end(kind, 0)
    except IndexError:
        raise SerdesError(f"the data ends too early: {len(data)} bytes are not a whole value") from None
    except RecursionError:
        raise SerdesError("the data is nested too deeply") from None
    if end != len(data):
        raise SerdesError(f"{len(data) - end} bytes are left over behind the value: written with another schema?")


class _Walk:
    def __init__(self, data: bytes) -> None:
        self._data = data
        # Arrays inside of arrays add up.
        self._items_max = max(len(data), ITEMS_WITHOUT_BYTES_MAX)
        self._empty_values = 0

    def end(self, kind: AvroType, place: int) -> int:
        """The place behind the value at a place."""
        if isinstance(kind, PrimitiveType):
            return _PRIMITIVES[kind.name](self._data, place)
        if isinstance(kind, RecordType):
            for each in kind.fields:
                start, place = place, self.end(each.type, place)
                self._count_if_empty(start, place)
            return place
        if isinstance(kind, UnionType):
            number, place = long_at(self._data, place)
            if not 0 <= number < len(kind.branches):
                raise SerdesError(f"the data names branch {number} of a union that has {len(kind.branches)}")
            return self.end(kind.branches[number], place)
        if isinstance(kind, EnumType):
            number, place = long_at(self._data, place)
            if not 0 <= number < len(kind.symbols):
                raise SerdesError(f"the data names symbol {number} of {kind.name}, which has {len(kind.symbols)}")
            return place
        return _piece_end(self._data, place, kind.size) if isinstance(kind, FixedType) else self._items_end(kind, place)

    def _items_end(self, kind: ArrayType | MapType, place: int) -> int:
        total = 0
        while True:
            count, place = long_at(self._data, place)
            if count == 0:
                return place
            if count < 0:
                # The size of the block in bytes comes with it.
                _, place = long_at(self._data, place)
                count = -count
            total += count
            if total > self._items_max:
                raise self._too_many(total)
            for _ in range(count):
                start = place
                if isinstance(kind, MapType):
                    place = self.end(kind.values, _string_end(self._data, place))
                else:
                    place = self.end(kind.items, place)
                self._count_if_empty(start, place)

    def _count_if_empty(self, start: int, end: int) -> None:
        if start == end:
            self._empty_values += 1
            if self._empty_values > self._items_max:
                raise self._too_many(self._empty_values)

    def _too_many(self, count: int) -> SerdesError:
        return SerdesError(f"the data counts {count} items, more than its {len(self._data)} bytes can hold")


def _piece_end(data: bytes, place: int, size: int) -> int:
    if not 0 <= size <= len(data) - place:
        raise SerdesError(f"the data ends too early: {size} bytes should follow at {place}, of {len(data)}")
    return place + size


def _number_end(size: int) -> Callable[[bytes, int], int]:
    def end(data: bytes, place: int) -> int:
        if place + size > len(data):
            raise IndexError
        return place + size

    return end


def long_at(data: bytes, place: int) -> tuple[int, int]:
    try:
        return read_varlong(data, place)
    except WireError:
        raise SerdesError("the data has a number of more than 64 bits") from None


def checked_int(value: int) -> int:
    if not -INT_MAX - 1 <= value <= INT_MAX:
        raise SerdesError(f"the data has the int {value}, which has more than 32 bits")
    return value


def _int_end(data: bytes, place: int) -> int:
    value, place = long_at(data, place)
    checked_int(value)
    return place


def _bytes_end(data: bytes, place: int) -> int:
    size, place = long_at(data, place)
    return _piece_end(data, place, size)


def _string_end(data: bytes, place: int) -> int:
    size, start = long_at(data, place)
    end = _piece_end(data, start, size)
    try:
        data[start:end].decode()
    except UnicodeDecodeError:
        raise SerdesError(f"the data has a string at {start} that is not UTF-8") from None
    return end


_PRIMITIVES: Final[Mapping[str, Callable[[bytes, int], int]]] = {
    "null": lambda _data, place: place,
    "boolean": _number_end(1),
    "int": _int_end,
    "long": lambda data, place: long_at(data, place)[1],
    "float": _number_end(4),
    "double": _number_end(8),
    "string": _string_end,
    "bytes": _bytes_end,
}
