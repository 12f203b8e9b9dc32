"""All formats by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Final

from streams_sql.formats.avro.format import AvroFormat, avro_columns
from streams_sql.formats.delimited_format import DelimitedFormat
from streams_sql.formats.json.columns import json_columns
from streams_sql.formats.json.format import JsonFormat
from streams_sql.formats.json.sr_format import JsonSchemaFormat
from streams_sql.formats.kafka_format import KafkaFormat, kafka_columns
from streams_sql.formats.none_format import NoneFormat
from streams_sql.formats.protobuf.format import ProtobufFormat
from streams_sql.formats.protobuf.nosr_format import PlainProtobufFormat
from streams_sql.formats.serde import DecodeColumns, Encode, Format, Layout
from streams_sql.formats.spelling import renaming, written_layout
from streams_sql.problem import SqlProblem

_ALL: Final[tuple[Format, ...]] = (
    NoneFormat(),
    DelimitedFormat(),
    JsonFormat(),
    KafkaFormat(),
    AvroFormat(),
    JsonSchemaFormat(),
    ProtobufFormat(),
    PlainProtobufFormat(),
)
_COLUMN_DECODERS: Final[Mapping[str, Callable[[Layout], DecodeColumns | None]]] = {
    "AVRO": avro_columns,
    "JSON": json_columns,
    "KAFKA": kafka_columns,
}
FORMATS: Final[Mapping[str, Format]] = {each.name: each for each in _ALL}


def encoder_of(layout: Layout) -> Encode:
    """What writes rows of a source. SqlProblem for a format that is not known."""
    return renaming(format_of(layout.format.name).encoder(written_layout(layout)), layout)


def column_decoder_of(layout: Layout) -> DecodeColumns | None:
    """None where the format, or one of the columns, is read record by record."""
    make = _COLUMN_DECODERS.get(layout.format.name.upper())
    return None if make is None else make(layout)


def format_of(name: str) -> Format:
    """Names are in any case; SqlProblem for one that is not known."""
    found = FORMATS.get(name.upper())
    if found is None:
        near = get_close_matches(name.upper(), FORMATS, 1)
        hint = f" Did you mean {near[0]}?" if near else f" It is one of {', '.join(sorted(FORMATS))}."
        raise SqlProblem(f"Unknown format: {name}.{hint}")
    return found
