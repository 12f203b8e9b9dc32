"""ASSERT: a topic or a schema that is to be there, or not."""

from __future__ import annotations

from streams_sql.language.definitions import read_properties
from streams_sql.language.durations import read_duration
from streams_sql.language.outward_statements import (
    AssertSchema,
    AssertTopic,
)
from streams_sql.language.reader import Reader


def read_assert(reader: Reader) -> AssertTopic | AssertSchema:
    reader.expect("ASSERT")
    exists = not reader.accept("NOT", "EXISTS")
    if reader.expect_one_of("TOPIC", "SCHEMA") == "TOPIC":
        topic = _read_resource(reader)
        return AssertTopic(topic, exists, read_properties(reader), _read_timeout(reader))
    position = reader.position
    subject = _read_resource(reader) if reader.accept("SUBJECT") else None
    schema_id = reader.integer("The ID of a schema") if reader.accept("ID") else None
    if subject is None and schema_id is None:
        raise reader.problem("ASSERT SCHEMA statements much include a subject name or an id", position)
    return AssertSchema(subject, schema_id, exists, _read_timeout(reader))


def _read_resource(reader: Reader) -> str:
    """Topics and subjects have names with a case, and most often in quotes."""
    return reader.accept_string() or reader.written_word()


def _read_timeout(reader: Reader) -> int | None:
    return read_duration(reader) if reader.accept("TIMEOUT") else None
