"""What a request says about the schema of its keys or values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BINARY: Final = "binary"
JSON: Final = "json"
STRING: Final = "string"
AVRO: Final = "avro"
JSONSCHEMA: Final = "jsonschema"
PROTOBUF: Final = "protobuf"

AUTO: Final = "auto"
"""Of a reader who leaves it to the bytes to say what they are; nothing is written so."""

PLAIN_FORMATS: Final = frozenset({BINARY, JSON, STRING})
SCHEMA_FORMATS: Final = frozenset({AVRO, JSONSCHEMA, PROTOBUF})


@dataclass(frozen=True, slots=True)
class SchemaChoice:
    """A format, and for those with schemas which schema: a text, an id, or a version of a subject; none of these is the latest.

    Without a format the schema decides. Without a subject the strategy names it: TOPIC_NAME, RECORD_NAME or TOPIC_RECORD_NAME.
    """

    topic: str
    is_key: bool
    format: str | None = None
    text: str | None = None
    id: int | None = None
    version: int | None = None
    subject: str | None = None
    strategy: str | None = None
