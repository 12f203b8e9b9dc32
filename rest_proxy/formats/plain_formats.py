"""The formats without schemas: base64, JSON and text."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from rest_proxy.formats import json_text
from rest_proxy.formats.failure import InvalidData, Undecodable
from rest_proxy.formats.schema_choice import BINARY, JSON, STRING

SHOWN_MAX_CHARACTERS: Final = 80
_BASE64_GROUP: Final = 4
_JSON_BEGINNINGS: Final = frozenset(bytes((each,)) for each in b'{["-0123456789tfn \t\r\n')
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Bytes that no text has."""
_COPY: Final = b"%b"
"""The fast library writes into a kilobyte and gives back what it did not need: holding hundreds of such texts costs the memory allocator ten times
as long as copying each."""


@dataclass(frozen=True, slots=True)
class PlainEncoder:
    """A format that needs no more than the value. `encode` is the function itself: a call less for each record."""

    format: str
    encode: Callable[[Any], bytes | None]
    schema_id: int | None = None
    subject: str | None = None
    version: int | None = None


def _from_base64(value: Any) -> bytes | None:
    if value is None:
        return None
    if type(value) is not str:
        raise InvalidData(f"data={_shown(value)} is not a base64 string.")
    try:
        return binascii.a2b_base64(value, strict_mode=True)
    except ValueError:
        # Padding may be left away.
        padding = "=" * (-len(value) % _BASE64_GROUP)
    try:
        if padding and not value.endswith("="):
            return binascii.a2b_base64(value + padding, strict_mode=True)
    except ValueError:
        pass
    raise InvalidData(f"data={_shown(value)} is not a valid base64 string.")


def _from_json(value: Any) -> bytes | None:
    if value is None:
        return None
    try:
        return _COPY % orjson.dumps(value)
    except TypeError:
        return _unusual_json(value)


def _unusual_json(value: Any) -> bytes:
    try:
        return json_text.write(value)
    except ValueError as error:
        raise InvalidData(f"the value cannot be written as JSON: {error}") from None


def _from_text(value: Any) -> bytes | None:
    if value is None:
        return None
    if type(value) is not str:
        raise InvalidData(f"data={_shown(value)} is not a string.")
    return value.encode()


def _shown(value: Any) -> str:
    text = _unusual_json(value).decode()
    return text if len(text) <= SHOWN_MAX_CHARACTERS else f"{text[:SHOWN_MAX_CHARACTERS]}…"


def _to_base64(data: bytes) -> bytes:
    return b'"%b"' % binascii.b2a_base64(data, newline=False)


def _to_json(data: bytes) -> bytes:
    try:
        return json_text.one_line(data)
    except ValueError as error:
        raise Undecodable(f"the data is not JSON: {error}") from None


def _to_text(data: bytes) -> bytes:
    # As Kafka's own deserializer has it: what is no UTF-8 is replaced.
    return orjson.dumps(data.decode("utf-8", "replace"))


def guess(data: bytes) -> tuple[str, bytes]:
    """What bytes without a schema are, and their JSON: JSON itself, text, or else base64."""
    if data[:1] in _JSON_BEGINNINGS:
        try:
            return JSON, json_text.one_line(data)
        except ValueError:
            # It only began like JSON.
            pass
    if _CONTROL.search(data):
        return BINARY, _to_base64(data)
    try:
        return STRING, orjson.dumps(data.decode())
    except UnicodeDecodeError:
        return BINARY, _to_base64(data)


PLAIN_ENCODERS: Final[Mapping[str, PlainEncoder]] = {
    form: PlainEncoder(form, encode)
    for form, encode in ((BINARY, _from_base64), (JSON, _from_json), (STRING, _from_text))
}

PLAIN_DECODERS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    BINARY: _to_base64,
    JSON: _to_json,
    STRING: _to_text,
}
"""From bytes of a record to the text of a JSON value."""
