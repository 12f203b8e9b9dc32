"""ASSERT: a topic or a schema that is to be there, or not; in tests, rows and sources that are to be as they are written."""

from __future__ import annotations

from streams_sql.language.definitions import read_declaration, read_properties, read_rows
from streams_sql.language.durations import read_duration
from streams_sql.language.external_statements import (
    AssertSchema,
    AssertTopic,
)
from streams_sql.language.reader import Reader
from streams_sql.language.statements import AssertRows, AssertSource, Kind


def read_assert(reader: Reader) -> AssertTopic | AssertSchema | AssertRows | AssertSource:
    reader.expect("ASSERT")
    if reader.accept("NOT"):
        reader.expect("EXISTS")
        return _read_outward(reader, exists=False)
    if reader.accept("VALUES"):
        return AssertRows(read_rows(reader, "VALUES"))
    if reader.accept("NULL"):
        reader.expect("VALUES")
        return AssertRows(read_rows(reader, "KEY"), is_deletion=True)
    if (kind := reader.accept_one_of(*Kind.__members__)) is not None:
        return AssertSource(read_declaration(reader, Kind(kind)))
    return _read_outward(reader, exists=True)


def _read_outward(reader: Reader, *, exists: bool) -> AssertTopic | AssertSchema:
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
