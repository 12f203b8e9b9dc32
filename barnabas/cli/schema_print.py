"""Schemas as people read them."""

from __future__ import annotations

import json

from barnabas.kernel.serdes.schema_text import PROTOBUF, SchemaText


def pretty(schema: SchemaText) -> str:
    """JSON with line breaks; Protobuf as it is. What is no JSON is shown as it came."""
    if schema.type != PROTOBUF:
        try:
            return json.dumps(json.loads(schema.text), ensure_ascii=False, indent=2)
        except ValueError:
            pass
    return schema.text.rstrip("\n")
