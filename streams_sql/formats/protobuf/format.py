"""PROTOBUF, through the registry."""

from __future__ import annotations

from typing import Any

from barnabas.kernel.serdes.codecs import CodecOptions, Codecs
from barnabas.kernel.serdes.framing import read_message_indexes
from barnabas.kernel.serdes.protobuf import ProtobufCodec
from barnabas.kernel.serdes.registry_client import SchemaKey
from barnabas.kernel.serdes.schema_text import PROTOBUF, SchemaText
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.protobuf.reading import read_message
from streams_sql.formats.protobuf.schema import DEFAULT_NAME, protobuf_schema
from streams_sql.formats.protobuf.writing import protobuf_row_writer
from streams_sql.formats.registered import ReadRow, RegisteredFormat, WriteRow
from streams_sql.formats.serde import Layout, Values
from streams_sql.formats.written import Convert, Part, row_reader


class ProtobufFormat(RegisteredFormat):
    name = "PROTOBUF"
    schema_type = PROTOBUF

    def codec_options(self, layout: Layout) -> CodecOptions:
        full_name = (layout.format.full_name or "").strip()
        is_default = not full_name or full_name.startswith(DEFAULT_NAME)
        return CodecOptions(keeps_names=True, message=None if is_default else full_name)

    def schema(self, layout: Layout) -> SchemaText:
        return SchemaText(protobuf_schema(layout), PROTOBUF)

    def part(self, schema: SchemaText, codecs: Codecs, key: SchemaKey, layout: Layout) -> Part | None:
        codec = _codec(codecs, key)
        indexes, _ = read_message_indexes(codec.preamble)
        return read_message(codec.descriptor(indexes))

    def row_reader(self, schema: SchemaText, codecs: Codecs, key: SchemaKey, layout: Layout) -> ReadRow:
        codec = _codec(codecs, key)
        readers: dict[tuple[int, ...], Convert] = {}

        def made(indexes: tuple[int, ...]) -> Convert:
            reader = readers[indexes] = _row_reader(codec.descriptor(indexes), layout)
            return reader

        def read(body: bytes) -> Values:
            indexes, _ = read_message_indexes(body)
            row: Values = (readers.get(indexes) or made(indexes))(codec.decode(body))
            return row

        return read

    def row_writer(self, schema: SchemaText, codecs: Codecs, layout: Layout) -> WriteRow:
        return protobuf_row_writer(
            [column.name for column in layout.columns], [column.type for column in layout.columns]
        )


def _row_reader(descriptor: Any, layout: Layout) -> Convert:
    part, closed = read_message(descriptor), read_message(descriptor, opens_wrappers=False)
    if part is None or closed is None:
        raise Mismatch("The Protobuf message is none that columns can be made of")
    try:
        return row_reader(part, layout.columns)
    except Mismatch:
        if part == closed:
            raise
        # Sources that were declared with STRUCT<VALUE …> for wrappers.
        return row_reader(closed, layout.columns)


def _codec(codecs: Codecs, key: SchemaKey) -> Any:
    codec = codecs.codec(key)
    assert isinstance(codec, ProtobufCodec), "the type of the schema was looked at before"
    return codec
