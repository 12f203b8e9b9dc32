"""Values with a schema, behind the frame that names it."""

from __future__ import annotations

from typing import Any

from barnabas.kernel.serdes.codecs import Codec
from barnabas.kernel.serdes.framing import id_prefix
from barnabas.kernel.serdes.serdes_error import SerdesError
from rest_proxy.formats.failure import InvalidData
from rest_proxy.formats.registered_schemas import Registered


class SchemaEncoder:
    """One schema as it is registered, compiled."""

    __slots__ = ("_encode", "_frame", "format", "schema_id", "subject", "version")

    def __init__(self, registered: Registered, codec: Codec) -> None:
        self.format = registered.format
        self.schema_id: int | None = registered.id
        self.subject: str | None = registered.subject
        self.version: int | None = registered.version
        self._frame = id_prefix(registered.id) + codec.preamble
        self._encode = codec.encode

    def encode(self, value: Any) -> bytes | None:
        if value is None:
            return None
        try:
            return self._frame + self._encode(value)
        except SerdesError as error:
            raise InvalidData(str(error)) from None
