"""What formats of the registry have in common: records name the id of their schema, which is looked up once and kept."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, TypeAlias

from barnabas.kernel.serdes.codecs import CodecOptions, Codecs
from barnabas.kernel.serdes.framing import id_prefix, read_frame
from barnabas.kernel.serdes.registry_client import RegistryClient, SchemaKey
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import SchemaText
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.serde import Decode, Encode, Layout, RegistryAccess, Undecodable, Values
from streams_sql.formats.wrapping import is_wrapped
from streams_sql.formats.written import Part
from streams_sql.problem import SqlProblem

READERS_KEPT_MAX: Final = 1_000
CLIENTS_KEPT_MAX: Final = 16
PREFIX_BYTES: Final = 5
NOT_FOUND: Final = 404

ReadRow: TypeAlias = Callable[[bytes], Values]
"""From what stands behind the frame to the values of columns. ValueError where that cannot be."""

EncodeRow: TypeAlias = Callable[[Values], bytes]
"""From a row to what stands behind the frame and the preamble of its schema."""

EncodeRows: TypeAlias = Callable[[Sequence[Values | None]], list[bytes | None]]
"""From rows to whole records. Any error where one of them must be encoded by itself."""

WriteRow: TypeAlias = Callable[[Values], Any]
"""From the values of columns to what the codec takes."""


def subject_of(topic: str, *, is_key: bool) -> str:
    return f"{topic}-{'key' if is_key else 'value'}"


class RegistryNotConfigured(SqlProblem):
    """A format needs a registry, and the server knows none."""


def registry_client(registry: RegistryAccess | None, format_name: str) -> RegistryClient:
    """Everyone in a process shares one: it can be used by several threads, and keeps the schemas that it has seen."""
    if registry is None:
        raise RegistryNotConfigured(f"The format {format_name} needs a schema registry: set ksql.schema.registry.url")
    return _client(registry)


@lru_cache(CLIENTS_KEPT_MAX)
def _client(registry: RegistryAccess) -> RegistryClient:
    return RegistryClient(registry.url, registry.credentials, registry.timeout_ms)


class RegisteredFormat(ABC):
    name: ClassVar[str]
    schema_type: ClassVar[str]
    """What the registry calls schemas of this format."""

    @abstractmethod
    def schema(self, layout: Layout) -> SchemaText:
        """The schema of columns. SqlProblem where the format cannot say them."""

    @abstractmethod
    def part(self, schema: SchemaText, codecs: Codecs, key: SchemaKey, layout: Layout) -> Part | None:
        """What a schema says of its records; None where it is nothing that a column can hold. The layout's columns do not count."""

    @abstractmethod
    def row_reader(self, schema: SchemaText, codecs: Codecs, key: SchemaKey, layout: Layout) -> ReadRow: ...

    @abstractmethod
    def row_writer(self, schema: SchemaText, codecs: Codecs, layout: Layout) -> WriteRow: ...

    def row_encoder(self, schema: SchemaText, codecs: Codecs, key: SchemaKey, layout: Layout) -> EncodeRow:
        write, encode = self.row_writer(schema, codecs, layout), codecs.codec(key).encode
        return lambda row: encode(write(row))

    def rows_encoder(self, schema: SchemaText, codecs: Codecs, layout: Layout, prefix: bytes) -> EncodeRows | None:
        """A faster one for many rows, if there is one. Records begin with the prefix."""
        return None

    def codec_options(self, layout: Layout) -> CodecOptions:
        return CodecOptions(validates=False, keeps_names=True)

    def codecs(self, client: RegistryClient, layout: Layout) -> Codecs:
        return Codecs(client, self.codec_options(layout))

    def decoder(self, layout: Layout) -> Decode:
        return _Decoder(self, layout).decode

    def encoder(self, layout: Layout) -> Encode:
        return _Encoder(self, layout).encode

    def spark_decoding(self, layout: Layout, schema_ids: frozenset[int] = frozenset()) -> str | None:
        """None: schemas may change in mid-stream, and Spark takes one."""
        return None

    def spark_encoding(self, layout: Layout, *, registers: bool = True) -> str | None:
        return None


class _Decoder:
    def __init__(self, form: RegisteredFormat, layout: Layout) -> None:
        self._form = form
        self._layout = layout
        self._client = registry_client(layout.registry, form.name)
        self._codecs = form.codecs(self._client, layout)
        self._readers: dict[bytes, ReadRow] = {}

    def decode(self, payloads: Sequence[bytes | None]) -> list[Values | Undecodable | None]:
        rows: list[Values | Undecodable | None] = []
        readers = self._readers
        for payload in payloads:
            if payload is None:
                rows.append(None)
                continue
            try:
                read = readers.get(payload[:PREFIX_BYTES])
                rows.append(self._decode_first(payload) if read is None else read(payload[PREFIX_BYTES:]))
            except ValueError as error:
                rows.append(Undecodable(str(error)))
        return rows

    def _decode_first(self, payload: bytes) -> Values:
        """The first record of a schema, or one that names its schema by GUID."""
        frame = read_frame(payload)
        if frame is None:
            raise Mismatch(
                f"The record does not begin with the number of a schema: {payload[:PREFIX_BYTES].hex(' ')}. "
                f"If it was not written through the registry, the format is not {self._form.name}"
            )
        read = self._reader(frame.key)
        if isinstance(frame.key, int):
            if len(self._readers) >= READERS_KEPT_MAX:
                del self._readers[next(iter(self._readers))]
            self._readers[payload[:PREFIX_BYTES]] = read
        return read(frame.body)

    def _reader(self, key: SchemaKey) -> ReadRow:
        """A schema that is not there, or does not go with the columns, is the fault of its records; a registry that is away is not."""
        try:
            schema = self._client.schema(key)
        except RegistryClientError as error:
            if error.status != NOT_FOUND:
                raise
            raise Mismatch(f"The registry has no schema {key}: {error.message}") from None
        if schema.type != self._form.schema_type:
            raise Mismatch(
                f"The record has the schema {key}, which is of the type {schema.type}, not {self._form.schema_type}"
            )
        try:
            return self._form.row_reader(schema, self._codecs, key, self._layout)
        except Mismatch as mismatch:
            return _refusing(mismatch.reason)


def _refusing(reason: str) -> ReadRow:
    def refuse(body: bytes) -> Values:
        raise Mismatch(reason)

    return refuse


class _Encoder:
    def __init__(self, form: RegisteredFormat, layout: Layout) -> None:
        self._form = form
        self._layout = layout
        self._client = registry_client(layout.registry, form.name)
        self._encode: Callable[[Values], bytes] | None = None
        self._encode_many: EncodeRows | None = None

    def encode(self, rows: Sequence[Values | None]) -> list[bytes | None]:
        encode = self._encode
        if encode is None:
            # Tombstones alone need no schema.
            if all(row is None for row in rows):
                return [None] * len(rows)
            encode = self._encode = self._prepared()
        if self._encode_many is not None:
            try:
                return self._encode_many(rows)
            except (ValueError, TypeError, AttributeError, IndexError, struct.error):
                pass  # The other encoder says which row it was, and what is wrong.
        if is_wrapped(self._layout):
            return [None if row is None else encode(row) for row in rows]
        return [None if row is None or row[0] is None else encode(row) for row in rows]

    def _prepared(self) -> Callable[[Values], bytes]:
        form, layout = self._form, self._layout
        schema_id = layout.format.schema_id
        if schema_id is None:
            subject = subject_of(layout.topic, is_key=layout.is_key)
            schema_id = self._client.register(subject, form.schema(layout))
        codecs, schema = form.codecs(self._client, layout), self._client.schema(schema_id)
        prefix = id_prefix(schema_id) + codecs.codec(schema_id).preamble
        encode = form.row_encoder(schema, codecs, schema_id, layout)
        self._encode_many = form.rows_encoder(schema, codecs, layout, prefix)
        return lambda row: prefix + encode(row)
