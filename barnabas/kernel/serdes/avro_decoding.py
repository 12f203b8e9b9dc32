"""Avro's binary data as JSON values in Avro's JSON encoding, straight and in one pass, as Java's JsonEncoder writes it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

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
from barnabas.kernel.serdes.json_numbers import double_number
from barnabas.kernel.serdes.serdes_error import SerdesError

# Items that take no bytes, such as nulls, could be counted without end by a few bytes.
ITEMS_WITHOUT_BYTES_MAX: Final = 1_000_000
VARINT_MAX_BITS: Final = 70
LONG_BITS: Final = 64
INT_MAX: Final = 2**31 - 1

_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")

# Data and a place in it: the value there, and the place behind it.
Decoder = Callable[[bytes, int], tuple[Any, int]]


def compile_decoder(kind: AvroType) -> Decoder:
    return _Compiler().compile(kind)


class _Compiler:
    def __init__(self) -> None:
        # A record that holds itself finds here the closure that is still being made.
        self._records: dict[RecordType, Decoder] = {}

    def compile(self, kind: AvroType) -> Decoder:
        if isinstance(kind, PrimitiveType):
            return _PRIMITIVES[kind.name]
        if isinstance(kind, RecordType):
            return self._records.get(kind) or self._record(kind)
        if isinstance(kind, UnionType):
            return _union([(branch.name, self.compile(branch)) for branch in kind.branches])
        if isinstance(kind, ArrayType):
            return _array(self.compile(kind.items))
        if isinstance(kind, MapType):
            return _map(self.compile(kind.values))
        return _enum(kind) if isinstance(kind, EnumType) else _fixed(kind)

    def _record(self, kind: RecordType) -> Decoder:
        fields: list[tuple[str, Decoder]] = []
        decoder = self._records[kind] = _record(fields)
        fields += [(each.name, self.compile(each.type)) for each in kind.fields]
        return decoder


def _record(fields: Sequence[tuple[str, Decoder]]) -> Decoder:
    def decode(data: bytes, place: int) -> tuple[Any, int]:
        record = {}
        for name, decode_field in fields:
            record[name], place = decode_field(data, place)
        return record, place

    return decode


def _union(branches: Sequence[tuple[str, Decoder]]) -> Decoder:
    def decode(data: bytes, place: int) -> tuple[Any, int]:
        number, place = long_at(data, place)
        if not 0 <= number < len(branches):
            raise SerdesError(f"the data names branch {number} of a union that has {len(branches)}")
        name, decode_branch = branches[number]
        if name == "null":
            return None, place
        value, place = decode_branch(data, place)
        return {name: value}, place

    return decode


def _array(decode_item: Decoder) -> Decoder:
    def decode(data: bytes, place: int) -> tuple[Any, int]:
        items: list[Any] = []
        count, place = _block(data, place, 0)
        while count:
            for _ in range(count):
                item, place = decode_item(data, place)
                items.append(item)
            count, place = _block(data, place, len(items))
        return items, place

    return decode


def _map(decode_item: Decoder) -> Decoder:
    def decode(data: bytes, place: int) -> tuple[Any, int]:
        items: dict[str, Any] = {}
        count, place = _block(data, place, 0)
        while count:
            for _ in range(count):
                name, place = _string(data, place)
                items[name], place = decode_item(data, place)
            count, place = _block(data, place, len(items))
        return items, place

    return decode


def _block(data: bytes, place: int, so_far: int) -> tuple[int, int]:
    """How many items follow; a negative count comes with the size of the block in bytes."""
    count, place = long_at(data, place)
    if count < 0:
        _, place = long_at(data, place)
        count = -count
    if count + so_far > max(len(data), ITEMS_WITHOUT_BYTES_MAX):
        raise SerdesError(f"the data counts {count + so_far} items, more than its {len(data)} bytes can hold")
    return count, place


def _enum(kind: EnumType) -> Decoder:
    symbols = kind.symbols

    def decode(data: bytes, place: int) -> tuple[Any, int]:
        number, place = long_at(data, place)
        if not 0 <= number < len(symbols):
            raise SerdesError(f"the data names symbol {number} of {kind.name}, which has {len(symbols)}")
        return symbols[number], place

    return decode


def _fixed(kind: FixedType) -> Decoder:
    size = kind.size

    def decode(data: bytes, place: int) -> tuple[Any, int]:
        return _piece(data, place, size).decode("latin-1"), place + size

    return decode


def _piece(data: bytes, place: int, size: int) -> bytes:
    if not 0 <= size <= len(data) - place:
        raise SerdesError(f"the data ends too early: {size} bytes should follow at {place}, of {len(data)}")
    return data[place : place + size]


def _null(data: bytes, place: int) -> tuple[Any, int]:
    return None, place


def _boolean(data: bytes, place: int) -> tuple[Any, int]:
    return data[place] != 0, place + 1


def long_at(data: bytes, place: int) -> tuple[int, int]:
    byte = data[place]
    place += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), place
    bits, shift = byte & 0x7F, 7
    while byte > 0x7F:
        if shift >= VARINT_MAX_BITS:
            raise SerdesError("the data has a number of more than 64 bits")
        byte = data[place]
        place += 1
        bits |= (byte & 0x7F) << shift
        shift += 7
    if bits >> LONG_BITS:
        raise SerdesError("the data has a number of more than 64 bits")
    return (bits >> 1) ^ -(bits & 1), place


def int_at(data: bytes, place: int) -> tuple[int, int]:
    value, place = long_at(data, place)
    if not -INT_MAX - 1 <= value <= INT_MAX:
        raise SerdesError(f"the data has the int {value}, which has more than 32 bits")
    return value, place


def _float(data: bytes, place: int) -> tuple[Any, int]:
    # Java's encoder, too, writes a float as the double that it is.
    return double_number(_FLOAT.unpack_from(data, place)[0]), place + 4


def _double(data: bytes, place: int) -> tuple[Any, int]:
    return double_number(_DOUBLE.unpack_from(data, place)[0]), place + 8


def _string(data: bytes, place: int) -> tuple[Any, int]:
    size, place = long_at(data, place)
    try:
        return _piece(data, place, size).decode(), place + size
    except UnicodeDecodeError:
        raise SerdesError(f"the data has a string at {place} that is not UTF-8") from None


def _bytes(data: bytes, place: int) -> tuple[Any, int]:
    size, place = long_at(data, place)
    return _piece(data, place, size).decode("latin-1"), place + size


_PRIMITIVES: Final[Mapping[str, Decoder]] = {
    "null": _null,
    "boolean": _boolean,
    "int": int_at,
    "long": long_at,
    "float": _float,
    "double": _double,
    "string": _string,
    "bytes": _bytes,
}
