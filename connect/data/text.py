"""Values as text: as Java shows them, which is what the string converter writes, and as headers have them, which can be parsed again."""

from __future__ import annotations

import base64
import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, Final

from barnabas.kernel.java.numbers import double_text
from barnabas.kernel.serdes.json_numbers import float_number
from connect.data.mismatch import not_a
from connect.data.schema import Schema, Type

NULL: Final = "null"


def text_of(value: Any, schema: Schema | None = None) -> str:
    """As Java shows it: `Struct{id=1,name=x}`, `{a=1, b=2}`, `[1, 2]`. Bytes are base64; dates and times are ISO 8601."""
    if isinstance(value, dict):
        return (
            _struct_text(value, schema)
            if schema is not None and schema.type is Type.STRUCT
            else _map_text(value, schema)
        )
    if isinstance(value, list | tuple):
        inside = None if schema is None else schema.values
        return f"[{', '.join([text_of(item, inside) for item in value])}]"
    return scalar_text(value, is_float32=schema is not None and schema.type is Type.FLOAT32)


def _struct_text(value: dict[str, Any], schema: Schema) -> str:
    given = [(each, value.get(each.name)) for each in schema.fields]
    return "Struct{" + ",".join(
        [f"{each.name}={text_of(item, each.schema)}" for each, item in given if item is not None]
    ) + "}"  # fmt: skip


def _map_text(value: dict[Any, Any], schema: Schema | None) -> str:
    keys, values = (None, None) if schema is None else (schema.keys, schema.values)
    return "{" + ", ".join([f"{text_of(name, keys)}={text_of(item, values)}" for name, item in value.items()]) + "}"


def header_text(value: Any, *, embedded: bool = False) -> str:
    """As Kafka Connect's simple header converter writes it: `[1,2]`, `{"a":1}`, and strings in quotes inside of these alone."""
    if isinstance(value, dict):
        inside = [
            f"{header_text(name, embedded=True)}:{header_text(item, embedded=True)}" for name, item in value.items()
        ]
        return "{" + ",".join(inside) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join([header_text(item, embedded=True) for item in value]) + "]"
    text = scalar_text(value)
    if embedded and isinstance(value, str | bytes):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text


def scalar_text(value: Any, *, is_float32: bool = False) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return NULL
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return str(value)
    if isinstance(value, float):
        return double_text(value if not is_float32 or not math.isfinite(value) else float(float_number(value)))
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(bytes(value)).decode()
    return _temporal_text(value)


def _temporal_text(value: Any) -> str:
    if isinstance(value, datetime):
        in_utc = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return in_utc.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    raise not_a("a value that has a text", value)
