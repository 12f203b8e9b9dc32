"""Avro's binary data checked byte by byte, without making values of it.

fastavro is quicker, and trusts its data: it counts items that take no bytes as far as they are said to go, follows nesting until the
stack overflows, and drops the bits of a number beyond 64. What could do so is checked before it, and what it cannot read after it, since
the reason is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from barnabas.kernel.serdes.avro_types import (
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    MapType,
    PrimitiveType,
    RecordType,
    UnionType,
)
from barnabas.kernel.serdes.serdes_error import SerdesError
from barnabas.wire.varint import read_varlong
from barnabas.wire.wire_error import WireError

# Items that take no bytes, such as nulls, could be counted without end by a few bytes.
ITEMS_WITHOUT_BYTES_MAX: Final = 1_000_000
INT_MAX: Final = 2**31 - 1


def check_data(kind: AvroType, data: bytes) -> None:
    """SerdesError if the data is not one value of the type."""
    try:
        end = _end(kind, data, 0)
    except IndexError:
        raise SerdesError(f"the data ends too early: {len(data)} bytes are not a whole value") from None
    except RecursionError:
        raise SerdesError("the data is nested too deeply") from None
    if end != len(data):
        raise SerdesError(f"{len(data) - end} bytes are left over behind the value: written with another schema?")


def _end(kind: AvroType, data: bytes, place: int) -> int:
    """The place behind the value at a place."""
    if isinstance(kind, PrimitiveType):
        return _PRIMITIVES[kind.name](data, place)
    if isinstance(kind, RecordType):
        for each in kind.fields:
            place = _end(each.type, data, place)
        return place
    if isinstance(kind, UnionType):
        number, place = long_at(data, place)
        if not 0 <= number < len(kind.branches):
            raise SerdesError(f"the data names branch {number} of a union that has {len(kind.branches)}")
        return _end(kind.branches[number], data, place)
    if isinstance(kind, EnumType):
        number, place = long_at(data, place)
        if not 0 <= number < len(kind.symbols):
            raise SerdesError(f"the data names symbol {number} of {kind.name}, which has {len(kind.symbols)}")
        return place
    return _piece_end(data, place, kind.size) if isinstance(kind, FixedType) else _items_end(kind, data, place)


def _items_end(kind: ArrayType | MapType, data: bytes, place: int) -> int:
    total = 0
    count, place = _block(data, place, total)
    while count:
        for _ in range(count):
            if isinstance(kind, MapType):
                place = _end(kind.values, data, _string_end(data, place))
            else:
                place = _end(kind.items, data, place)
        total += count
        count, place = _block(data, place, total)
    return place


def _block(data: bytes, place: int, so_far: int) -> tuple[int, int]:
    """How many items follow; a negative count comes with the size of the block in bytes."""
    count, place = long_at(data, place)
    if count < 0:
        _, place = long_at(data, place)
        count = -count
    if count + so_far > max(len(data), ITEMS_WITHOUT_BYTES_MAX):
        raise SerdesError(f"the data counts {count + so_far} items, more than its {len(data)} bytes can hold")
    return count, place


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
