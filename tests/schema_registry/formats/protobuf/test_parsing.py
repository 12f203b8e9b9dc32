"""Texts that are no `.proto` files: where, and why, in bounded time."""

from __future__ import annotations

import pytest

from schema_registry.formats.parsed_schema import SCHEMA_MAX_CHARACTERS, InvalidSchema
from schema_registry.formats.protobuf.elements import LEVELS_MAX
from schema_registry.formats.protobuf.schema import ProtobufSchema

SYNTAX_ERRORS = [
    ("foo", ":1:1: unexpected label: foo"),
    ('edition = "2023";', ":1:8: edition is not currently supported"),
    ('syntax = "proto4";', ":1:1: unexpected syntax: proto4"),
    ('syntax = "proto3";\nsyntax = "proto3";', ":2:1: too many syntax definitions"),
    ('package a; syntax = "proto3";', ":1:12: 'syntax' element must be the first declaration in a file"),
    ('import strong "a.proto";', ":1:1: expected quoted string"),
    ("message M {\n  optional int32 a = 1\n}", ":3:2: expected ';' but was '}'"),
    ("message M {\n  int32 a = 1;\n}", ":2:3: unexpected label: int32"),
    ('syntax = "proto3"; message M { required int32 a = 1; }', "'required' label forbidden in proto3"),
    ("message M { repeated map<string, string> m = 1; }", "'map' type cannot have label"),
    ("message M { map string m = 1; }", "unexpected label: map"),
    ("message M { optional int32 a = 99999999999; }", ":1:43: expected an integer but was 99999999999"),
    ("message M { optional int32 a = 1_0; }", "expected an integer but was 1_0"),
    ("message M { optional int32 1a = 1; }", "field and constant names cannot start with a digit"),
    ("message M { optional int32 = 1; }", ":1:28: expected a word"),
    ("message M { optional int32 a = 1;", "unexpected end of file"),
    ("message M { reserved 1 until 5; }", "expected ',', ';', or 'to'"),
    ("message M { reserved 1 to x; }", "expected an integer but was x"),
    ("message M { extensions 1 - 5; }", "expected ',', ';', '[' or 'to'"),
    ("message M { optional int32 a = 1 [deprecated: true]; }", "expected '=' in option"),
    ("message M { optional int32 a = 1 [deprecated = true default = 1]; }", "Expected ',' or ']"),
    ("option (a = 1;", "expected ')'"),
    ("option (a) = [1 2];", "expected ',' or ']'"),
    ("message M { optional group G = 1 { optional group H = 2 {} } }", "expected field declaration"),
    ("service S { rpc A (B) gives (C); }", "expected 'returns'"),
    ('option java_package = "open', ":1:28: unterminated string"),
    ('option java_package = "\\xZ";', "expected a digit after"),
    ("message M {} /* open", "unterminated comment"),
    ("message M {} / ", "unexpected '/'"),
    ('option java_package = "\ud800";', ":1:24: half of a character"),
]


@pytest.mark.parametrize(("text", "message"), SYNTAX_ERRORS)
def test_syntax_errors_tell_where_and_why(text: str, message: str) -> None:
    with pytest.raises(InvalidSchema) as raised:
        ProtobufSchema.parse(text)
    assert str(raised.value).startswith("Could not parse Protobuf - Syntax error in :")
    assert message in str(raised.value)


def test_two_types_of_one_name_are_told_with_both_places() -> None:
    with pytest.raises(InvalidSchema, match=r"M \(:2:1\) is already defined at :1:1"):
        ProtobufSchema.parse("message M {}\nenum M { A = 0; }")


HOSTILE = {
    "messages": "message M {" * 100_000,
    "messages of an option": "option (a) = " + "{a:" * 100_000,
    "lists of an option": "option (a) = " + "[" * 100_000,
    "path of an option": "option (a)" + ".b" * 100_000 + " = 1;",
    "maps": "message M { map<string," + "map<string," * 100_000,
    "comment": "/*" + "*" * 1_000_000,
    "length": " " * (SCHEMA_MAX_CHARACTERS + 1),
    "growth": "message M {" * LEVELS_MAX
    + f"option (a) = {'[' * LEVELS_MAX}{'1,' * 20_000}{']' * LEVELS_MAX};"
    + "}" * LEVELS_MAX,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_are_refused_briefly(text: str) -> None:
    with pytest.raises(InvalidSchema) as raised:
        ProtobufSchema.parse(text)
    assert len(str(raised.value)) < 1_000


def test_the_deepest_text_that_is_taken_can_be_used() -> None:
    names = [f"M{level}" for level in range(LEVELS_MAX)]
    text = 'syntax = "proto3";' + "".join(f"message {name} {{" for name in names) + "}" * LEVELS_MAX
    schema = ProtobufSchema.parse(text, new=True)
    assert schema.normalised().canonical.count("message") == LEVELS_MAX
    assert ProtobufSchema.parse(schema.formatted("serialized")).canonical == schema.canonical
