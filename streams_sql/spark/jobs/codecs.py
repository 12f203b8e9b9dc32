"""Decoders and encoders in Spark's workers. A worker runs many tasks: what it has made once, it keeps."""

from __future__ import annotations

from functools import cache

from streams_sql.formats import library
from streams_sql.formats.library import format_of
from streams_sql.formats.serde import Decode, DecodeColumns, Encode, Layout
from streams_sql.formats.spelling import written_layout


@cache
def decoder_of(layout: Layout) -> Decode:
    return format_of(layout.format.name).decoder(layout)


@cache
def column_decoder_of(layout: Layout) -> DecodeColumns | None:
    return library.column_decoder_of(layout)


def encoder_of(layout: Layout, query_id: str) -> Encode:
    return _kept_encoder(layout, written_layout(layout), query_id)


@cache
def _kept_encoder(layout: Layout, _written: Layout, _query_id: str) -> Encode:
    """Layouts are the same whatever the case of their names; what is written is not. Each query has encoders of its own: the subject that an
    earlier one has registered its schema for may have been deleted with its topic, and nobody could read what names that schema."""
    return library.encoder_of(layout)
