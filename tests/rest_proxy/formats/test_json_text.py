"""JSON without loss: what other libraries round, and what has no end."""

import pytest

from rest_proxy.formats import json_text

DEEP = 300
"""More levels than the fast library writes."""


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (b'{ "a" : [1, 2.50, "\\u00e4", null, true] }', '{"a":[1,2.5,"ä",null,true]}'),
        (b"18446744073709551615", "18446744073709551615"),
        (b"18446744073709551616", "18446744073709551616"),
        (
            b'[-123456789012345678901234567890, "12345678901234567890123", "\xc3\xa4"]',
            '[-123456789012345678901234567890,"12345678901234567890123","ä"]',
        ),
        (b"[" * DEEP + b"]" * DEEP, "[" * DEEP + "]" * DEEP),
    ],
    ids=["white space", "64 bits", "65 bits", "long numbers", "deep"],
)
def test_values_are_written_as_they_were_read(text: bytes, written: str) -> None:
    assert json_text.write(json_text.parse(text)).decode() == written


@pytest.mark.parametrize("text", [b"", b"{", b"nul", b"[1,]", b"\xff", b"[" * 100_000, b"1" * 5_000 + b"x"])
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        json_text.parse(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b'{"a": 1.50}', b'{"a": 1.50}'),
        (b'{\r\n  "a": 12345678901234567890123\n}', b'{"a":12345678901234567890123}'),
    ],
)
def test_records_are_shown_in_one_line(text: bytes, line: bytes) -> None:
    assert json_text.one_line(text) == line
