"""Decoders and encoders in Spark's workers. A worker runs many tasks: what it has made once, it keeps."""

from __future__ import annotations

from functools import cache

from streams_sql.formats.library import format_of
from streams_sql.formats.serde import Decode, Encode, Layout


@cache
def decoder_of(layout: Layout) -> Decode:
    return format_of(layout.format.name).decoder(layout)


@cache
def encoder_of(layout: Layout) -> Encode:
    return format_of(layout.format.name).encoder(layout)
