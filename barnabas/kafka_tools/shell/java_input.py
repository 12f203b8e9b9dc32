"""Java's way to read numbers and ids of a command line, and its words for those that are none."""

from __future__ import annotations

import re
from typing import Final

from barnabas.kafka_tools.shell.exits import ToolError

UUID_BYTES: Final = 16
UUID_TEXT_MAX_CHARS: Final = 24
INT_MIN: Final = -(2**31)
INT_MAX: Final = 2**31 - 1

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]")


def parse_int(text: str) -> int:
    """As Integer.parseInt."""
    if _INTEGER.fullmatch(text) and INT_MIN <= int(text) <= INT_MAX:
        return int(text)
    raise ToolError(f'For input string: "{text}"')


def split(text: str, separator: str) -> list[str]:
    """As String.split: empty parts at the end are none, but a text without separator is one part."""
    parts = text.split(separator)
    while len(text) > 0 and parts and not parts[-1]:
        parts.pop()
    return parts


def parse_uuid(text: str) -> bytes:
    """The bytes of an id in base64 of URLs, as Uuid.fromString of Kafka."""
    import base64

    if len(text) > UUID_TEXT_MAX_CHARS:
        prefix = text[:UUID_TEXT_MAX_CHARS]
        raise ToolError(f"Input string with prefix `{prefix}` is too long to be decoded as a base64 UUID")
    if len(text) == 1:
        raise ToolError("Input byte[] should at least have 2 bytes for base64 bytes")
    digits, equals, rest = text.partition("=")
    illegal = _ILLEGAL.search(digits)
    if illegal is not None:
        raise ToolError(f"Illegal base64 character {ord(illegal[0]):x}")
    last = len(digits) % 4
    if equals and (last == 0 or (last == 2 and not rest.startswith("="))):
        raise ToolError("Input byte array has wrong 4-byte ending unit")
    if last == 1:
        raise ToolError("Last unit does not have enough valid bits")
    end = len(digits) + (4 - last if equals else 0)
    if end < len(text):
        raise ToolError(f"Input byte array has incorrect ending byte at {end}")
    raw = base64.urlsafe_b64decode(digits + "=" * (-len(digits) % 4))
    if len(raw) != UUID_BYTES:
        raise ToolError(
            f"Input string `{text}` decoded as {len(raw)} bytes, which is not equal to the expected {UUID_BYTES} bytes of "
            "a base64-encoded UUID"
        )
    return raw
