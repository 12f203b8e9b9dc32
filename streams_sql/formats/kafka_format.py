"""KAFKA: one column, as the serializers of Kafka's own clients write it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from streams_sql.formats.serde import Decode, DecodeColumns, Encode, Layout, Undecodable, Values
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import BIGINT, BYTES, DOUBLE, INTEGER, STRING, Base, SqlType, quoted


class _Serializer(NamedTuple):
    """`size` is that of every value in bytes, if they have one. The Spark texts are of `{payload}` and of `{value}`."""

    java_name: str
    size: int | None
    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]
    spark_reading: str | None
    spark_writing: str | None


def _fixed(java_name: str, layout: str, spark_reading: str | None, spark_writing: str | None) -> _Serializer:
    packed = struct.Struct(layout)

    def read(payload: bytes) -> Any:
        return packed.unpack(payload)[0]

    return _Serializer(java_name, packed.size, read, packed.pack, spark_reading, spark_writing)


def _text(payload: bytes) -> str:
    return payload.decode(errors="replace")


_SERIALIZERS: Final[Mapping[SqlType, _Serializer]] = {
    INTEGER: _fixed(
        "Integer", ">i", "CAST(CAST(conv(hex({payload}), 16, 10) AS BIGINT) AS INT)", "CAST({value} AS BINARY)"
    ),
    BIGINT: _fixed("Long", ">q", "CAST(conv(hex({payload}), 16, -10) AS BIGINT)", "CAST({value} AS BINARY)"),
    DOUBLE: _fixed("Double", ">d", None, None),
    STRING: _Serializer(
        "String", None, _text, str.encode, "make_valid_utf8(CAST({payload} AS STRING))", "CAST({value} AS BINARY)"
    ),
    BYTES: _Serializer("ByteBuffer", None, bytes, bytes, "{payload}", "{value}"),
}


_NUMBERS: Final[Mapping[SqlType, str]] = {INTEGER: "i", BIGINT: "q", DOUBLE: "d"}


class KafkaFormat:
    name = "KAFKA"

    def decoder(self, layout: Layout) -> Decode:
        if not layout.columns:
            return lambda payloads: [None] * len(payloads)
        found = _serializer(layout)
        if layout.columns[0].type == STRING:
            return _decode_texts
        read = found.read

        def decode(payloads: Sequence[bytes | None]) -> list[Values | Undecodable | None]:
            if found.size is None:
                return [None if payload is None else (read(payload),) for payload in payloads]
            return [
                None if payload is None else (read(payload),) if len(payload) == found.size else _misfit(found, payload)
                for payload in payloads
            ]

        return decode

    def encoder(self, layout: Layout) -> Encode:
        if not layout.columns:
            return lambda rows: [None] * len(rows)
        write = _serializer(layout).write
        return lambda rows: [None if row is None or row[0] is None else write(row[0]) for row in rows]

    def spark_decoding(self, layout: Layout, schema_ids: frozenset[int] = frozenset()) -> str | None:
        if not layout.columns:
            return None
        found = _serializer(layout)
        if found.spark_reading is None:
            return None
        struct_text = f"named_struct('{_literal(layout.columns[0].name)}', {found.spark_reading})"
        fits = "{payload} IS NOT NULL" if found.size is None else f"length({{payload}}) = {found.size}"
        return f"CASE WHEN {fits} THEN {struct_text} END"

    def spark_encoding(self, layout: Layout, *, registers: bool = True) -> str | None:
        if not layout.columns:
            return None
        text = _serializer(layout).spark_writing
        return None if text is None else text.replace("{value}", f"{{row}}.{quoted(layout.columns[0].name)}")


def _decode_texts(payloads: Sequence[bytes | None]) -> list[Values | Undecodable | None]:
    """Most texts are what they should be: the others are looked at when one is met."""
    try:
        return [None if payload is None else (payload.decode(),) for payload in payloads]
    except UnicodeDecodeError:
        return [None if payload is None else (_text(payload),) for payload in payloads]


def kafka_columns(layout: Layout) -> DecodeColumns | None:
    if not layout.columns:
        return None
    found, type_ = _serializer(layout), layout.columns[0].type
    if found.size is not None:
        return partial(_fixed_column, found.size, _NUMBERS[type_])
    return _text_column if type_ == STRING else _bytes_column


def _text_column(payloads: Sequence[bytes | None]) -> Sequence[Sequence[Any]] | None:
    try:
        return (list(map(bytes.decode, payloads)),)  # type: ignore[arg-type]
    except (TypeError, UnicodeDecodeError):
        return None


def _bytes_column(payloads: Sequence[bytes | None]) -> Sequence[Sequence[Any]] | None:
    return None if None in payloads else (payloads,)


def _fixed_column(size: int, letter: str, payloads: Sequence[bytes | None]) -> Sequence[Sequence[Any]] | None:
    present = [payload for payload in payloads if payload is not None and len(payload) == size]
    if len(present) < len(payloads):
        return None
    return (struct.unpack(f">{len(present)}{letter}", b"".join(present)),)


def _serializer(layout: Layout) -> _Serializer:
    if len(layout.columns) > 1:
        names = ", ".join(str(column) for column in layout.columns)
        raise SqlProblem(f"The 'KAFKA' format only supports a single field. Got: [{names}]")
    type_ = layout.columns[0].type
    found = _SERIALIZERS.get(type_)
    if found is None:
        word = type_ if isinstance(type_, Base) else str(type_).partition("<")[0].partition("(")[0]
        raise SqlProblem(f"The 'KAFKA' format does not support type '{word}'")
    return found


def _misfit(found: _Serializer, payload: bytes) -> Undecodable:
    return Undecodable(
        f"Size of data received by {found.java_name}Deserializer is not {found.size}: the record has {len(payload)} bytes"
    )


def _literal(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")
