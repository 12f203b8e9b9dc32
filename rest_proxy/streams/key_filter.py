"""Which keys a client means when it names one."""

from __future__ import annotations

import contextlib

from barnabas.kernel.http.errors import HttpError
from rest_proxy.formats import json_text
from rest_proxy.formats.failure import InvalidData
from rest_proxy.formats.plain_formats import PLAIN_ENCODERS
from rest_proxy.formats.schema_choice import AUTO, BINARY, JSON, SCHEMA_FORMATS, STRING
from rest_proxy.problems import BAD_REQUEST


def keys_meant(text: str, form: str) -> frozenset[bytes]:
    """The bytes that a key may have which reads so in a format: `a` in JSON is the string, quoted or not, and 1 is the number, too."""
    if form in SCHEMA_FORMATS:
        raise HttpError(
            BAD_REQUEST,
            f"key={text!r} cannot be compared with keys that have a schema: key_format may be "
            f"{AUTO.upper()}, {BINARY.upper()}, {JSON.upper()} or {STRING.upper()} then",
        )
    if form == BINARY:
        return frozenset({_decoded(text)})
    meant = {text.encode()}
    if form != STRING:
        meant.add(json_text.write(text))
        with contextlib.suppress(ValueError):
            meant.add(json_text.write(json_text.parse(text.encode())))
    return frozenset(meant)


def _decoded(text: str) -> bytes:
    try:
        return PLAIN_ENCODERS[BINARY].encode(text) or b""
    except InvalidData as problem:
        raise HttpError(BAD_REQUEST, f"key: {problem.message}") from None
