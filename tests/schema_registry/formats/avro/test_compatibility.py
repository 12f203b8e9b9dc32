"""Every rule of Avro's compatibility, with its place and its words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schema_registry.formats.avro.schema import AvroSchema
from schema_registry.formats.difference import Roles


def schema(value: Any) -> AvroSchema:
    return AvroSchema.parse(json.dumps(value))


def record(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields), **more}


def field(name: str, a_type: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": a_type, **more}


def enum(*symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "E", "symbols": symbols, **more}


def fixed(size: int, name: str = "F") -> dict[str, Any]:
    return {"type": "fixed", "name": name, "size": size}


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


LINKED = record(field("v", "int"), field("next", ["null", "R"]))


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        ("int", {"type": "int", "logicalType": "date"}),
        ("long", "int"),
        ("float", "int"),
        ("float", "long"),
        ("double", "int"),
        ("double", "long"),
        ("double", "float"),
        ("string", "bytes"),
        ("bytes", "string"),
        (array("long"), array("int")),
        (fixed(2, "n.F"), fixed(2, "m.F")),
        ({**fixed(2, "n.G"), "aliases": ["m.F"]}, fixed(2, "m.F")),
        (enum("A", "B"), enum("B")),
        (enum("A", default="A"), enum("B")),
        (record(field("f", "int", default=1)), record()),
        (record(field("f", ["null", "int"], default=None)), record(field("g", "int"))),
        (record(field("f", "int", aliases=["g"])), record(field("g", "int"))),
        (["int", "string"], ["string"]),
        (["string", "double"], "int"),
        ("long", ["int", "long"]),
        ("int", []),
        (LINKED, LINKED),
    ],
)
def test_a_reader_that_can(reader: Any, writer: Any) -> None:
    assert schema(reader).differences(schema(writer)) == []


@pytest.mark.parametrize(
    ("reader", "writer", "expected"),
    [
        ("int", "long", [("TYPE_MISMATCH", "/", "reader type: INT not compatible with writer type: LONG")]),
        (
            array("int"),
            array("string"),
            [("TYPE_MISMATCH", "/items", "reader type: INT not compatible with writer type: STRING")],
        ),
        (
            {"type": "map", "values": "int"},
            {"type": "map", "values": "null"},
            [("TYPE_MISMATCH", "/values", "reader type: INT not compatible with writer type: NULL")],
        ),
        (
            fixed(2, "n.G"),
            fixed(3, "n.F"),
            [("NAME_MISMATCH", "/name", "expected: n.F"), ("FIXED_SIZE_MISMATCH", "/size", "expected: 3, found: 2")],
        ),
        (enum("A"), enum("A", "C", "B"), [("MISSING_ENUM_SYMBOLS", "/symbols", "[B, C]")]),
        (
            record(field("a", "int"), field("f", ["null", "int"])),
            record(field("a", "int")),
            [("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/1", "f")],
        ),
        (
            record(field("e", enum("A", default="A"))),
            record(),
            [("TYPE_MISMATCH", "/fields/0/type", "reader type: ENUM not compatible with writer type: RECORD")],
        ),
        (
            ["int", "null"],
            ["string", "null", "bytes"],
            [
                ("MISSING_UNION_BRANCH", "/0", "reader union lacking writer type: STRING"),
                ("MISSING_UNION_BRANCH", "/2", "reader union lacking writer type: BYTES"),
            ],
        ),
        (["int"], "string", [("MISSING_UNION_BRANCH", "/", "reader union lacking writer type: STRING")]),
        ("int", ["int", "long"], [("TYPE_MISMATCH", "/1", "reader type: INT not compatible with writer type: LONG")]),
        (
            record(field("a", fixed(1)), field("b", "F")),
            record(field("a", fixed(2)), field("b", "F")),
            [("FIXED_SIZE_MISMATCH", "/fields/0/type/size", "expected: 2, found: 1")] * 2,
        ),
    ],
)
def test_a_reader_that_cannot(reader: Any, writer: Any, expected: list[tuple[str, str, str]]) -> None:
    found = schema(reader).differences(schema(writer))
    details = [one.message.rpartition("additionalInfo:'")[2].removesuffix("'}") for one in found]
    assert [(one.rule, one.path, words) for one, words in zip(found, details, strict=True)] == expected


@pytest.mark.parametrize(
    ("reader", "writer", "message"),
    [
        (
            "int",
            "long",
            (
                "{errorType:'TYPE_MISMATCH', description:'The type (path '/') of a field in the old schema does not match with the "
                "new schema', additionalInfo:'reader type: INT not compatible with writer type: LONG'}"
            ),
        ),
        (
            fixed(1),
            fixed(2),
            (
                "{errorType:'FIXED_SIZE_MISMATCH', description:'The size of FIXED type field at path '/size' in the old schema does not "
                "match with the new schema', additionalInfo:'expected: 2, found: 1'}"
            ),
        ),
        (
            fixed(1, "A"),
            fixed(1, "B"),
            "{errorType:'NAME_MISMATCH', description:'The name of the schema has changed (path '/name')', additionalInfo:'expected: B'}",
        ),
        (
            enum("A"),
            enum("B"),
            (
                "{errorType:'MISSING_ENUM_SYMBOLS', description:'The old schema is missing enum symbols '[B]' at path '/symbols' in the "
                "new schema', additionalInfo:'[B]'}"
            ),
        ),
        (
            ["int"],
            "string",
            (
                "{errorType:'MISSING_UNION_BRANCH', description:'The old schema is missing a type inside a union field at path '/' in "
                "the new schema', additionalInfo:'reader union lacking writer type: STRING'}"
            ),
        ),
        (
            record(field("f", "int")),
            record(),
            (
                "{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'f' at path '/fields/0' in the old schema has no "
                "default value and is missing in the new schema', additionalInfo:'f'}"
            ),
        ),
        (
            record(field("f", "int", aliases=["g"])),
            record(field("f", "int"), field("g", "int")),
            (
                "Unexpected exception during compatibility check: Reader record field f type:INT pos:0 matches multiple fields in writer "
                'record schema {"type":"record","name":"R","fields":[{"name":"f","type":"int"},{"name":"g","type":"int"}]}'
            ),
        ),
    ],
)
def test_messages_are_those_of_confluent_with_the_roles_in_them(reader: Any, writer: Any, message: str) -> None:
    found = schema(reader).differences(schema(writer), roles=Roles(reader="old", writer="new"))
    assert [one.message for one in found] == [message]


def test_a_pair_that_was_seen_before_keeps_its_first_path() -> None:
    reader = record(field("union", [enum("A")]), field("enum", "E"))
    writer = record(field("union", [enum("B")]), field("enum", "E"))
    found = schema(reader).differences(schema(writer))
    # Types of unions are tried by themselves, so that the path of a pair that was met there first begins at its own root.
    assert [(one.rule, one.path) for one in found] == [
        ("MISSING_UNION_BRANCH", "/fields/0/type/0"),
        ("MISSING_ENUM_SYMBOLS", "/symbols"),
    ]
