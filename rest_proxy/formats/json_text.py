"""JSON as text, without loss: numbers beyond 64 bits stay what they are."""

from __future__ import annotations

import json
from typing import Any, Final

import orjson

# The fast library takes whole numbers beyond 64 bits for floating-point ones; those have this many digits or more.
_LONG_NUMBER: Final = b"0" * 20
_DIGITS_AS_ZEROS: Final = bytes.maketrans(b"123456789", b"000000000")


def has_long_number(text: bytes) -> bool:
    """Whether there may be a number that the fast library cannot keep; so many digits within a string count, too. Twice as fast as a pattern."""
    return _LONG_NUMBER in text.translate(_DIGITS_AS_ZEROS)


def parse(text: bytes) -> Any:
    """The value of a text; ValueError says what is wrong with it."""
    value = orjson.loads(text)
    if has_long_number(text):
        # Checked above: neither too deep nor malformed.
        return json.loads(text)
    return value


def write(value: Any) -> bytes:
    """The text of a value, without white space; ValueError when it is nested too deeply."""
    try:
        return orjson.dumps(value)
    except TypeError:
        pass
    try:
        # What the fast library does not write: long numbers, and many levels.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def one_line(text: bytes) -> bytes:
    """The same JSON without line ends; ValueError if it is no JSON."""
    if b"\n" in text or b"\r" in text:
        return write(parse(text))
    orjson.loads(text)
    return text
