"""Many rows to Avro records whose fields are plain: numbers, texts and booleans, with or without null.

Most records are like that. For them a function is written out from their schema, field by field: it takes a quarter of the time that the
kernel's codec takes, which checks each value. Whatever is out of the ordinary is left to that codec, which then says what is wrong.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from barnabas.kernel.serdes.avro_types import AvroType, PrimitiveType, RecordField, RecordType, UnionType
from barnabas.wire.varint import uvarint, varlong
from streams_sql.formats.serde import Values
from streams_sql.sources import Column
from streams_sql.sql_types import BIGINT, BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIME, TIMESTAMP, SqlType

WritePlain: TypeAlias = Callable[[Sequence[Values | None]], list[bytes | None]]
"""Any error where a value does not fit, or a row is None: the codec says why."""

FIELDS_MAX: Final = 200
"""Longer functions would be slow to make."""
NUMBERS_KEPT: Final = 8_192
"""Whole numbers from 0 that are written out once: they are the most frequent, and lengths of texts are among them."""

NULL: Final = "null"
_KEPT_BITS: Final = NUMBERS_KEPT.bit_length() - 1
# The lowest bits of longer numbers, and what stands behind them.
_LOW: Final = tuple(bytes(((low & 0x3F) << 1 | 0x80, low >> 6 | 0x80)) for low in range(NUMBERS_KEPT))
_HIGH: Final = tuple(uvarint(high) for high in range(NUMBERS_KEPT))


def _long_bytes(number: int) -> bytes:
    if 0 <= number < NUMBERS_KEPT * NUMBERS_KEPT:
        return _LOW[number % NUMBERS_KEPT] + _HIGH[number >> _KEPT_BITS]
    return varlong(number)


@cache
def _tagged(tag: str) -> Mapping[str, Any]:
    """What generated code writes behind the number of a branch, by the names that it uses. No tag: nothing."""
    before = bytes([int(tag)]) if tag else b""
    return {
        f"tag_{tag}": before,
        f"kept_{tag}": tuple(before + varlong(number) for number in range(NUMBERS_KEPT)),
        f"booleans_{tag}": (before + b"\0", before + b"\1"),
    }


_NAMES: Final[Mapping[str, Any]] = {
    "double_bytes": struct.Struct("<d").pack,
    "long_bytes": _long_bytes,
    "joined": b"".join,
    "KEPT": NUMBERS_KEPT,
}

# The bytes of `FROM` behind those of `TAG`, the number of its branch, which is empty where there is no choice.
_WRITING: Final[Mapping[str, str]] = {
    "boolean": "booleans_TAG[FROM]",
    "int": "kept_TAG[FROM] if 0 <= FROM < KEPT else tag_TAG + long_bytes(FROM)",
    "long": "kept_TAG[FROM] if 0 <= FROM < KEPT else tag_TAG + long_bytes(FROM)",
    "double": "tag_TAG + double_bytes(FROM)",
    "string": "(kept_TAG[len(text)] if len(text := FROM.encode()) < KEPT else tag_TAG + long_bytes(len(text))) + text",
}
# Which columns have values that can be written so without a look at them.
_WRITABLE: Final[Mapping[str, frozenset[SqlType]]] = {
    "boolean": frozenset({BOOLEAN}),
    "int": frozenset({INTEGER, DATE, TIME}),
    "long": frozenset({INTEGER, DATE, TIME, BIGINT, TIMESTAMP}),
    "double": frozenset({DOUBLE}),
    "string": frozenset({STRING}),
}


def plain_writer(kind: AvroType, columns: Sequence[Column], prefix: bytes) -> WritePlain | None:
    """What writes rows, the prefix before each. None where a field is not plain, is not a column, or is one of another type."""
    fields = plain_fields(kind, _WRITING)
    places = {column.name: place for place, column in enumerate(columns)}
    if fields is None or len(fields) != len(columns) or any(field.name not in places for field, _ in fields):
        return None
    parts, names = [], {"prefix": prefix}
    for field, branches in fields:
        place = places[field.name]
        if columns[place].type not in _WRITABLE[_value_kind(branches)]:
            return None
        tag = _tag(branches)
        names |= _tagged(tag)
        parts.append(_writing(f"v{place}", branches, tag))
    row = "".join(f"v{place}, " for place in range(len(columns)))
    body = f"return [joined((prefix, {', '.join(parts)})) for {row} in rows]\n"
    write: WritePlain = _function("write", "rows", body, **names)
    return write


def plain_fields(kind: AvroType, known: Collection[str]) -> list[tuple[RecordField, tuple[str, ...]]] | None:
    """The fields of a record, each with its branches, of which one may be null; None where one is not plain."""
    if not isinstance(kind, RecordType) or not 0 < len(kind.fields) <= FIELDS_MAX:
        return None
    found = []
    for field in kind.fields:
        given = field.type.branches if isinstance(field.type, UnionType) else (field.type,)
        names = tuple(branch.name for branch in given if isinstance(branch, PrimitiveType))
        is_plain = len(names) == len(given) and sum(name in known for name in names) == 1
        if not is_plain or sorted({*names, NULL}) != sorted(
            names if isinstance(field.type, UnionType) else (*names, NULL)
        ):
            return None
        found.append((field, names))
    return found


def _value_kind(branches: Sequence[str]) -> str:
    (kind,) = [name for name in branches if name != NULL]
    return kind


def _tag(branches: Sequence[str]) -> str:
    """Before a value that is not null; the numbers of branches are written with a sign."""
    return str(2 * branches.index(_value_kind(branches))) if len(branches) > 1 else ""


def _writing(value: str, branches: Sequence[str], tag: str) -> str:
    written = _WRITING[_value_kind(branches)].replace("FROM", value).replace("TAG", tag)
    if len(branches) == 1:
        return written
    null = bytes([2 * branches.index(NULL)])
    return f"{null!r} if {value} is None else {written}"


def _indented(lines: str) -> str:
    return "".join(f"    {line}" for line in lines.splitlines(keepends=True))


def _function(name: str, argument: str, body: str, **constants: Any) -> Any:
    names = {**_NAMES, **constants}
    exec(f"def {name}({argument}):\n{_indented(body)}", names)  # noqa: S102 - the text holds nothing of the schema but numbers
    return names[name]
