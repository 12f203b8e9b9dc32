"""What the registry asks of a Protobuf schema beyond its text."""

from __future__ import annotations

import pytest

from schema_registry.formats.protobuf.known import known_files
from schema_registry.formats.protobuf.schema import ProtobufSchema

NAMES = [
    ("package a.b; enum E { A = 0; } message M {} message N {}", "a.b.M"),
    ("enum E { A = 0; }", "E"),
    ('import public "google/protobuf/timestamp.proto";', "google.protobuf.Timestamp"),
    ('import public "other.proto"; package mine;', "other.Message"),
    ('import public "other.proto"; import "google/protobuf/any.proto";', None),
    ('import public "nowhere.proto";', None),
    ("", None),
]


@pytest.mark.parametrize(("text", "name"), NAMES)
def test_the_name_is_that_of_the_first_message(text: str, name: str | None) -> None:
    assert ProtobufSchema.parse(text, {"other.proto": "package other; message Message {}"}).name == name


EXTENDED = """
import "confluent/meta.proto";
message M {
  option (custom) = 1;
  optional int32 a = 1 [(custom).b = 2, (confluent.field_meta).doc = "kept", deprecated = true];
  extensions 100 to 200;
  extend M { optional int32 inner = 100; }
}
extend M { optional int32 outer = 101; }
"""

IGNORING = """
import "confluent/meta.proto";

message M {
  optional int32 a = 1 [
    (confluent.field_meta).doc = "kept",
    deprecated = true
  ];
}
"""


def test_the_form_without_extensions() -> None:
    assert ProtobufSchema.parse(EXTENDED).formatted("ignore_extensions") == IGNORING
    assert ProtobufSchema.parse(EXTENDED).formatted("IGNORE_EXTENSIONS") == IGNORING


@pytest.mark.parametrize("form", ["", " ", "default", "resolved", "anything"])
def test_all_other_forms_are_the_canonical_text(form: str) -> None:
    schema = ProtobufSchema.parse(EXTENDED)
    assert schema.formatted(form) == schema.canonical


def test_every_known_file_can_be_imported_and_its_types_be_used() -> None:
    assert len(known_files()) == 30
    imports = "".join(f'import "{path}";' for path in known_files())
    types = [f".{file.package}.{one.name}" for file in known_files().values() for one in file.types]
    fields = "".join(f"{name} f{number} = {number};" for number, name in enumerate(types, 1))
    schema = ProtobufSchema.parse(f'syntax = "proto3"; {imports} message M {{ {fields} }}', new=True)
    assert schema.canonical.count("import") == 30
    assert all(name in schema.normalised().canonical for name in types)


def test_a_reference_stands_before_a_known_file() -> None:
    reference = {"google/type/date.proto": 'syntax = "proto3"; package mine; message Date { int32 day = 1; }'}
    text = 'syntax = "proto3"; import "google/type/date.proto"; message M { mine.Date d = 1; }'
    assert ".mine.Date d = 1;" in ProtobufSchema.parse(text, reference, new=True).normalised().canonical


def test_references_may_be_descriptors() -> None:
    shared = ProtobufSchema.parse('syntax = "proto3"; package s; message Shared { int32 a = 1; }')
    schema = ProtobufSchema.parse(
        'syntax = "proto3"; import "s.proto"; message M { s.Shared a = 1; }',
        {"s.proto": shared.formatted("serialized")},
        new=True,
    )
    assert schema.dependencies["s.proto"].package == "s"


def test_differences_are_those_of_the_comparison() -> None:
    reader = ProtobufSchema.parse('syntax = "proto3"; message M { string a = 1; }')
    writer = ProtobufSchema.parse('syntax = "proto3"; message M { int32 a = 1; }')
    assert [one.rule for one in reader.differences(writer)] == ["FIELD_SCALAR_KIND_CHANGED"]
    assert reader.differences(reader) == []
