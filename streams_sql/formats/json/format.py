"""JSON: a record is an object with the columns, or a single value by itself."""

from __future__ import annotations

from streams_sql.formats.json.native import json_decoding, json_encoding
from streams_sql.formats.json.reading import json_decoder
from streams_sql.formats.json.writing import json_encoder
from streams_sql.formats.serde import Decode, Encode, Layout


class JsonFormat:
    name = "JSON"

    def decoder(self, layout: Layout) -> Decode:
        return json_decoder(layout)

    def encoder(self, layout: Layout) -> Encode:
        return json_encoder(layout)

    def spark_decoding(self, layout: Layout, schema_ids: frozenset[int] = frozenset()) -> str | None:
        return json_decoding(layout)

    def spark_encoding(self, layout: Layout, *, registers: bool = True) -> str | None:
        return json_encoding(layout)
