"""People are told what stands on both sides, why it breaks readers and what would help."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schema_registry.formats.avro.compatibility import PAIRS_MAX, Rule
from schema_registry.formats.avro.outline import OUTLINE_MAX_BRANCHES
from schema_registry.formats.avro.schema import AvroSchema
from schema_registry.formats.difference import Difference, Roles

NEW_READS_OLD = Roles("new", "old")
OLD_READS_NEW = Roles("old", "new")
READERS_FIRST = "or set the compatibility level to BACKWARD and bring the new schema to the readers first"


def difference(reader: Any, writer: Any, roles: Roles = NEW_READS_OLD) -> Difference:
    found = AvroSchema.parse(json.dumps(reader)).differences(AvroSchema.parse(json.dumps(writer)), roles=roles)
    assert len(found) == 1
    return found[0]


def record(*fields: dict[str, Any], name: str = "n.R") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def field(name: str, a_type: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": a_type, **more}


ENUM: dict[str, Any] = {"type": "enum", "name": "E", "symbols": ["A"]}
FIXED: dict[str, Any] = {"type": "fixed", "name": "F", "size": 2}


CASES: list[tuple[Rule, Any, Any, tuple[str, str | None], str, str]] = [
    (
        Rule.NAME_MISMATCH,
        record(),
        record(name="m.S"),
        ('{"type":"record","name":"n.R"}', '{"type":"record","name":"m.S"}'),
        'keep the name "m.S", or add "aliases": ["m.S"] to "n.R" in the new schema',
        'keep the name "n.R" in the new schema; an alias of "m.S" does not help readers with the old one',
    ),
    (
        Rule.FIXED_SIZE_MISMATCH,
        FIXED,
        {**FIXED, "size": 4},
        ('{"type":"fixed","name":"F","size":2}', '{"type":"fixed","name":"F","size":4}'),
        'set "size" of "F" to 4 in the new schema, or add a field with a default for the new size',
        'set "size" of "F" to 2 in the new schema, and add a field of another type for the new size',
    ),
    (
        Rule.MISSING_ENUM_SYMBOLS,
        ENUM,
        {**ENUM, "symbols": ["A", "B"]},
        ('{"type":"enum","name":"E","symbols":["A"]}', '{"type":"enum","name":"E","symbols":["A","B"]}'),
        'add B to the symbols of "E" in the new schema, or give the enum a "default" there, which stands for all unknown symbols',
        (
            'do not add B to "E" yet: first register a version in which the enum has a "default", which stands for all unknown '
            f"symbols, and add more in the next (a transitive level forbids that as well), {READERS_FIRST}"
        ),
    ),
    (
        Rule.READER_FIELD_MISSING_DEFAULT_VALUE,
        record(field("f", "int")),
        record(),
        ('{"name":"f","type":"int"}', None),
        'add a default to field "f" in the new schema, such as 0, or null with a union type: ["null", "int"]',
        (
            'leave field "f" of type "int" in the new schema; to drop it, first register a version in which it has a default, and '
            f"leave it out of the next (a transitive level forbids that as well), {READERS_FIRST}"
        ),
    ),
    (
        Rule.READER_FIELD_MISSING_DEFAULT_VALUE,
        record(field("f", FIXED)),
        record(),
        ('{"name":"f","type":"n.F"}', None),
        'add a default to field "f" in the new schema, such as null with a union type: ["null", "n.F"]',
        'leave field "f" of type "n.F" in the new schema; to drop it, …',
    ),
    (
        Rule.READER_FIELD_MISSING_DEFAULT_VALUE,
        record(field("f", ["null", "int"])),
        record(),
        ('{"name":"f","type":["null","int"]}', None),
        'add "default": null to field "f" in the new schema; that it may be null does not make null its default',
        'leave field "f" of type ["null","int"] in the new schema; to drop it, …',
    ),
    (
        Rule.READER_FIELD_MISSING_DEFAULT_VALUE,
        record(field("this", "string")),
        record(field("that", "string")),
        ('{"name":"this","type":"string"}', None),
        (
            'add a default to field "this" in the new schema, such as "", or null with a union type: ["null", "string"]; '
            'if it is "that" under a new name, add "aliases": ["that"] instead'
        ),
        (
            'leave field "this" of type "string" in the new schema, or give "that" this name again if it is the same field; '
            "to drop it, …"
        ),
    ),
    (
        Rule.TYPE_MISMATCH,
        record(field("e", {**ENUM, "default": "A"})),
        record(),
        ('{"type":"enum","name":"n.E","symbols":["A"]}', '{"type":"record","name":"n.R"}'),
        'add "default": "A" to the field itself in the new schema',
        'leave the field of enum "n.E" in the new schema',
    ),
    (
        Rule.TYPE_MISMATCH,
        "int",
        "float",
        ('"int"', '"float"'),
        'keep "float" in the new schema, or take a wider type: "double"',
        'keep "int" in the new schema',
    ),
    (
        Rule.TYPE_MISMATCH,
        "float",
        "double",
        ('"float"', '"double"'),
        'keep "double" in the new schema',
        'keep "float" in the new schema, or take a narrower type: "int", "long"',
    ),
    (
        Rule.TYPE_MISMATCH,
        {"type": "array", "items": "int"},
        "string",
        ('{"type":"array","items":"int"}', '"string"'),
        (
            'keep "string" in the new schema, or make it a union of both types, or add a new field with a default and leave this one '
            "as it was"
        ),
        'keep {"type":"array","items":"int"} in the new schema, and add a new field for "string"',
    ),
    (
        Rule.TYPE_MISMATCH,
        "string",
        ["null", "string"],
        ('"string"', '"null"'),
        'make it a union in the new schema that has "null", too',
        f'take "null" out of the union in the new schema, {READERS_FIRST}',
    ),
    (
        Rule.TYPE_MISMATCH,
        {"type": "long", "logicalType": "timestamp-millis"},
        {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
        (
            '{"type":"long","logicalType":"timestamp-millis"}',
            '{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}',
        ),
        'keep {"type":"bytes","logicalType":"decimal","precision":4,"scale":2} in the new schema, or …',
        'keep {"type":"long","logicalType":"timestamp-millis"} in the new schema, and …',
    ),
    (
        Rule.MISSING_UNION_BRANCH,
        ["int"],
        ["int", FIXED],
        ('["int"]', '["int","F"]'),
        'add "F" to the union in the new schema',
        f'leave "F" out of the union in the new schema, {READERS_FIRST}',
    ),
    (
        Rule.MISSING_UNION_BRANCH,
        ["null", "int"],
        "string",
        ('["null","int"]', '"string"'),
        'add "string" to the union in the new schema',
        'keep to types of the old union in the new schema: ["null","int"]',
    ),
    (
        Rule.MISSING_UNION_BRANCH,
        ["null", FIXED],
        {**FIXED, "size": 3},
        ('["null","F"]', '{"type":"fixed","name":"F","size":3}'),
        'the union has "F", but its content differs: change it in the new schema so that it reads that of the old one',
        'the old union has "F", but its content differs: change "F" in the new schema so that the old one reads it',
    ),
    (
        Rule.AMBIGUOUS_FIELD,
        record(field("f", "int", aliases=["g"])),
        record(field("f", "int"), field("g", "int")),
        ('{"name":"f","type":"int","aliases":["g"]}', '[{"name":"f","type":"int"},{"name":"g","type":"int"}]'),
        'leave one of them: remove the other aliases of field "f" from the new schema',
        'let one field alone have one of these names in the new schema: "f", "g"',
    ),
]


@pytest.mark.parametrize(("rule", "reader", "writer", "shown", "fix_reader", "fix_writer"), CASES)
def test_each_rule_has_sides_a_reason_and_advice_for_the_new_schema(
    rule: Rule, reader: Any, writer: Any, shown: tuple[str, str | None], fix_reader: str, fix_writer: str
) -> None:
    reasons = set()
    for roles, fix in ((NEW_READS_OLD, fix_reader), (OLD_READS_NEW, fix_writer)):
        found = difference(reader, writer, roles)
        assert (found.rule, found.reader, found.writer) == (rule.value, *shown)
        # An ellipsis stands for words that another case has in full.
        assert found.fix.startswith(fix.removesuffix("…")) if fix.endswith("…") else found.fix == fix
        reasons.add(found.why)
    assert len(reasons) == 2


def test_every_rule_has_a_case() -> None:
    assert {case[0] for case in CASES} == set(Rule) - {Rule.TOO_MANY_COMPARISONS}
    side = [{**FIXED, "name": f"F{number}"} for number in range(int(PAIRS_MAX**0.5) + 1)]
    other = [{**FIXED, "name": f"G{number}"} for number in range(int(PAIRS_MAX**0.5) + 1)]
    assert "of the new schema smaller" in difference(side, other, OLD_READS_NEW).fix


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
