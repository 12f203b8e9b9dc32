"""JSON values as Avro's binary data, straight and in one pass.

A schema becomes a tree of closures, each of which checks a value and appends its bytes. Values may be in Avro's JSON
encoding, where a union reads `{"string": "x"}`, or plain, where it reads `"x"` and the type of the value chooses.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from barnabas.kernel.serdes.avro_types import (
    NO_DEFAULT,
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    MapType,
    PrimitiveType,
    RecordType,
    UnionType,
)
from barnabas.kernel.serdes.json_numbers import NOT_FINITE
from barnabas.kernel.serdes.serdes_error import ValueMismatchError

INT_LIMIT: Final = 1 << 31
LONG_LIMIT: Final = 1 << 63
SHOWN_MAX_CHARACTERS: Final = 80
SIZES_KEPT: Final = 512
"""Lengths below are not encoded again and again."""

_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")

Encoder = Callable[[Any, bytearray], None]


def compile_encoder(kind: AvroType) -> Encoder:
    return _Compiler().compile(kind)


class _Compiler:
    def __init__(self) -> None:
        # A record that holds itself finds here the closure that is still being made.
        self._records: dict[RecordType, Encoder] = {}

    def compile(self, kind: AvroType) -> Encoder:
        if isinstance(kind, PrimitiveType):
            return _PRIMITIVES[kind.name]
        if isinstance(kind, RecordType):
            return self._records.get(kind) or self._record(kind)
        if isinstance(kind, UnionType):
            return _union(kind, [self.compile(branch) for branch in kind.branches])
        if isinstance(kind, ArrayType):
            return _array(self.compile(kind.items))
        if isinstance(kind, MapType):
            return _map(self.compile(kind.values))
        return _enum(kind) if isinstance(kind, EnumType) else _fixed(kind)

    def _record(self, kind: RecordType) -> Encoder:
        fields: list[tuple[str, Encoder, Any]] = []
        encoder = self._records[kind] = _record(kind.name, fields)
        fields += [(each.name, self.compile(each.type), each.default) for each in kind.fields]
        return encoder


def _record(record_name: str, fields: Sequence[tuple[str, Encoder, Any]]) -> Encoder:
    def encode(value: Any, out: bytearray) -> None:
        if type(value) is not dict:
            raise _mismatch(value, f"the record {record_name}")
        for name, encode_field, default in fields:
            item = value.get(name, NO_DEFAULT)
            try:
                encode_field(_default(value, default, fields) if item is NO_DEFAULT else item, out)
            except ValueMismatchError as error:
                raise error.inside(name) from None

    return encode


def _default(value: Mapping[str, Any], default: Any, fields: Sequence[tuple[str, Encoder, Any]]) -> Any:
    """What stands for a field that is not there. Beside a name that nobody knows, it is taken for a misspelling."""
    unknown = value.keys() - {name for name, _, _ in fields}
    if default is NO_DEFAULT or unknown:
        seen = f"; the value has {', '.join(sorted(unknown))}, which the schema does not" if unknown else ""
        raise ValueMismatchError(f"the field is missing{'' if unknown else ' and has no default'}{seen}")
    return default


def _union(kind: UnionType, encoders: Sequence[Encoder]) -> Encoder:
    names = [branch.name for branch in kind.branches]
    heads = [write_long(number) for number in range(len(names))]
    by_name = {name: (head, encode) for name, head, encode in zip(names, heads, encoders, strict=True)}
    by_type = {
        python: [(heads[place], encoders[place]) for place in _places(kind, python)]
        for python in (type(None), bool, int, float, str, list, dict)
    }
    expected = f"one of {', '.join(names)}"

    def encode(value: Any, out: bytearray) -> None:
        if type(value) is dict and len(value) == 1:
            (name,) = value
            named = by_name.get(name)
            if named is not None:
                _encode_named(name, value[name], named, out)
                return
        _encode_plain(value, by_type.get(type(value), ()), expected, out)

    return encode


def _encode_named(name: str, value: Any, branch: tuple[bytes, Encoder], out: bytearray) -> None:
    out += branch[0]
    try:
        branch[1](value, out)
    except ValueMismatchError as error:
        raise error.inside(name) from None


def _encode_plain(value: Any, branches: Sequence[tuple[bytes, Encoder]], expected: str, out: bytearray) -> None:
    """The first branch that takes the value. With one alone to choose from, its own complaint says most."""
    start = len(out)
    for head, encode in branches:
        out += head
        try:
            encode(value, out)
        except ValueMismatchError:
            if len(branches) == 1:
                raise
            del out[start:]
        else:
            return
    raise _mismatch(value, expected)


# For a type of Python, the types of Avro that may take it; numbers go where they fit best, all else by the union's order.
_CANDIDATES: Final[Mapping[type, tuple[tuple[str, ...], ...]]] = {
    type(None): (("null",),),
    bool: (("boolean",),),
    int: (("int",), ("long",), ("double",), ("float",)),
    float: (("double",), ("float",)),
    str: (("string", "enum", "bytes", "fixed"), ("double", "float")),
    list: (("array",),),
    dict: (("record", "map"),),
}


def _places(kind: UnionType, python: type) -> list[int]:
    kinds = [_kind_name(branch) for branch in kind.branches]
    return [place for group in _CANDIDATES[python] for place, name in enumerate(kinds) if name in group]


def _kind_name(branch: AvroType) -> str:
    if isinstance(branch, RecordType):
        return "record"
    if isinstance(branch, EnumType):
        return "enum"
    return "fixed" if isinstance(branch, FixedType) else branch.name


def _array(encode_item: Encoder) -> Encoder:
    def encode(value: Any, out: bytearray) -> None:
        if type(value) is not list:
            raise _mismatch(value, "an array")
        if value:
            _append_size(len(value), out)
            for place, item in enumerate(value):
                try:
                    encode_item(item, out)
                except ValueMismatchError as error:
                    raise error.inside(f"[{place}]") from None
        out.append(0)

    return encode


def _map(encode_item: Encoder) -> Encoder:
    def encode(value: Any, out: bytearray) -> None:
        if type(value) is not dict:
            raise _mismatch(value, "a map")
        if value:
            _append_size(len(value), out)
            for name, item in value.items():
                _string(name, out)
                try:
                    encode_item(item, out)
                except ValueMismatchError as error:
                    raise error.inside(f"[{name!r}]") from None
        out.append(0)

    return encode


def _enum(kind: EnumType) -> Encoder:
    codes = {symbol: write_long(number) for number, symbol in enumerate(kind.symbols)}

    def encode(value: Any, out: bytearray) -> None:
        code = codes.get(value) if type(value) is str else None
        if code is None:
            raise _mismatch(value, f"a symbol of {kind.name}: {', '.join(kind.symbols)}")
        out += code

    return encode


def _fixed(kind: FixedType) -> Encoder:
    def encode(value: Any, out: bytearray) -> None:
        data = _latin(value)
        if len(data) != kind.size:
            raise ValueMismatchError(f"{kind.name} has {kind.size} bytes, this has {len(data)}")
        out += data

    return encode


def _null(value: Any, out: bytearray) -> None:
    if value is not None:
        raise _mismatch(value, "null")


def _boolean(value: Any, out: bytearray) -> None:
    if type(value) is not bool:
        raise _mismatch(value, "a boolean")
    out.append(value)


def _int(value: Any, out: bytearray) -> None:
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not -INT_LIMIT <= value < INT_LIMIT:
        raise _mismatch(value, "an int of 32 bits")
    _append_long(value, out)


def _long(value: Any, out: bytearray) -> None:
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not -LONG_LIMIT <= value < LONG_LIMIT:
        raise _mismatch(value, "a long of 64 bits")
    _append_long(value, out)


def _floating(layout: struct.Struct, name: str) -> Encoder:
    def encode(value: Any, out: bytearray) -> None:
        if type(value) is str:
            value = NOT_FINITE.get(value, value)
        if type(value) is not float and type(value) is not int:
            raise _mismatch(value, f"a {name}")
        try:
            out += layout.pack(value)
        except OverflowError:
            raise _mismatch(value, f"a {name}, in whose range it is") from None

    return encode


def _string(value: Any, out: bytearray) -> None:
    if type(value) is not str:
        raise _mismatch(value, "a string")
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise _mismatch(value, "a string without halves of surrogate pairs") from None
    size = len(data)
    # As _append_size does, without a call: most of what there is are strings.
    if size < SIZES_KEPT:
        out += _SIZES[size]
    else:
        _append_long(size, out)
    out += data


def _bytes(value: Any, out: bytearray) -> None:
    data = _latin(value)
    _append_size(len(data), out)
    out += data


def _latin(value: Any) -> bytes:
    """Avro's JSON encoding has bytes as a text, in which each character stands for the byte of its number."""
    try:
        if type(value) is str:
            return value.encode("latin-1")
    except UnicodeEncodeError:
        pass
    raise _mismatch(value, "bytes, written as a string of characters up to U+00FF")


def _append_size(size: int, out: bytearray) -> None:
    """A length is a long that is mostly small."""
    if size < SIZES_KEPT:
        out += _SIZES[size]
    else:
        _append_long(size, out)


def write_long(number: int) -> bytes:
    out = bytearray()
    _append_long(number, out)
    return bytes(out)


def _append_long(number: int, out: bytearray) -> None:
    left = (number << 1) ^ (number >> 63)
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)


def _mismatch(value: Any, expected: str) -> ValueMismatchError:
    # Values come from JSON, so that null is the word for them, not None.
    shown = repr(value) if type(value) is str else json.dumps(value, ensure_ascii=False, default=repr)
    if len(shown) > SHOWN_MAX_CHARACTERS:
        shown = shown[:SHOWN_MAX_CHARACTERS] + "…"
    return ValueMismatchError(f"{shown} is not {expected}")


_SIZES: Final = tuple(write_long(size) for size in range(SIZES_KEPT))

_PRIMITIVES: Final[Mapping[str, Encoder]] = {
    "null": _null,
    "boolean": _boolean,
    "int": _int,
    "long": _long,
    "float": _floating(_FLOAT, "float"),
    "double": _floating(_DOUBLE, "double"),
    "string": _string,
    "bytes": _bytes,
}
