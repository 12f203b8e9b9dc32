"""Layouts for tests, from columns in short form."""

from __future__ import annotations

from streams_sql.formats.library import format_of
from streams_sql.formats.serde import Layout, RegistryAccess, Undecodable, Values
from streams_sql.sources import Column, FormatUse
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Field,
    Map,
    SqlType,
    Struct,
)

PERSON = Struct((Field("NAME", STRING), Field("AGE", INTEGER)))
EVERY_TYPE: dict[str, SqlType] = {
    "I": INTEGER,
    "L": BIGINT,
    "D": DOUBLE,
    "O": BOOLEAN,
    "S": STRING,
    "X": Decimal(38, 3),
    "B": BYTES,
    "T": TIME,
    "DT": DATE,
    "TS": TIMESTAMP,
    "AR": Array(PERSON),
    "AI": Array(INTEGER),
    "M": Map(STRING, Decimal(4, 1)),
    "N": PERSON,
}


def layout_of(
    columns: dict[str, SqlType],
    use: FormatUse,
    *,
    topic: str = "topic",
    is_key: bool = False,
    registry: RegistryAccess | None = None,
) -> Layout:
    return Layout(use, tuple(Column(name, type_) for name, type_ in columns.items()), topic, is_key, registry)


def decode_one(layout: Layout, payload: bytes | None) -> Values | Undecodable | None:
    (row,) = format_of(layout.format.name).decoder(layout)([payload])
    return row


def encode_one(layout: Layout, row: Values | None) -> bytes | None:
    (payload,) = format_of(layout.format.name).encoder(layout)([row])
    return payload
