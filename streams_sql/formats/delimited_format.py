"""DELIMITED: a line of texts, quoted where need be, as Apache Commons CSV reads and writes them by default."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from barnabas.kernel.java.numbers import double_text
from streams_sql.evaluation import decimals
from streams_sql.evaluation.integers import BIGINT_MAX, INTEGER_MAX
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.number_texts import decimal_number, double, fitted, time_of_day, whole_number
from streams_sql.formats.serde import Decode, Encode, Layout, Undecodable, Values
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
    quoted,
)

Read: TypeAlias = Callable[[str], Any]
Write: TypeAlias = Callable[[Any], str]

_LINE_ENDS: Final = re.compile(r"\r\n|\n|\r")
# The first text of a line stands bare only if it begins so.
_BARE_BEGINNING: Final = re.compile("[0-9A-Za-z]")
_COMMENT: Final = "#"


class DelimitedFormat:
    name = "DELIMITED"

    def decoder(self, layout: Layout) -> Decode:
        if not layout.columns:
            return lambda payloads: [None] * len(payloads)
        readers = [_reader(column) for column in layout.columns]
        split = _splitter(layout.format.delimiter)

        def decode_one(payload: bytes) -> Values | Undecodable:
            try:
                texts = split(payload.decode(errors="replace"))
                if len(texts) != len(readers):
                    raise Mismatch(
                        f"Column count mismatch on deserialization. expected: {len(readers)}, got: {len(texts)}"
                    )
                return tuple([read(text) if text else None for read, text in zip(readers, texts, strict=True)])
            except Mismatch as mismatch:
                return Undecodable(mismatch.reason)

        return lambda payloads: [None if payload is None else decode_one(payload) for payload in payloads]

    def encoder(self, layout: Layout) -> Encode:
        if not layout.columns:
            return lambda rows: [None] * len(rows)
        writers = [_writer(column) for column in layout.columns]
        delimiter = layout.format.delimiter
        special = re.compile(rf'["\r\n{re.escape(delimiter)}]')

        def encode_one(row: Values) -> bytes:
            texts = [
                "" if value is None else _quoted(write(value), special, is_first=place == 0)
                for place, (write, value) in enumerate(zip(writers, row, strict=True))
            ]
            return delimiter.join(texts).encode(errors="replace")

        return lambda rows: [None if row is None else encode_one(row) for row in rows]

    def spark_decoding(self, layout: Layout, schema_ids: frozenset[int] = frozenset()) -> str | None:
        """None: Spark's CSV reads lines and numbers by other rules."""
        return None

    def spark_encoding(self, layout: Layout, *, registers: bool = True) -> str | None:
        return None


def _splitter(delimiter: str) -> Callable[[str], list[str]]:
    bare = f"[^{re.escape(delimiter)}\r\n]*"
    token = re.compile(
        rf"""(?:"([^"]*(?:""[^"]*)*)"\s*?|((?!"){bare}))({re.escape(delimiter)}|\r\n|\n|\r|\Z)""",
    )

    def split_quoted(text: str) -> list[str]:
        texts: list[str] = []
        place = 0
        while True:
            match = token.match(text, place)
            if match is None:
                raise Mismatch(
                    f"The record is not DELIMITED: a quote at {place} does not end, or text follows behind it"
                )
            texts.append(match[2] if match[1] is None else match[1].replace('""', '"'))
            if match[3] != delimiter:
                return texts
            place = match.end()

    def split(text: str) -> list[str]:
        text = text.lstrip("\r\n")
        if not text:
            raise Mismatch("No fields in record")
        return split_quoted(text) if '"' in text else _LINE_ENDS.split(text, 1)[0].split(delimiter)

    return split


def _quoted(text: str, special: re.Pattern[str], *, is_first: bool) -> str:
    """Quoted if it could be taken for something else, or begins or ends in a way that Commons CSV thinks is odd."""
    if not text:
        return '""' if is_first else ""
    is_odd = (is_first and not _BARE_BEGINNING.match(text)) or text[0] <= _COMMENT or text[-1] <= " "
    if is_odd or special.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def _reader(column: Column) -> Read:
    read = _read_decimal(column.type) if isinstance(column.type, Decimal) else _READERS.get(column.type)
    if read is None:
        raise _unsupported(column)

    def read_column(text: str) -> Any:
        try:
            return read(text)
        except Mismatch as mismatch:
            raise Mismatch(f"{mismatch.reason} column: {column.name}") from None
        except ValueError:
            raise Mismatch(f"{text[:80]!r} is no {column.type}, column: {column.name}") from None

    return read if column.type is STRING else read_column


def _read_decimal(type_: Decimal) -> Read:
    return lambda text: fitted(decimal_number(text), type_)


def _writer(column: Column) -> Write:
    write = decimals.plain_text if isinstance(column.type, Decimal) else _WRITERS.get(column.type)
    if write is None:
        raise _unsupported(column)
    return write


def _unsupported(column: Column) -> SqlProblem:
    word = {Array: "ARRAY", Map: "MAP", Struct: "STRUCT"}.get(type(column.type), column.type)
    return SqlProblem(f"The 'DELIMITED' format does not support type '{word}', column: {quoted(column.name)}")


def _read_bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


_READERS: Final[Mapping[SqlType, Read]] = {
    BOOLEAN: lambda text: text.lower() == "true",
    INTEGER: lambda text: whole_number(text, INTEGER_MAX),
    BIGINT: lambda text: whole_number(text, BIGINT_MAX),
    DOUBLE: double,
    STRING: str,
    BYTES: _read_bytes,
    TIME: lambda text: time_of_day(whole_number(text, BIGINT_MAX)),
    DATE: lambda text: whole_number(text, INTEGER_MAX),
    TIMESTAMP: lambda text: whole_number(text, BIGINT_MAX),
}
_WRITERS: Final[Mapping[SqlType, Write]] = {
    BOOLEAN: lambda value: "true" if value else "false",
    INTEGER: str,
    BIGINT: str,
    DOUBLE: double_text,
    STRING: str,
    BYTES: lambda value: base64.b64encode(value).decode(),
    TIME: str,
    DATE: str,
    TIMESTAMP: str,
}
