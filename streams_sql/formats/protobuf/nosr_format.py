"""PROTOBUF_NOSR: Protobuf's bytes alone. The message has a field for each column, numbered in their order, and no registry knows it."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.kernel.serdes.protobuf import ProtobufCodec
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.protobuf.descriptor import serialized_file
from streams_sql.formats.protobuf.reading import read_message
from streams_sql.formats.protobuf.writing import protobuf_row_writer
from streams_sql.formats.serde import Decode, Encode, Layout, Undecodable, Values
from streams_sql.formats.written import row_reader


class PlainProtobufFormat:
    name = "PROTOBUF_NOSR"

    def decoder(self, layout: Layout) -> Decode:
        declared = ProtobufCodec(serialized_file(layout), keeps_names=True)
        part = read_message(declared.descriptor((0,)), is_widened=True)
        if part is None:
            raise Mismatch("The Protobuf message is none that columns can be made of")
        codec = ProtobufCodec(serialized_file(layout, widens=True), keeps_names=True)
        preamble, read, parse = codec.preamble, row_reader(part, layout.columns), codec.decode

        def decode(payloads: Sequence[bytes | None]) -> list[Values | Undecodable | None]:
            rows: list[Values | Undecodable | None] = []
            for payload in payloads:
                try:
                    rows.append(None if payload is None else read(parse(preamble + payload)))
                except ValueError as error:
                    rows.append(Undecodable(str(error)))
            return rows

        return decode

    def encoder(self, layout: Layout) -> Encode:
        codec = ProtobufCodec(serialized_file(layout), keeps_names=True)
        write = protobuf_row_writer(
            [column.name for column in layout.columns], [column.type for column in layout.columns]
        )

        def encode(rows: Sequence[Values | None]) -> list[bytes | None]:
            return [None if row is None else codec.encode(write(row)) for row in rows]

        return encode

    def spark_decoding(self, layout: Layout, schema_ids: frozenset[int] = frozenset()) -> str | None:
        """None: Spark's from_protobuf takes a file of descriptors, and gives messages of time as they are."""
        return None

    def spark_encoding(self, layout: Layout, *, registers: bool = True) -> str | None:
        return None
