"""The format and the columns of keys or values of which nobody says what they are: from a sample of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from streams_sql.formats.inference import KEY_COLUMN, VALUE_COLUMN
from streams_sql.sources import Column, FormatUse
from streams_sql.sql_types import BIGINT, BYTES, DOUBLE, INTEGER, STRING, SqlType
from streams_sql.topics.json_shapes import fields_of, merged, shape_of, type_of

INTEGER_BYTES: Final = 4
LONG_BYTES: Final = 8
DOUBLE_EXPONENTS: Final = frozenset({0x3F, 0x40, 0xBF, 0xC0})
"""The first byte of doubles whose size is about that of everyday numbers; a BIGINT that begins so is beyond all counting."""
COLUMNS_MAX: Final = 500
"""Different fields of a sample, above which they are data and no columns."""

_WHITESPACE: Final = frozenset("\t\r\n")


@dataclass(frozen=True, slots=True)
class PartSchema:
    """Of keys or values. `origin` says where it comes from, to be put behind a name."""

    format: FormatUse
    columns: tuple[Column, ...]
    origin: str


def guessed(payloads: Sequence[bytes | None], *, is_key: bool) -> PartSchema | None:
    """None where there is nothing to guess from."""
    found = [payload for payload in payloads if payload is not None]
    if not found:
        return None
    return _as_json(found, is_key=is_key) or _as_plain(found, is_key=is_key)


def _as_json(payloads: Sequence[bytes], *, is_key: bool) -> PartSchema | None:
    """Where most of them are JSON that is more than a bare number or word: those that are not are what is wrong."""
    parsed = [value for payload in payloads if (value := _parsed(payload)) is not _NO_JSON]
    if 2 * len(parsed) <= len(payloads):
        return None
    objects = [value for value in parsed if isinstance(value, dict)]
    if not is_key and 2 * len(objects) > len(payloads):
        # Something else among objects is what is wrong, too: their columns stay.
        parsed = objects
    shape = merged(map(shape_of, parsed))
    origin = f"a sample of {len(payloads)} JSON {'keys' if is_key else 'records'}"
    if isinstance(shape, dict) and shape and not is_key and len(shape) <= COLUMNS_MAX:
        columns = tuple(Column(name, type_) for name, type_ in fields_of(shape).items())
        return PartSchema(FormatUse("JSON", is_wrapped=True), columns, origin)
    return _single("JSON", type_of(shape), origin, is_key=is_key)


def _as_plain(payloads: Sequence[bytes], *, is_key: bool) -> PartSchema:
    type_, what = _plain_type(payloads)
    return _single("KAFKA", type_, f"a sample of {len(payloads)} {what}", is_key=is_key)


def _plain_type(payloads: Sequence[bytes]) -> tuple[SqlType, str]:
    if all(map(_is_text, payloads)):
        return STRING, "texts"
    lengths = set(map(len, payloads))
    if lengths == {INTEGER_BYTES}:
        return INTEGER, "numbers of 4 bytes"
    if lengths == {LONG_BYTES}:
        is_double = all(payload[0] in DOUBLE_EXPONENTS for payload in payloads)
        return (DOUBLE, "doubles") if is_double else (BIGINT, "numbers of 8 bytes")
    return BYTES, "payloads in no format that is known"


def unknown(origin: str, *, is_key: bool) -> PartSchema:
    """Bytes as they are."""
    return _single("KAFKA", BYTES, origin, is_key=is_key)


def _single(format_name: str, type_: SqlType, origin: str, *, is_key: bool) -> PartSchema:
    column = Column(KEY_COLUMN if is_key else VALUE_COLUMN, type_)
    return PartSchema(FormatUse(format_name, is_wrapped=False if format_name == "JSON" else None), (column,), origin)


_NO_JSON: Final = object()


def _parsed(payload: bytes) -> Any:
    """JSON that cannot be mistaken for a plain text: an object, an array, or a text in quotes."""
    if payload.lstrip()[:1] not in (b"{", b"[", b'"'):
        return _NO_JSON
    try:
        return orjson.loads(payload)
    except orjson.JSONDecodeError:
        return _NO_JSON


def _is_text(payload: bytes) -> bool:
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return False
    return all(letter.isprintable() or letter in _WHITESPACE for letter in text)
