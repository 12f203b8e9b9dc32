"""People are told what stands on both sides, why it breaks readers and what would help."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schema_registry.formats.avro.explanation import OUTLINE_MAX_BRANCHES
from schema_registry.formats.avro.schema import AvroSchema
from schema_registry.formats.difference import Difference


def difference(reader: Any, writer: Any) -> Difference:
    found = AvroSchema.parse(json.dumps(reader)).differences(AvroSchema.parse(json.dumps(writer)))
    assert len(found) == 1
    return found[0]


def record(*fields: dict[str, Any], name: str = "n.R") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def field(name: str, a_type: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": a_type, **more}


ENUM = {"type": "enum", "name": "E", "symbols": ["A"]}
FIXED = {"type": "fixed", "name": "F", "size": 2}


@pytest.mark.parametrize(
    ("reader", "writer", "shown", "fix"),
    [
        (
            record(),
            record(name="m.S"),
            ('{"type":"record","name":"n.R"}', '{"type":"record","name":"m.S"}'),
            'keep the name "m.S", or add "aliases": ["m.S"] to "n.R" in the new schema',
        ),
        (
            FIXED,
            {**FIXED, "size": 4},
            ('{"type":"fixed","name":"F","size":2}', '{"type":"fixed","name":"F","size":4}'),
            'set "size" of "F" to 4, or add a field with a default for the new size',
        ),
        (
            ENUM,
            {**ENUM, "symbols": ["A", "B"]},
            ('{"type":"enum","name":"E","symbols":["A"]}', '{"type":"enum","name":"E","symbols":["A","B"]}'),
            'add B to the symbols of "E", or give the enum a "default", which stands for all unknown symbols',
        ),
        (
            record(field("f", "int")),
            record(),
            ('{"name":"f","type":"int"}', None),
            'add a default to field "f", such as 0, or null with a union type: ["null", "int"]',
        ),
        (
            record(field("f", FIXED)),
            record(),
            ('{"name":"f","type":"n.F"}', None),
            'add a default to field "f", such as null with a union type: ["null", "n.F"]',
        ),
        (
            record(field("f", ["null", "int"])),
            record(),
            ('{"name":"f","type":["null","int"]}', None),
            'add "default": null to field "f"; that it may be null does not make null its default',
        ),
        (
            record(field("new", "string")),
            record(field("old", "string")),
            ('{"name":"new","type":"string"}', None),
            (
                'add a default to field "new", such as "", or null with a union type: ["null", "string"]; '
                'if it is "old" under a new name, add "aliases": ["old"] instead'
            ),
        ),
        (
            record(field("e", {**ENUM, "default": "A"})),
            record(),
            ('{"type":"enum","name":"n.E","symbols":["A"]}', '{"type":"record","name":"n.R"}'),
            'add "default": "A" to the field itself',
        ),
        ("int", "double", ('"int"', '"double"'), 'keep "double", or take a wider type'),
        (
            {"type": "array", "items": "int"},
            "string",
            ('{"type":"array","items":"int"}', '"string"'),
            'keep "string", or make it a union of both types, or add a new field with a default and leave this one as it was',
        ),
        (["int"], ["int", FIXED], ('["int"]', '["int","F"]'), 'add "F" to the union in the new schema'),
        (
            ["null", FIXED],
            {**FIXED, "size": 3},
            ('["null","F"]', '{"type":"fixed","name":"F","size":3}'),
            'the union has "F", but its content differs: change it so that it reads that of the old schema',
        ),
        (
            record(field("f", "int", aliases=["g"])),
            record(field("f", "int"), field("g", "int")),
            ('{"name":"f","type":"int","aliases":["g"]}', '[{"name":"f","type":"int"},{"name":"g","type":"int"}]'),
            'leave one of them: remove the other aliases of field "f" from the new schema',
        ),
    ],
)
def test_each_rule_has_sides_a_reason_and_advice(
    reader: Any, writer: Any, shown: tuple[str, str | None], fix: str
) -> None:
    found = difference(reader, writer)
    assert (found.reader, found.writer) == shown
    assert found.fix == fix
    assert found.why


def test_an_outline_is_short_however_large_the_type_is() -> None:
    many = [{**FIXED, "name": f"F{number}"} for number in range(1000)]
    found = difference(many, "int")
    assert json.loads(found.reader or "") == [f"F{number}" for number in range(OUTLINE_MAX_BRANCHES)]
    deep: Any = "int"
    for _ in range(50):
        deep = {"type": "array", "items": deep}
    assert (
        difference(deep, "int").reader
        == '{"type":"array","items":{"type":"array","items":{"type":"array","items":"array"}}}'
    )
