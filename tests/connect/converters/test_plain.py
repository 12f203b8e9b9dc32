"""Strings, bytes, numbers and booleans beside Java's converters."""

from datetime import UTC, datetime
from typing import Any

import pytest

from connect.api.settings import read
from connect.converters.byte_array import ByteArrayConverter, NoSettings
from connect.converters.converter import Converter
from connect.converters.numbers import (
    BooleanConverter,
    DoubleConverter,
    FloatConverter,
    IntegerConverter,
    LongConverter,
    ShortConverter,
)
from connect.converters.string import StringConverter, StringConverterSettings
from connect.data.schema import BYTES, INT32, STRING, TIMESTAMP_SCHEMA, Schema
from connect.errors import DataError, InvalidSettings
from tests.connect.converters.cases import CASES
from tests.connect.converters.recorded import recorded


def string(**settings: str) -> StringConverter:
    return StringConverter(read(StringConverterSettings, settings), is_key=False)


@pytest.mark.parametrize(("case", "java"), recorded("string"))
def test_text_is_what_java_shows(case: str, java: dict[str, Any]) -> None:
    assert string().encode("t", *CASES[case]) == java["data"].encode()


@pytest.mark.parametrize(
    ("schema", "value", "data"),
    [
        (None, None, None),
        (None, "ü", b"\xc3\xbc"),
        (None, 5, b"5"),
        (None, True, b"true"),
        (None, 1e10, b"1.0E10"),
        (None, {"a": [1, None]}, b"{a=[1, null]}"),
        (BYTES, b"\xff", b"/w=="),
        (TIMESTAMP_SCHEMA, datetime(2024, 1, 2, tzinfo=UTC), b"2024-01-02T00:00:00.000Z"),
        (None, "half \ud800", b"half ?"),
    ],
)
def test_text(schema: Schema | None, value: Any, data: bytes | None) -> None:
    assert string().encode("t", schema, value) == data


def test_text_in_another_encoding() -> None:
    latin = string(**{"converter.encoding": "ISO-8859-1"})
    assert latin.encode_all("t", STRING, ["ü", "€", None]) == [b"\xfc", b"?", None]
    assert latin.decode_all("t", [b"\xfc", None]) == [(STRING.as_optional(), "ü"), (STRING.as_optional(), None)]


def test_an_encoding_that_nobody_knows() -> None:
    with pytest.raises(InvalidSettings, match="UTF-99 is no known encoding"):
        string(**{"converter.encoding": "UTF-99"})


@pytest.mark.parametrize(
    ("made", "value", "data"),
    [
        (BooleanConverter, True, b"\x01"),
        (ShortConverter, -2, b"\xff\xfe"),
        (IntegerConverter, 258, b"\x00\x00\x01\x02"),
        (LongConverter, -1, b"\xff" * 8),
        (FloatConverter, 0.1, b"\x3d\xcc\xcc\xcd"),
        (DoubleConverter, -2.0, b"\xc0" + b"\x00" * 7),
        (ByteArrayConverter, b"\x00\xff", b"\x00\xff"),
        (ByteArrayConverter, None, None),
        (LongConverter, None, None),
    ],
)
def test_fixed_width(made: type[Converter], value: Any, data: bytes | None) -> None:
    both = made(NoSettings(), is_key=True)
    assert both.encode("t", None, value) == data
    found = both.decode("t", data)
    assert found.value == value
    assert found.schema is not None
    assert found.schema.optional


@pytest.mark.parametrize(
    ("made", "schema", "value"),
    [
        (ByteArrayConverter, INT32, 1),
        (ByteArrayConverter, None, "text"),
        (ShortConverter, None, 1 << 15),
        (IntegerConverter, None, "1"),
        (BooleanConverter, None, 1),
        (FloatConverter, None, 1e39),
    ],
)
def test_values_that_are_refused(made: type[Converter], schema: Schema | None, value: Any) -> None:
    with pytest.raises(DataError):
        made(NoSettings(), is_key=False).encode("t", schema, value)


@pytest.mark.parametrize(
    ("made", "data", "said"),
    [
        (LongConverter, b"\x00" * 4, "4 bytes are no int64, which has 8"),
        (BooleanConverter, b"\x02", "the byte 02 is no boolean"),
    ],
)
def test_bytes_that_are_refused(made: type[Converter], data: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        made(NoSettings(), is_key=False).decode("t", data)
