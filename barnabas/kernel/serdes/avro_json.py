"""Avro's JSON encoding, as Java's JsonEncoder writes it: `{"string": "x"}` in unions, bytes as strings whose characters are the bytes."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.serdes.avro_form import AvroForm, Convert, LeafType, Wrapping
from barnabas.kernel.serdes.avro_types import FixedType
from barnabas.kernel.serdes.json_numbers import double_number


def json_reader(kind: LeafType) -> Convert | None:
    if isinstance(kind, FixedType) or kind.name == "bytes":
        return _latin_text
    # Java's encoder, too, writes a float as the double that it is.
    return double_number if kind.name in ("float", "double") else None


def _latin_text(data: bytes) -> str:
    return data.decode("latin-1")


JSON_ENCODING: Final = AvroForm(Wrapping.ALWAYS, json_reader)
