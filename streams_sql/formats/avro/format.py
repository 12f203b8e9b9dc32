"""AVRO, through the registry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from barnabas.kernel.serdes.avro_types import AvroType, parse_types
from barnabas.kernel.serdes.codecs import Codecs
from barnabas.kernel.serdes.framing import read_frame
from barnabas.kernel.serdes.registry_client import RegistryClient, SchemaKey
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import AVRO, SchemaText
from streams_sql.formats.avro.columns import column_reader
from streams_sql.formats.avro.native import avro_decoding, avro_encoding
from streams_sql.formats.avro.reading import read_avro_schema
from streams_sql.formats.avro.rows import plain_writer
from streams_sql.formats.avro.schema import avro_schema
from streams_sql.formats.avro.writing import avro_row_writer, avro_value_writer
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.registered import (
    NOT_FOUND,
    PREFIX_BYTES,
    READERS_KEPT_MAX,
    EncodeRows,
    ReadRow,
    RegisteredFormat,
    WriteRow,
    registry_client,
    subject_of,
)
from streams_sql.formats.serde import DecodeColumns, Layout
from streams_sql.formats.wrapping import is_wrapped
from streams_sql.formats.written import Part, row_reader, value_reader

SCHEMAS_KNOWN_MAX: Final = 32
"""Schemas of a topic that a native form is made for from the beginning; each makes it longer, and others are added as they are met."""


class AvroFormat(RegisteredFormat):
    name = "AVRO"
    schema_type = AVRO

    def schema(self, layout: Layout) -> SchemaText:
        return SchemaText(json.dumps(avro_schema(layout)), AVRO)

    def part(self, schema: SchemaText, codecs: Codecs, key: SchemaKey, layout: Layout) -> Part | None:
        return read_avro_schema(schema.text, list(codecs.referenced(schema).values()))

    def row_reader(self, schema: SchemaText, codecs: Codecs, key: SchemaKey, layout: Layout) -> ReadRow:
        part = self.part(schema, codecs, key, layout)
        if part is None:
            raise Mismatch("The Avro schema holds nothing but null")
        decode = codecs.codec(key).decode
        if is_wrapped(layout):
            read_row = row_reader(part, layout.columns)
            return lambda body: read_row(decode(body))
        read = value_reader(part, layout.columns[0].type)
        return lambda body: (read(decode(body)),)

    def row_writer(self, schema: SchemaText, codecs: Codecs, layout: Layout) -> WriteRow:
        referenced = list(codecs.referenced(schema).values())
        if is_wrapped(layout):
            return avro_row_writer(schema.text, referenced, layout.columns)
        write = avro_value_writer(schema.text, referenced, layout.columns[0].type)
        return lambda row: write(row[0])

    def rows_encoder(self, schema: SchemaText, codecs: Codecs, layout: Layout, prefix: bytes) -> EncodeRows | None:
        return plain_writer(_kind(schema, codecs), layout.columns, prefix) if is_wrapped(layout) else None

    def spark_decoding(self, layout: Layout, schema_ids: frozenset[int] = frozenset()) -> str | None:
        client = registry_client(layout.registry, self.name)
        known = _known_ids(client, subject_of(layout.topic, is_key=layout.is_key)) | schema_ids
        schemas: dict[int, str | None] = {}
        for number in known:
            schema = _schema(client, number)
            if schema is not None and schema.references:
                return None
            schemas[number] = None if schema is None else schema.text
        return avro_decoding(layout, schemas)

    def spark_encoding(self, layout: Layout, *, registers: bool = True) -> str | None:
        client = registry_client(layout.registry, self.name)
        given = layout.format.schema_id
        if given is not None:
            return avro_encoding(layout, given, client.schema(given).text)
        schema = self.schema(layout)
        subject = subject_of(layout.topic, is_key=layout.is_key)
        return avro_encoding(layout, client.register(subject, schema) if registers else 0, schema.text)


def avro_columns(layout: Layout) -> DecodeColumns | None:
    """None where a column stands alone, or the registry is not known: the decoder says so."""
    if layout.registry is None or not layout.columns or not is_wrapped(layout):
        return None
    return _ColumnDecoder(layout).columns


class _ColumnDecoder:
    """Reads records of one schema as columns. What cannot be read so is left to the decoder, which says what is wrong."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._client = registry_client(layout.registry, AvroFormat.name)
        self._codecs = AvroFormat().codecs(self._client, layout)
        self._readers: dict[bytes, DecodeColumns | None] = {}

    def columns(self, payloads: Sequence[bytes | None]) -> Sequence[Sequence[Any]] | None:
        if not payloads or not payloads[0]:
            return None
        prefix = payloads[0][:PREFIX_BYTES]
        if prefix not in self._readers:
            try:
                reader = self._reader(prefix)
            except RegistryClientError:
                # It may come back: the decoder asks again, and tells of it.
                return None
            if len(self._readers) >= READERS_KEPT_MAX:
                self._readers.clear()
            self._readers[prefix] = reader
        read = self._readers[prefix]
        return None if read is None else read(payloads)

    def _reader(self, prefix: bytes) -> DecodeColumns | None:
        frame = read_frame(prefix)
        if frame is None or not isinstance(frame.key, int):
            return None
        schema = self._client.schema(frame.key)
        if schema.type != AVRO:
            return None
        try:
            part = AvroFormat().part(schema, self._codecs, frame.key, self._layout)
            kind = _kind(schema, self._codecs)
            return None if part is None else column_reader(kind, part, self._layout.columns, prefix)
        except Mismatch:
            return None


def _kind(schema: SchemaText, codecs: Codecs) -> AvroType:
    return parse_types(schema.text, list(codecs.referenced(schema).values()))


def _known_ids(client: RegistryClient, subject: str) -> frozenset[int]:
    """Of the newest schemas of a subject."""
    found = [each for each in client.schemas(subject, deleted=True) if each.subject == subject]
    return frozenset(each.id for each in found[-SCHEMAS_KNOWN_MAX:])


def _schema(client: RegistryClient, number: int) -> SchemaText | None:
    """None where there is none, or one of another format: its records cannot be read."""
    try:
        schema = client.schema(number)
    except RegistryClientError as error:
        if error.status != NOT_FOUND:
            raise
        return None
    return schema if schema.type == AVRO else None
