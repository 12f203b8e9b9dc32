"""Texts and bytes: what each function gives."""

from __future__ import annotations

import struct
import uuid
from typing import Any

import pytest

from streams_sql.functions.strings import PADDED_LENGTH_MAX
from streams_sql.sql_types import BYTES, INTEGER, STRING, SqlType
from tests.streams_sql.functions.calling import call


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("CHR", (75,), "K"),
        ("CHR", (22909,), "好"),
        ("CHR", (0x1F600,), "😀"),
        ("CHR", (-1,), None),
        ("CHR", (0x110000,), None),
        ("CHR", (0xD800,), "?"),
        ("CHR", ("\\u004b",), "K"),
        ("CHR", ("\\ud83d\\ude00!",), "😀!"),
        ("CHR", ("K",), None),
        ("CONCAT", ("a", "b", "c"), "abc"),
        ("CONCAT", (b"a", b"b"), b"ab"),
        ("CONCAT_WS", (", ", "a", "b"), "a, b"),
        ("CONCAT_WS", (b"-", b"a", b"b"), b"a-b"),
        ("ELT", (2, "a", "b"), "b"),
        ("ELT", (3, "a", "b"), None),
        ("ELT", (0, "a", "b"), None),
        ("ENCODE", ("4578616d706c6521", "hex", "ascii"), "Example!"),
        ("ENCODE", ("0x4578616d706c6521", "hex", "utf8"), "Example!"),
        ("ENCODE", ("0x578", "hex", "base64"), "BXg="),
        ("ENCODE", ("X'4578'", "hex", "utf8"), "Ex"),
        ("ENCODE", ("Example!", "UTF8", "HEX"), "4578616d706c6521"),
        ("ENCODE", ("Ömit", "utf8", "base64"), "w5ZtaXQ="),
        ("ENCODE", ("Ömit", "ascii", "utf8"), "?mit"),
        ("ENCODE", ("w5Z*taXQ", "base64", "utf8"), "Ömit"),
        ("FIELD", ("b", "a", "b"), 2),
        ("FIELD", ("c", "a", "b"), 0),
        ("FROM_BYTES", (b"\x01\xab", "hex"), "01AB"),
        ("FROM_BYTES", ("ä".encode(), "utf8"), "ä"),
        ("FROM_BYTES", (b"a\xff", "ASCII"), "a\ufffd"),
        ("FROM_BYTES", (b"ab", "base64"), "YWI="),
        ("INITCAP", ("the Quick  bROWN",), "The Quick  Brown"),
        ("INITCAP", (" x",), "X"),
        ("INSTR", ("CORPORATE FLOOR", "OR"), 2),
        ("INSTR", ("CORPORATE FLOOR", "OR", 3), 5),
        ("INSTR", ("CORPORATE FLOOR", "OR", 3, 2), 14),
        ("INSTR", ("CORPORATE FLOOR", "OR", -3), 5),
        ("INSTR", ("CORPORATE FLOOR", "OR", -3, 2), 2),
        ("INSTR", ("CORPORATE FLOOR", "MISSING"), 0),
        ("INSTR", ("ab", "a", 3), 0),
        ("INSTR", ("aaa", "aa", 1, 2), 2),
        ("LCASE", ("ÄbC",), "äbc"),
        ("UCASE", ("straße",), "STRASSE"),
        ("LEN", ("日本",), 2),
        ("LEN", ("😀!",), 3),
        ("LEN", (b"\x00\x01\x02",), 3),
        ("LPAD", ("foo", 7, "Bar"), "BarBfoo"),
        ("LPAD", ("foo", 2, "Bar"), "fo"),
        ("LPAD", ("foo", 5, ""), None),
        ("LPAD", ("foo", -1, "x"), None),
        ("LPAD", (b"\x01", 3, b"\x02"), b"\x02\x02\x01"),
        ("RPAD", ("foo", 7, "Bar"), "fooBarB"),
        ("RPAD", (b"\x01", 3, b"\x02"), b"\x01\x02\x02"),
        ("MD5", ("one",), "f97c5d29941bfb1b2fdab0874906ab82"),
        ("REPLACE", ("foobar", "o", "bar"), "fbarbarbar"),
        ("SPLIT", ("a.b.", "."), ["a", "b", ""]),
        ("SPLIT", ("ab", ""), ["a", "b"]),
        ("SPLIT", ("", ""), [""]),
        ("SPLIT", (b"a-b", b"-"), [b"a", b"b"]),
        ("SPLIT", (b"ab", b""), [b"a", b"b"]),
        ("SPLIT_TO_MAP", ("a=1;b=2;c;;a=3=4", ";", "="), {"a": "3", "b": "2"}),
        ("SPLIT_TO_MAP", ("a=1", "=", "="), None),
        ("SUBSTRING", ("stream", 1, 4), "stre"),
        ("SUBSTRING", ("stream", -2), "am"),
        ("SUBSTRING", ("stream", -10, 2), "st"),
        ("SUBSTRING", ("stream", 0, 2), "st"),
        ("SUBSTRING", ("stream", 4, -1), ""),
        ("SUBSTRING", ("stream", 9), ""),
        ("SUBSTRING", (b"stream", 3, 2), b"re"),
        ("TO_BYTES", ("01aB", "hex"), b"\x01\xab"),
        ("TO_BYTES", ("ä", "utf8"), "ä".encode()),
        ("TO_BYTES", ("ä", "ascii"), b"?"),
        ("TO_BYTES", ("YWI=", "base64"), b"ab"),
        ("TRIM", (" \t a b\n\x00",), "a b"),
        ("TRIM", ("\u00a0x",), "\u00a0x"),
        ("UUID", (bytes(range(16)),), "00010203-0405-0607-0809-0a0b0c0d0e0f"),
        ("UUID", (b"short",), None),
        ("INT_FROM_BYTES", (b"\x00\x00\x01\x00",), 256),
        ("INT_FROM_BYTES", (b"\x00\x01\x00\x00", "little_endian"), 256),
        ("BIGINT_FROM_BYTES", (b"\xff" * 8,), -1),
        ("DOUBLE_FROM_BYTES", (struct.pack("<d", 2.5), "LITTLE_ENDIAN"), 2.5),
        ("MASK", ("AbC-1 ä",), "XxX-n-x"),
        ("MASK", ("Ab1!", "Q", None, "9", "*"), "Qb9*"),
        ("MASK_LEFT", ("Ab12", 2), "Xx12"),
        ("MASK_LEFT", ("Ab", 5, "*", "*", "*", "*"), "**"),
        ("MASK_RIGHT", ("Ab12", 2), "Abnn"),
        ("MASK_KEEP_LEFT", ("Ab12", 1), "Axnn"),
        ("MASK_KEEP_RIGHT", ("Ab12", 1), "Xxn2"),
        ("MASK_KEEP_RIGHT", ("Ab12", 9), "Ab12"),
    ],
)
def test_result(name: str, arguments: tuple[Any, ...], expected: Any) -> None:
    found = call(name, *arguments)
    assert type(found) is type(expected)
    assert found == expected


@pytest.mark.parametrize(
    ("name", "arguments", "types", "expected"),
    [
        ("CONCAT", ("a", None, "c"), (STRING,) * 3, "ac"),
        ("CONCAT_WS", ("-", None, "c"), (STRING,) * 3, "c"),
        ("CONCAT_WS", (None, "a", "c"), (STRING,) * 3, None),
        ("ELT", (None, "a"), (INTEGER, STRING), None),
        ("FIELD", (None, None), (STRING, STRING), 0),
        ("INSTR", (None, "a"), (STRING, STRING), 0),
        ("INSTR", ("a", "a", None), (STRING, STRING, INTEGER), None),
        ("LPAD", ("a", None, "b"), (STRING, INTEGER, STRING), None),
        ("MASK", (None,), (STRING,), None),
        ("MASK_LEFT", (None, 1), (STRING, INTEGER), None),
        ("SUBSTRING", (None, 1), (BYTES, INTEGER), None),
    ],
)
def test_null(name: str, arguments: tuple[Any, ...], types: tuple[SqlType, ...], expected: Any) -> None:
    assert call(name, *arguments, types=types) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("CHR", ("\\uxyz0",), "004b"),
        ("CONCAT_WS", ("a",), "at least two"),
        ("ENCODE", ("zz", "hex", "utf8"), "zz"),
        ("ENCODE", ("a", "utf16", "hex"), "Supported"),
        ("FROM_BYTES", (b"a", "utf16"), "utf16"),
        ("TO_BYTES", ("abc", "hex"), "even number"),
        ("TO_BYTES", ("*", "base64"), "base64"),
        ("INT_FROM_BYTES", (b"abc",), "equal to 4, but found 3"),
        ("BIGINT_FROM_BYTES", (b"12345678", "MIDDLE"), "MIDDLE"),
        ("LPAD", ("a", PADDED_LENGTH_MAX + 1, "b"), str(PADDED_LENGTH_MAX)),
        ("MASK", ("a", "XX", "x", "n", "-"), "XX"),
        ("MASK_LEFT", ("a", -1), "non-negative"),
    ],
)
def test_what_cannot_be_done_says_why(name: str, arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call(name, *arguments)


def test_uuids_are_random() -> None:
    first, second = call("UUID"), call("UUID")
    assert first != second
    assert uuid.UUID(first).version == 4
