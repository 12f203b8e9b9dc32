"""Every rule by which two Protobuf schemas differ, where it is found, and what is said about it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from schema_registry.formats.difference import Difference, Roles
from schema_registry.formats.protobuf.differ import changes
from schema_registry.formats.protobuf.rules import Rule
from schema_registry.formats.protobuf.schema import ProtobufSchema

FORWARD = Roles(reader="old", writer="new")


@dataclass(frozen=True)
class Case:
    """Two files without their `syntax` line, and the differences from the writer's to the reader's as `RULE path`."""

    name: str
    writer: str
    reader: str
    changes: tuple[str, ...] = ()
    syntax: str = "proto3"

    def schemas(self) -> tuple[ProtobufSchema, ProtobufSchema]:
        head = f'syntax = "{self.syntax}";\n'
        return ProtobufSchema.parse(head + self.reader), ProtobufSchema.parse(head + self.writer)


def message(fields: str, *, more: str = "") -> str:
    return f"message Order {{ {fields} }} {more}"


MESSAGES = [
    Case(
        "nothing changed", "package a; message Order { string id = 1; }", "package a; message Order { string id = 1; }"
    ),
    Case("another package", "package a; message A {}", "package b; message A {}", ("PACKAGE_CHANGED #/",)),
    Case("a package that was not there", "message A {}", "package b; message A {}", ("PACKAGE_CHANGED #/",)),
    Case("a message more", "message A {}", "message A {} message B {}", ("MESSAGE_ADDED #/B",)),
    Case("a message less", "message A {} message B {}", "message A {}", ("MESSAGE_REMOVED #/B",)),
    Case("a message inside a message less", "message A { message B {} }", "message A {}", ("MESSAGE_REMOVED #/A/B",)),
    Case("a message inside a message more", "message A {}", "message A { message B {} }", ("MESSAGE_ADDED #/A/B",)),
    Case(
        "messages in another order",
        "message A {} message B {}",
        "message B {} message A {}",
        ("MESSAGE_MOVED #/A", "MESSAGE_MOVED #/B"),
    ),
    Case(
        "an enum before a message moves nothing", "message A {}", "enum E { X = 0; } message A {}", ("ENUM_ADDED #/E",)
    ),
    Case("an enum less", "enum E { X = 0; }", "message A {}", ("MESSAGE_ADDED #/A", "ENUM_REMOVED #/E")),
    Case("a constant more", "enum E { X = 0; }", "enum E { X = 0; Y = 1; }", ("ENUM_CONST_ADDED #/E/1",)),
    Case("a constant less", "enum E { X = 0; Y = 1; }", "enum E { X = 0; }", ("ENUM_CONST_REMOVED #/E/1",)),
    Case("a constant renamed", "enum E { X = 0; }", "enum E { Z = 0; }", ("ENUM_CONST_CHANGED #/E/0",)),
    Case(
        "an enum inside a message",
        "message A { enum E { X = 0; } }",
        "message A { enum E { Z = 0; } }",
        ("ENUM_CONST_CHANGED #/A/E/0",),
    ),
    Case(
        "options, services and reserved numbers", "message A {}", 'option java_package = "x"; message A { reserved 4; }'
    ),
]

FIELDS = [
    Case("a field more", message(""), message("string a = 1;"), ("FIELD_ADDED #/Order/1",)),
    Case("a field less", message("string a = 1;"), message(""), ("FIELD_REMOVED #/Order/1",)),
    Case("a field renamed", message("string a = 1;"), message("string b = 1;"), ("FIELD_NAME_CHANGED #/Order/1",)),
    Case("fields in another order", message("int32 a = 1; int32 b = 2;"), message("int32 b = 2; int32 a = 1;")),
    Case(
        "a field renumbered",
        message("string a = 1;"),
        message("string a = 2;"),
        ("FIELD_REMOVED #/Order/1", "FIELD_ADDED #/Order/2"),
    ),
    Case(
        "a required field more",
        message(""),
        message("required string a = 1;"),
        ("REQUIRED_FIELD_ADDED #/Order/1",),
        "proto2",
    ),
    Case(
        "a required field less",
        message("required string a = 1;"),
        message(""),
        ("REQUIRED_FIELD_REMOVED #/Order/1",),
        "proto2",
    ),
    Case(
        "a number that becomes many",
        message("optional int32 a = 1;"),
        message("repeated int32 a = 1;"),
        ("FIELD_NUMERIC_LABEL_CHANGED #/Order/1",),
    ),
    Case(
        "an enum that becomes many",
        message("optional E a = 1;", more="enum E { X = 0; }"),
        message("repeated E a = 1;", more="enum E { X = 0; }"),
        ("FIELD_NUMERIC_LABEL_CHANGED #/Order/1",),
    ),
    Case(
        "a string that becomes many",
        message("optional string a = 1;"),
        message("repeated bytes a = 1;"),
        ("FIELD_STRING_OR_BYTES_LABEL_CHANGED #/Order/1",),
    ),
    Case("a label that was not written before", message("int32 a = 1;"), message("repeated int32 a = 1;")),
    Case(
        "a message that becomes many",
        message("optional L a = 1;", more="message L {}"),
        message("repeated L a = 1;", more="message L {}"),
    ),
    Case(
        "a scalar that becomes a message",
        message("string a = 1;", more="message L {}"),
        message("L a = 1;", more="message L {}"),
        ("FIELD_KIND_CHANGED #/Order/1",),
    ),
    Case(
        "a scalar that becomes a map",
        message("string a = 1;"),
        message("map<string, string> a = 1;"),
        ("FIELD_KIND_CHANGED #/Order/1",),
    ),
    Case(
        "another message",
        message("L a = 1;", more="message L {} message M {}"),
        message("M a = 1;", more="message L {} message M {}"),
        ("FIELD_NAMED_TYPE_CHANGED #/Order/1",),
    ),
    Case(
        "the same message in other words",
        "package a.b; message Order { Line a = 1; message Line {} }",
        "package a.b; message Order { .a.b.Order.Line a = 1; message Line {} }",
    ),
    Case(
        "the innermost type of a name counts",
        message("Line a = 1;", more="message Line {}"),
        message("Line a = 1; message Line {}", more="message Line {}"),
        ("FIELD_NAMED_TYPE_CHANGED #/Order/1", "MESSAGE_ADDED #/Order/Line"),
    ),
    Case("types that nobody declared", message("x.Y a = 1;"), message("x.Y a = 1;")),
    Case(
        "other types that nobody declared",
        message("x.Y a = 1;"),
        message("x.Z a = 1;"),
        ("FIELD_NAMED_TYPE_CHANGED #/Order/1",),
    ),
    Case(
        "the fields of a group are not compared",
        message("optional group G = 1 { optional string a = 1; }"),
        message("optional group G = 1 { optional double a = 1; }"),
        syntax="proto2",
    ),
]

ENTRY = "message AEntry { option map_entry = true; string key = 1; int32 value = 2; }"

MAPS = [
    Case(
        "the values of a map",
        message("map<string, int32> a = 1;"),
        message("map<string, string> a = 1;"),
        ("FIELD_SCALAR_KIND_CHANGED #/Order/1",),
    ),
    Case(
        "the keys of a map",
        message("map<string, int32> a = 1;"),
        message("map<int32, int64> a = 1;"),
        ("FIELD_SCALAR_KIND_CHANGED #/Order/1",),
    ),
    Case(
        "a message as value that becomes another",
        message("map<string, L> a = 1;", more="message L {} message M {}"),
        message("map<string, M> a = 1;", more="message L {} message M {}"),
        ("FIELD_NAMED_TYPE_CHANGED #/Order/1",),
    ),
    Case("a map spelled as entries", message("map<string, int32> a = 1;"), message(f"repeated AEntry a = 1; {ENTRY}")),
    Case("entries spelled as a map", message(f"repeated AEntry a = 1; {ENTRY}"), message("map<string, int32> a = 1;")),
    Case(
        "the values of entries",
        message("map<string, string> a = 1;"),
        message(f"repeated AEntry a = 1; {ENTRY}"),
        ("FIELD_SCALAR_KIND_CHANGED #/Order/1",),
    ),
]

ONEOFS = [
    Case(
        "one field moves into a new oneof",
        message("string a = 1; string b = 2;"),
        message("oneof pick { string a = 1; } string b = 2;"),
        ("ONEOF_ADDED #/Order/pick",),
    ),
    Case(
        "two fields move into a new oneof",
        message("string a = 1; string b = 2;"),
        message("oneof pick { string a = 1; string b = 2; }"),
        ("MULTIPLE_FIELDS_MOVED_TO_ONEOF #/Order/pick", "ONEOF_ADDED #/Order/pick"),
    ),
    Case(
        "a field moves into a oneof that was there",
        message("oneof pick { string a = 1; } string b = 2;"),
        message("oneof pick { string a = 1; string b = 2; }"),
        ("FIELD_MOVED_TO_EXISTING_ONEOF #/Order/pick",),
    ),
    Case(
        "two oneofs become one",
        message("oneof pick { string a = 1; } oneof take { string b = 2; }"),
        message("oneof pick { string a = 1; string b = 2; }"),
        ("FIELD_MOVED_TO_EXISTING_ONEOF #/Order/pick", "ONEOF_REMOVED #/Order/take"),
    ),
    Case(
        "one oneof becomes two",
        message("oneof pick { string a = 1; string b = 2; }"),
        message("oneof pick { string a = 1; } oneof take { string b = 2; }"),
        ("ONEOF_ADDED #/Order/take",),
    ),
    Case(
        "a oneof renamed",
        message("oneof pick { string a = 1; string b = 2; }"),
        message("oneof take { string a = 1; string b = 2; }"),
        ("ONEOF_REMOVED #/Order/pick", "ONEOF_ADDED #/Order/take"),
    ),
    Case(
        "a field and a new one in a new oneof",
        message("string a = 1;"),
        message("oneof pick { string a = 1; string b = 2; }"),
        ("ONEOF_ADDED #/Order/pick", "ONEOF_FIELD_ADDED #/Order/pick/2"),
    ),
    Case(
        "a member less",
        message("oneof pick { string a = 1; string b = 2; }"),
        message("oneof pick { string a = 1; }"),
        ("ONEOF_FIELD_REMOVED #/Order/pick/2",),
    ),
    Case(
        "a oneof given up, but for one member",
        message("oneof pick { string a = 1; string b = 2; }"),
        message("string a = 1;"),
        (
            "ONEOF_REMOVED #/Order/pick",
            "ONEOF_FIELD_MOVED_TO_TOP_LEVEL #/Order/1",
            "ONEOF_FIELD_REMOVED #/Order/pick/2",
        ),
    ),
    Case(
        "a oneof given up",
        message("oneof pick { string a = 1; string b = 2; }"),
        message(""),
        ("ONEOF_REMOVED #/Order/pick",),
    ),
    Case(
        "a member of another type and name",
        message("oneof pick { string a = 1; }"),
        message("oneof pick { int32 b = 1; }"),
        ("FIELD_NAME_CHANGED #/Order/pick/1", "FIELD_SCALAR_KIND_CHANGED #/Order/pick/1"),
    ),
    Case(
        "a member that leaves its oneof with another type",
        message("oneof pick { string a = 1; string b = 2; }"),
        message("oneof pick { string a = 1; } double b = 2;"),
        ("ONEOF_FIELD_MOVED_TO_TOP_LEVEL #/Order/2", "FIELD_SCALAR_KIND_CHANGED #/Order/2"),
    ),
]

CASES = MESSAGES + FIELDS + MAPS + ONEOFS

FAMILIES = [
    {"int32", "int64", "uint32", "uint64", "bool", "Colour"},
    {"sint32", "sint64"},
    {"fixed32", "sfixed32"},
    {"fixed64", "sfixed64"},
    {"string", "bytes"},
    {"float"},
    {"double"},
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_differences_are_found_where_they_are(case: Case) -> None:
    reader, writer = case.schemas()

    assert [f"{change.rule.name} {change.path}" for change in changes(reader, writer)] == list(case.changes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_verdict_follows_from_the_rules(case: Case) -> None:
    reader, writer = case.schemas()

    breaking = [change.split()[0] for change in case.changes if change.split()[0] in BREAKING]

    assert [difference.rule for difference in reader.differences(writer)] == breaking


def test_no_rule_is_left_out() -> None:
    found = {change.split()[0] for case in CASES for change in case.changes}

    assert found == {rule.name for rule in Rule}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: "-".join(sorted(family)))
def test_a_scalar_may_change_within_its_family_alone(family: set[str]) -> None:
    more = "enum Colour { RED = 0; }"
    for before in family:
        writer = ProtobufSchema.parse('syntax = "proto3";' + message(f"{before} a = 1;", more=more))
        allowed = set()
        for after in set().union(*FAMILIES):
            reader = ProtobufSchema.parse('syntax = "proto3";' + message(f"{after} a = 1;", more=more))
            rules = [change.rule for change in changes(reader, writer)]
            assert rules in ([], [Rule.FIELD_SCALAR_KIND_CHANGED])
            allowed |= {after} if not rules else set()
        assert allowed == family


BREAKING = {
    "PACKAGE_CHANGED": "The package at '#/' in the new schema does not match the package in the old schema",
    "MESSAGE_REMOVED": "The new schema is missing a MESSAGE type at path '#/B' in the old schema",
    "FIELD_KIND_CHANGED": "The type of a field at path '#/Order/1' in the new schema does not match the old schema",
    "FIELD_SCALAR_KIND_CHANGED": (
        "The kind of a SCALAR field at path '#/Order/1' in the new schema does not match its kind in the old schema"
    ),
    "FIELD_NAMED_TYPE_CHANGED": (
        "The type of a MESSAGE field at path '#/Order/1' in the new schema does not match its type in the old schema"
    ),
    "FIELD_NUMERIC_LABEL_CHANGED": (
        "The label for a NUMERIC field at path '#/Order/1' in the new schema does not match its label in the old schema"
    ),
    "REQUIRED_FIELD_ADDED": "A required field  at path '#/Order/1' in the new schema is missing in the old schema",
    "REQUIRED_FIELD_REMOVED": "The new schema is missing a required field at path: '#/Order/1' in the old schema",
    "ONEOF_FIELD_REMOVED": "The new schema is missing a oneof field at path '#/Order/pick/2' in the old schema",
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF": (
        "Multiple fields in the oneof at path '#/Order/pick' in the new schema are outside a oneof in the old schema"
    ),
    "FIELD_MOVED_TO_EXISTING_ONEOF": (
        "A field in the oneof at path '#/Order/pick' in the new schema is outside an existing oneof in the old schema"
    ),
}


def first_of(rule: str, roles: Roles | None = None) -> Difference:
    case = next(case for case in CASES if any(change.split()[0] == rule for change in case.changes))
    reader, writer = case.schemas()
    return next(one for one in reader.differences(writer, roles=roles) if one.rule == rule)


@pytest.mark.parametrize(("rule", "sentence"), BREAKING.items())
def test_the_message_is_confluents(rule: str, sentence: str) -> None:
    assert first_of(rule).message == f'{{errorType:"{rule}", description:"{sentence}"}}'


@pytest.mark.parametrize(("rule", "sentence"), BREAKING.items())
def test_the_message_names_the_schemas_by_their_roles(rule: str, sentence: str) -> None:
    swapped = (
        sentence.replace("new schema", "? schema").replace("old schema", "new schema").replace("? schema", "old schema")
    )

    assert first_of(rule, FORWARD).message == f'{{errorType:"{rule}", description:"{swapped}"}}'


@pytest.mark.parametrize(
    ("rule", "writer", "reader"),
    [
        ("PACKAGE_CHANGED", "package a", "package b"),
        ("MESSAGE_REMOVED", "message B", None),
        ("FIELD_KIND_CHANGED", "string a = 1", "L a = 1"),
        ("FIELD_SCALAR_KIND_CHANGED", "map<string, int32> a = 1", "map<string, string> a = 1"),
        ("FIELD_NAMED_TYPE_CHANGED", "L a = 1", "M a = 1"),
        ("FIELD_NUMERIC_LABEL_CHANGED", "optional int32 a = 1", "repeated int32 a = 1"),
        ("REQUIRED_FIELD_ADDED", None, "required string a = 1"),
        ("REQUIRED_FIELD_REMOVED", "required string a = 1", None),
        ("ONEOF_FIELD_REMOVED", "oneof pick { string b = 2 }", None),
        ("MULTIPLE_FIELDS_MOVED_TO_ONEOF", "string a = 1; string b = 2", "oneof pick { string a = 1; string b = 2 }"),
        (
            "FIELD_MOVED_TO_EXISTING_ONEOF",
            "oneof pick { string a = 1 }; string b = 2",
            "oneof pick { string a = 1; string b = 2 }",
        ),
    ],
)
def test_people_see_what_stands_on_both_sides(rule: str, writer: str | None, reader: str | None) -> None:
    difference = first_of(rule)

    assert (difference.writer, difference.reader) == (writer, reader)


@pytest.mark.parametrize(
    ("rule", "roles", "fix"),
    [
        ("REQUIRED_FIELD_ADDED", Roles(), "Declare `required string a = 1` as optional."),
        (
            "REQUIRED_FIELD_ADDED",
            FORWARD,
            "Keep `required string a = 1`: readers of the old schema refuse messages without it.",
        ),
        ("REQUIRED_FIELD_REMOVED", Roles(), "Keep `required string a = 1` for as long as the old schema is in use."),
        ("REQUIRED_FIELD_REMOVED", FORWARD, "Declare `required string a = 1` as optional."),
        (
            "FIELD_KIND_CHANGED",
            Roles(),
            "Leave `string a = 1` as it was, and add the other form as one more field with a number never used.",
        ),
        (
            "FIELD_KIND_CHANGED",
            FORWARD,
            "Leave `L a = 1` as it was, and add the other form as one more field with a number never used.",
        ),
    ],
)
def test_the_fix_is_for_the_new_schema(rule: str, roles: Roles, fix: str) -> None:
    assert first_of(rule, roles).fix == fix


@pytest.mark.parametrize("roles", [Roles(), FORWARD], ids=["backward", "forward"])
@pytest.mark.parametrize("rule", BREAKING)
def test_every_breach_says_why_and_what_to_do(rule: str, roles: Roles) -> None:
    difference = first_of(rule, roles)

    assert difference.why.endswith(".")
    assert difference.fix.endswith(".")
    assert "None" not in difference.why + difference.fix
