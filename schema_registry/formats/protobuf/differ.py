"""Why a Protobuf schema cannot read what another one wrote: Confluent's rules and sentences, and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_registry.formats.difference import Difference, Roles
from schema_registry.formats.protobuf.comparison import Change, Comparison, Place
from schema_registry.formats.protobuf.rules import BREACHES
from schema_registry.formats.protobuf.type_table import TypeTable

if TYPE_CHECKING:
    from schema_registry.formats.protobuf.schema import ProtobufSchema


def differences(reader: ProtobufSchema, writer: ProtobufSchema, roles: Roles) -> list[Difference]:
    return [_difference(change, roles) for change in changes(reader, writer) if change.rule.breaks_readers]


def changes(reader: ProtobufSchema, writer: ProtobufSchema) -> list[Change]:
    """Every difference, those too that break nothing."""
    comparison = Comparison()
    place = Place(
        TypeTable.of(reader.file, reader.imports.values()), TypeTable.of(writer.file, writer.imports.values())
    )
    comparison.compare_files(place, reader.file, writer.file)
    return comparison.changes


def _difference(change: Change, roles: Roles) -> Difference:
    breach = BREACHES[change.rule]
    reader_is_new = roles.reader == Roles().reader
    places = {
        "path": change.path,
        "reader_role": roles.reader,
        "writer_role": roles.writer,
        "reader": change.reader,
        "writer": change.writer,
        "old": (change.writer if reader_is_new else change.reader) or "none",
    }
    sentence = breach.sentence.format_map(places)
    return Difference(
        rule=change.rule.name,
        path=change.path,
        message=f'{{errorType:"{change.rule.name}", description:"{sentence}"}}',
        reader=change.reader,
        writer=change.writer,
        why=breach.why.format_map(places),
        fix=(breach.fix_reader if reader_is_new else breach.fix_writer).format_map(places),
    )
