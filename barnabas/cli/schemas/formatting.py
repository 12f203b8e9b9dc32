"""Schemas as people read them."""

from __future__ import annotations

import json
import sys

from barnabas.cli.terminal import styles
from barnabas.cli.terminal.styles import styled
from barnabas.kernel.serdes.schema_text import PROTOBUF, SchemaText


def pretty(schema: SchemaText) -> str:
    """JSON with line breaks; Protobuf as it is. What is no JSON is shown as it came."""
    if schema.type != PROTOBUF:
        try:
            return json.dumps(json.loads(schema.text), ensure_ascii=False, indent=2)
        except ValueError:
            pass
    return schema.text.rstrip("\n")


def comparable(schema: SchemaText) -> str:
    """As `pretty`, and Protobuf in its canonical form, so that only what differs in meaning differs in lines."""
    return _canonical(schema.text).rstrip("\n") if schema.type == PROTOBUF else pretty(schema)


def _canonical(text: str) -> str:
    """What cannot be read is shown as it came, and so is everything where the registry's libraries are not installed."""
    try:
        from schema_registry.formats.parsed_schema import InvalidSchema
        from schema_registry.formats.protobuf.schema import ProtobufSchema
    except ImportError:
        return text
    try:
        return ProtobufSchema.parse(text).canonical
    except InvalidSchema:
        return text


def write_comment(text: str) -> None:
    """Write what is said of a schema to standard error, so that the schema alone can be written to a file."""
    sys.stdout.flush()
    print(styled(text, styles.DIM, sys.stderr), file=sys.stderr)
