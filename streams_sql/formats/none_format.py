"""NONE: keys without columns. Nothing is read, nothing is written."""

from __future__ import annotations

from streams_sql.formats.serde import Decode, Encode, Layout


class NoneFormat:
    name = "NONE"

    def decoder(self, layout: Layout) -> Decode:
        return lambda payloads: [None] * len(payloads)

    def encoder(self, layout: Layout) -> Encode:
        return lambda rows: [None] * len(rows)

    def spark_decoding(self, layout: Layout, schema_ids: frozenset[int] = frozenset()) -> str | None:
        return None

    def spark_encoding(self, layout: Layout, *, registers: bool = True) -> str | None:
        return "CAST(NULL AS BINARY)"
