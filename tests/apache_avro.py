"""Avro data in Apache's own implementation in Python."""

from __future__ import annotations

import io
import json
from typing import Any

from avro.io import BinaryDecoder, BinaryEncoder, DatumReader, DatumWriter
from avro.schema import parse


def written(schema: Any, value: Any) -> bytes:
    out = io.BytesIO()
    DatumWriter(parse(json.dumps(schema))).write(value, BinaryEncoder(out))
    return out.getvalue()


def read(schema: Any, data: bytes) -> Any:
    return DatumReader(parse(json.dumps(schema))).read(BinaryDecoder(io.BytesIO(data)))
