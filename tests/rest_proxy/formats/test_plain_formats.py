"""Base64, JSON and text."""

from typing import Any

import pytest

from rest_proxy.formats.failure import InvalidData, Undecodable
from rest_proxy.formats.plain_formats import PLAIN_DECODERS, PLAIN_ENCODERS


@pytest.mark.parametrize(
    ("form", "value", "data"),
    [
        ("binary", "AAH/", b"\x00\x01\xff"),
        ("binary", "aGk=", b"hi"),
        ("binary", "aGk", b"hi"),
        ("binary", "", b""),
        ("json", {"a": [1, "ä"]}, '{"a":[1,"ä"]}'.encode()),
        ("json", False, b"false"),
        ("string", "ä", b"\xc3\xa4"),
        ("string", "", b""),
        ("binary", None, None),
        ("json", None, None),
        ("string", None, None),
    ],
)
def test_values_become_bytes(form: str, value: Any, data: bytes | None) -> None:
    assert PLAIN_ENCODERS[form].encode(value) == data


@pytest.mark.parametrize(
    ("form", "value", "reason"),
    [
        ("binary", "!!!", 'data="!!!" is not a valid base64 string.'),
        ("binary", "aGk=x", 'data="aGk=x" is not a valid base64 string.'),
        ("binary", "a", 'data="a" is not a valid base64 string.'),
        ("binary", "aG k=", 'data="aG k=" is not a valid base64 string.'),
        ("binary", "ä", 'data="ä" is not a valid base64 string.'),
        ("binary", {"a": 1}, 'data={"a":1} is not a base64 string.'),
        ("binary", 12345678901234567890123, "data=12345678901234567890123 is not a base64 string."),
        ("string", ["x" * 200], 'data=["' + "x" * 78 + "… is not a string."),
    ],
)
def test_values_that_do_not_fit_are_named(form: str, value: Any, reason: str) -> None:
    with pytest.raises(InvalidData) as refusal:
        PLAIN_ENCODERS[form].encode(value)
    assert refusal.value.message == reason


@pytest.mark.parametrize(
    ("form", "data", "text"),
    [
        ("binary", b"\x00\x01\xff", b'"AAH/"'),
        ("json", b'{"a": 1.50}', b'{"a": 1.50}'),
        ("string", b'say "\xc3\xa4"\n', '"say \\"ä\\"\\n"'.encode()),
        ("string", b"\xff", '"\ufffd"'.encode()),
    ],
)
def test_bytes_become_json(form: str, data: bytes, text: bytes) -> None:
    assert PLAIN_DECODERS[form](data) == text


@pytest.mark.parametrize("data", [b"", b"\x00\x00\x00\x00\x01\x02", b"{", b"\xff"])
def test_bytes_that_are_no_json_are_not_shown_as_json(data: bytes) -> None:
    with pytest.raises(Undecodable, match="not JSON"):
        PLAIN_DECODERS["json"](data)
