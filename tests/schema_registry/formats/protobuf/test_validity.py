"""What is refused when somebody registers it, and taken when it is stored already."""

from __future__ import annotations

import pytest

from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.formats.protobuf.schema import ProtobufSchema

BROKEN = [
    ("message M { int32 a = 1;\n int32 b = 1; }", "fields a and b of p.M at line 2, column 2 have both the number 1"),
    ("message M { int32 a = 1; string a = 2; }", "p.M has more than one field named a"),
    ("message M { int32 a = 1; oneof a { int32 b = 2; } }", "p.M has more than one field named a"),
    ("message M { int32 a = 0; }", "has the number 0; use one from 1 to 536870911"),
    ("message M { int32 a = 536870912; }", "has the number 536870912"),
    ("message M { int32 a = 19500; }", "19000 to 19999 are kept"),
    ("message M { reserved 5 to 9, 7; int32 a = 9; }", "uses the reserved number 9"),
    ('message M { reserved "a"; int32 a = 1; }', "uses a reserved name"),
    ("message M { reserved 9 to 5; }", "9 to 5 of p.M at line 1, column 43 is no range"),
    ("message M { reserved 5 to 2147483647; }", "is no range of field numbers"),
    ("message M { int32 a = 1 [default = 5]; }", "proto3 has none"),
    ("message M { optional group G = 1 {} }", "proto3 has no groups"),
    ("message M { extensions 100 to 200; }", "proto3 allows them for options alone"),
    ("message M { oneof o {} }", "oneof o of p.M at line 1, column 43 has no field"),
    ("message M { message N {} enum N { A = 0; } }", "p.M has more than one type named N"),
    ("enum E {}", "enum p.E at line 1, column 31 has no value"),
    ("enum E { A = 1; }", "in proto3 it must be 0"),
    ("enum E { A = 0; B = 0; }", "say option allow_alias = true"),
    ("enum E { A = 0; A = 1; }", "p.E has more than one value named A"),
    ("enum E { A = 0; B = 4; reserved 3 to 5; }", "uses the reserved number 4"),
    ("enum E { A = 0; } enum F { A = 0; }", "duplicate symbol 'p.A'"),
    ("message M { Nowhere a = 1; }", "Could not resolve type: Nowhere"),
    ("message M {} service S { rpc R (M) returns (N); }", "Could not resolve type: N"),
    ("extend Nowhere { int32 a = 1; }", "Could not resolve type: Nowhere"),
    ("message M { google.protobuf.Timestamp t = 1; }", "import the file that declares it"),
    ("message M { map<float, int32> m = 1; }", "map key must be non-byte, non-floating point scalar: float"),
    ("message M { map<M, int32> m = 1; }", "map key must be non-byte, non-floating point scalar: M"),
    ("message M { map<string, map<string, string>> m = 1; }", "Invalid protobuf schema definition"),
    ("message M.N {}", "Invalid protobuf schema definition"),
    ("message M { int32 a-b = 1; }", "Invalid protobuf schema definition"),
    ("enum E { A = 0; } service S { rpc R (E) returns (E); }", "Invalid protobuf schema definition"),
    ("option optimize_for = FAST;", "it is one of CODE_SIZE, LITE_RUNTIME, SPEED"),
    ('option (confluent.file_meta) = "x";', "must be a message"),
    ("option (confluent.file_meta).params = 1;", "params of (confluent.file_meta) at line 1"),
    ("option features = 1;", "option features at line 1, column 38 must be a message in braces"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_a_new_schema_that_breaks_a_rule_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidSchema) as raised:
        ProtobufSchema.parse(f'syntax = "proto3"; package p; {text}', new=True)
    assert message in str(raised.value)


BROKEN_PROTO2 = [
    ("message M { optional int32 a = 1 [default = abc]; }", "abc"),
    ("message M { optional E e = 1 [default = B]; } enum E { A = 1; }", "'B'"),
    ("message M { optional M m = 1 [default = 1]; }", "defaults"),
    ("message M { repeated int32 a = 1 [default = 1]; }", "is repeated, so it cannot have a default"),
    ("message M { extensions 100; } extend M { optional int32 a = 99; }", "no extension range"),
    ("message M { extensions 100; } extend M { optional int32 a = 0; }", "extension a of M"),
    ("message M { extensions 9 [declaration = {number: x}]; }", "must be a whole number, not x"),
    ("message M { optional group G = 1 { optional int32 a = 1; optional int32 b = 1; } }", "M.G"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN_PROTO2)
def test_a_new_proto2_schema_that_breaks_a_rule_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidSchema) as raised:
        ProtobufSchema.parse(text, new=True)
    assert message in str(raised.value)


TAKEN = [
    'syntax = "proto3"; enum E { option allow_alias = true; A = 0; B = 0; }',
    'syntax = "proto3"; message M { int32 foo_bar = 1; int32 fooBar = 2; }',
    'syntax = "proto3"; import "nowhere.proto"; message M { int32 a = 1 [(nowhere) = {b: 1}]; }',
    'syntax = "proto3"; message M { M.N n = 1; message N { map<string, N> more = 1; optional M m = 2; } }',
    'syntax = "proto3"; import "google/protobuf/descriptor.proto"; extend google.protobuf.FieldOptions { int32 x = 50000; }',
    'syntax = "proto2"; option features.field_presence = EXPLICIT; message M { optional int32 a = 1; }',
    "message M { optional int32 a = 1 [default = 0x1F]; optional float f = 2 [default = inf]; }",
    "message M { optional bytes b = 1 [default = word]; optional bool t = 2 [default = true]; }",
    "message M { oneof o { group G = 1 { optional int32 a = 1; } } optional group H = 2 {} }",
    "message M { extensions 100 to max; } extend M { optional int32 a = 536870911; }",
    'import weak "google/protobuf/any.proto"; message M { optional google.protobuf.Any a = 1; }',
]


@pytest.mark.parametrize("text", TAKEN)
def test_a_new_schema_that_keeps_the_rules_is_taken(text: str) -> None:
    canonical = ProtobufSchema.parse(text, new=True).canonical
    assert ProtobufSchema.parse(canonical).canonical == canonical


def test_a_stored_schema_is_taken_as_it_is() -> None:
    text = 'syntax = "proto3"; message M { int32 a = 1; int32 b = 1; Nowhere c = 2; }'
    assert "Nowhere c = 2;" in ProtobufSchema.parse(text).canonical


def test_an_import_that_breaks_rules_is_not_held_against_what_builds_on_it() -> None:
    broken = 'syntax = "proto3"; message Old { int32 a = 1; int32 b = 1; }'
    schema = ProtobufSchema.parse(
        'syntax = "proto3"; import "old.proto"; message M { Old o = 1; }', {"old.proto": broken}, new=True
    )
    assert schema.name == "M"
