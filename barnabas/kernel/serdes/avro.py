"""Avro: JSON values to its binary data and back."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final

from barnabas.kernel.serdes.avro_decoding import compile_decoder
from barnabas.kernel.serdes.avro_encoding import compile_encoder
from barnabas.kernel.serdes.avro_types import PrimitiveType, UnionType, parse_types
from barnabas.kernel.serdes.serdes_error import SerdesError, ValueMismatchError

_BYTES: Final = PrimitiveType("bytes")


class AvroCodec:
    """One schema, compiled. `decode` gives Avro's JSON encoding; `encode` takes it, and plain values, too.

    Logical types are what they are underneath: a date is a number, a decimal is bytes.
    """

    preamble = b""

    def __init__(self, text: str, referenced: Sequence[str] = ()) -> None:
        kind = parse_types(text, referenced)
        self._encode = compile_encoder(kind)
        self._decode = compile_decoder(kind)
        # Confluent's serializers write bytes that are no part of anything as they are, without their length.
        self._is_bare = kind == _BYTES
        self.is_union = isinstance(kind, UnionType)
        """Whether values are objects with the name of their branch, but for null."""

    def encode(self, value: Any) -> bytes:
        out = bytearray()
        try:
            self._encode(value, out)
        except RecursionError:
            raise ValueMismatchError("the value is nested too deeply") from None
        return bytes(out) if not self._is_bare else value.encode("latin-1")

    def decode(self, body: bytes) -> Any:
        if self._is_bare:
            return body.decode("latin-1")
        try:
            value, end = self._decode(body, 0)
        except (IndexError, struct.error):
            raise SerdesError(f"the data ends too early: {len(body)} bytes are not a whole value") from None
        except RecursionError:
            raise SerdesError("the data is nested too deeply") from None
        if end != len(body):
            raise SerdesError(f"{len(body) - end} bytes are left over behind the value: written with another schema?")
        return value
