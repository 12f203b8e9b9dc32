"""Avro: values of Python to its binary data and back, by fastavro."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any, Final

from barnabas.kernel.serdes.avro_check import check_data, trusted_bytes
from barnabas.kernel.serdes.avro_fit import compile_fit
from barnabas.kernel.serdes.avro_form import NATIVE, AvroForm
from barnabas.kernel.serdes.avro_types import PrimitiveType, RecordType, UnionType, parse_types
from barnabas.kernel.serdes.serdes_error import MissingLibraryError, SerdesError, ValueMismatchError

# Numbers of ten bytes may have more than 64 bits. All but the last have their highest bit set, as letters beyond ASCII have.
_HIGH_BITS: Final = bytes(byte >> 7 for byte in range(256))
_LONG_NUMBER: Final = b"\1" * 9


class AvroCodec:
    """One schema, compiled.

    `encode` takes plain values, and `{branch: value}` in unions where the form has it in what `decode` gives.
    """

    preamble = b""

    def __init__(self, text: str, referenced: Sequence[str] = (), form: AvroForm = NATIVE) -> None:
        try:
            from fastavro import schemaless_reader, schemaless_writer

            from barnabas.kernel.serdes.fastavro_schema import WHOLE, reading_schema, writing_schema
        except ImportError:
            raise MissingLibraryError("Avro", "fastavro") from None
        self._kind = kind = parse_types(text, referenced)
        self._read, self._write = schemaless_reader, schemaless_writer
        try:
            self._fit = compile_fit(kind, form)
            self._reading, self._writing = reading_schema(kind, form), writing_schema(kind, form)
            self._trusted_bytes = trusted_bytes(kind)
        except RecursionError:
            raise SerdesError("the Avro schema is nested too deeply") from None
        self._whole = None if isinstance(kind, RecordType) else WHOLE
        # Confluent's serializers write bytes that are no part of anything as they are, without their length.
        self._is_bare = isinstance(kind, PrimitiveType) and kind.name == "bytes"
        self._read_bare = form.reader(kind) if isinstance(kind, PrimitiveType) and self._is_bare else None
        self.is_union = isinstance(kind, UnionType)
        """Whether values are, in Avro's JSON encoding, objects with the name of their branch, but for null."""

    def encode(self, value: Any) -> bytes:
        try:
            made = self._fit(value)
        except RecursionError:
            raise ValueMismatchError("the value is nested too deeply") from None
        if self._is_bare:
            return bytes(made)
        out = BytesIO()
        self._write(out, self._writing, made if self._whole is None else {self._whole: made})
        return out.getvalue()

    def decode(self, body: bytes) -> Any:
        if self._is_bare:
            return body if self._read_bare is None else self._read_bare(body)
        if len(body) > self._trusted_bytes or _LONG_NUMBER in body.translate(_HIGH_BITS):
            check_data(self._kind, body)
        data = BytesIO(body)
        try:
            found: Any = self._read(data, self._reading)
        except (ValueError, EOFError, LookupError, RecursionError) as error:
            check_data(self._kind, body)
            raise SerdesError(f"the data cannot be read: {error}") from None
        if data.tell() != len(body):
            check_data(self._kind, body)
        return found if self._whole is None else found[self._whole]
