"""KAFKA and NONE: one column as Kafka's own clients write it, or none at all."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka.serialization import (
    DoubleDeserializer,
    DoubleSerializer,
    IntegerDeserializer,
    IntegerSerializer,
    StringDeserializer,
    StringSerializer,
)

from streams_sql.formats.library import format_of
from streams_sql.formats.serde import Undecodable
from streams_sql.problem import SqlProblem
from streams_sql.sources import FormatUse
from streams_sql.sql_types import BIGINT, BOOLEAN, BYTES, DOUBLE, INTEGER, STRING, Decimal, SqlType
from tests.streams_sql.formats.layouts import decode_one, encode_one, layout_of

KAFKA = FormatUse("KAFKA")


@pytest.mark.parametrize(
    ("type_", "value", "payload"),
    [
        (INTEGER, -2, b"\xff\xff\xff\xfe"),
        (BIGINT, 2**40, b"\x00\x00\x01\x00\x00\x00\x00\x00"),
        (DOUBLE, 1.5, b"\x3f\xf8\x00\x00\x00\x00\x00\x00"),
        (STRING, "é", b"\xc3\xa9"),
        (STRING, "", b""),
        (BYTES, b"\x00\xff", b"\x00\xff"),
    ],
    ids=str,
)
def test_values_are_those_of_kafkas_clients(type_: SqlType, value: Any, payload: bytes) -> None:
    layout = layout_of({"V": type_}, KAFKA)
    assert encode_one(layout, (value,)) == payload
    assert decode_one(layout, payload) == (value,)
    assert encode_one(layout, (None,)) is encode_one(layout, None) is None
    assert decode_one(layout, None) is None


def test_another_client_reads_and_writes_the_same() -> None:
    others: list[tuple[SqlType, Any, Any, Any]] = [
        (INTEGER, -7, IntegerSerializer(), IntegerDeserializer()),
        (DOUBLE, 0.1, DoubleSerializer(), DoubleDeserializer()),
        (STRING, "é", StringSerializer(), StringDeserializer()),
    ]
    for type_, value, serialize, deserialize in others:
        layout = layout_of({"V": type_}, KAFKA)
        assert decode_one(layout, serialize(value, None)) == (value,)
        assert deserialize(encode_one(layout, (value,)), None) == value


@pytest.mark.parametrize(
    ("type_", "payload"), [(INTEGER, b"\x00" * 8), (BIGINT, b"\x00" * 4), (DOUBLE, b""), (INTEGER, b"")]
)
def test_another_length_is_undecodable(type_: SqlType, payload: bytes) -> None:
    found = decode_one(layout_of({"V": type_}, KAFKA), payload)
    assert isinstance(found, Undecodable)
    assert f"the record has {len(payload)} bytes" in found.reason


def test_texts_that_are_not_utf8_are_read_as_java_does() -> None:
    assert decode_one(layout_of({"V": STRING}, KAFKA), b"a\xff") == ("a\ufffd",)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"A": INTEGER, "B": INTEGER}, "only supports a single field"),
        ({"A": BOOLEAN}, "does not support type 'BOOLEAN'"),
        ({"A": Decimal(4, 2)}, "does not support type 'DECIMAL'"),
    ],
    ids=str,
)
def test_other_columns_are_refused(columns: dict[str, SqlType], message: str) -> None:
    with pytest.raises(SqlProblem, match=message):
        decode_one(layout_of(columns, KAFKA), b"")


@pytest.mark.parametrize("name", ["KAFKA", "NONE", "DELIMITED"])
def test_without_columns_nothing_is_read_or_written(name: str) -> None:
    layout = layout_of({}, FormatUse(name), is_key=True)
    assert decode_one(layout, b"anything") is None
    assert encode_one(layout, ()) is None


def test_unknown_formats_are_told_with_the_nearest() -> None:
    with pytest.raises(SqlProblem, match=r"Unknown format: JASON\. Did you mean JSON\?"):
        format_of("JASON")
