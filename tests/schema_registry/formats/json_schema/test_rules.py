"""Every difference has its name, its path and its verdict, and those that break readers are explained."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from schema_registry.formats.difference import Policy, Roles
from schema_registry.formats.json_schema.differ import Differ
from schema_registry.formats.json_schema.reasons import REASONS
from schema_registry.formats.json_schema.rules import Rule, is_compatible
from schema_registry.formats.json_schema.schema import JsonSchema
from tests.schema_registry.formats.json_schema.rule_cases import CASES, INTEGER, NUMBER, STRING, Case, closed, record

LENIENT_ALONE = {
    "ADDITIONAL_PROPERTIES_NARROWED",
    "ADDITIONAL_PROPERTIES_REMOVED",
    "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL",
    "UNEVALUATED_PROPERTIES_NARROWED",
    "UNEVALUATED_PROPERTIES_REMOVED",
}


def schema(value: Any) -> JsonSchema:
    return JsonSchema.parse(json.dumps(value), new=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_change_is_found(case: Case) -> None:
    found = Differ(Policy.STRICT).compare(schema(case.old).understood(), schema(case.new).understood())
    assert tuple(f"{finding.rule} #/{'/'.join(finding.path)}" for finding in found) == case.found


def test_every_rule_has_a_case() -> None:
    covered = {line.partition(" ")[0] for case in CASES for line in case.found}
    assert covered == set(Rule)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_differences_are_those_that_break_readers(case: Case) -> None:
    for policy in Policy:
        found = schema(case.new).differences(schema(case.old), policy)
        breaking = [line for line in case.found if not is_compatible(Rule(line.partition(" ")[0]), policy)]
        assert [f"{difference.rule} {difference.path}" for difference in found] == breaking
        assert all(difference.why and difference.fix for difference in found)
        assert not any("{" in f"{d.why}{d.fix}".replace('{"', "").replace("{}", "") for d in found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_advice_is_for_the_new_schema_whether_it_reads_or_writes(case: Case) -> None:
    reader, writer = schema(case.new), schema(case.old)
    for reads, writes in zip(
        reader.differences(writer), reader.differences(writer, roles=Roles("old", "new")), strict=True
    ):
        assert reads.fix != writes.fix
        for fix in (reads.fix, writes.fix):
            assert not re.search("old schema|reading|writing", fix), fix


@pytest.mark.parametrize(
    ("rule", "reader", "writer", "advice"),
    [
        (
            "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
            {**record(id=INTEGER), "required": ["id"]},
            record(),
            "Keep 'id' in the new schema, and required, or set the level to BACKWARD",
        ),
        (
            "REQUIRED_ATTRIBUTE_ADDED",
            {**record(id=INTEGER), "required": ["id"]},
            record(id=INTEGER),
            "Keep 'id' in required in the new schema",
        ),
        ("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", closed(), closed(a=STRING), "Leave 'a' out of the new schema"),
        ("TYPE_NARROWED", INTEGER, NUMBER, 'keep "type": "integer" in the new schema'),
        ("ENUM_ARRAY_NARROWED", {"enum": [1]}, {"enum": [1, 2]}, "keep [1] in the new schema instead of [1,2]: do not"),
        ("MAX_LENGTH_ADDED", {**STRING, "maxLength": 4}, STRING, "Keep the maxLength of 4 in the new schema"),
    ],
)
def test_advice_where_the_new_schema_writes(rule: str, reader: Any, writer: Any, advice: str) -> None:
    (difference,) = schema(reader).differences(schema(writer), roles=Roles("old", "new"))
    assert (difference.rule, advice in difference.fix) == (rule, True), difference.fix


def test_what_a_closed_schema_no_longer_names_may_go() -> None:
    registered, following = schema(record(a=STRING, b=STRING)), closed(b=STRING)
    (difference,) = registered.differences(schema(record(b=STRING)), roles=Roles("old", "new"))
    assert "close that with additionalProperties false" in difference.fix
    assert registered.differences(schema(following), roles=Roles("old", "new")) == []


def test_lenient_forgives_nine_rules_more() -> None:
    strict = {rule for rule in Rule if is_compatible(rule, Policy.STRICT)}
    lenient = {rule for rule in Rule if is_compatible(rule, Policy.LENIENT)}
    assert lenient - strict == LENIENT_ALONE
    assert strict <= lenient
    assert set(REASONS) == set(Rule) - strict


SENTENCES = [
    (
        {"type": "string"},
        {"type": "string", "maxLength": 3},
        (
            '{errorType:"MAX_LENGTH_ADDED", description:"The keyword at path \'#/maxLength\' in the new schema is not present in '
            "the old schema'}"
        ),
    ),
    (
        {"minimum": 1},
        {"minimum": 2},
        (
            '{errorType:"MINIMUM_INCREASED", description:"The value at path \'#/minimum\' in the new schema is more than its value '
            "in the old schema'}"
        ),
    ),
    (
        {"maximum": 2},
        {"maximum": 1},
        (
            '{errorType:"MAXIMUM_DECREASED", description:"The value at path \'#/maximum\' in the new schema is less than its value '
            "in the old schema'}"
        ),
    ),
    (
        {"pattern": "a"},
        {"pattern": "b"},
        (
            '{errorType:"PATTERN_CHANGED", description:"The value at path \'#/pattern\' is different between the new and old '
            "schema'}"
        ),
    ),
    (
        {"enum": [1, 2]},
        {"enum": [1]},
        (
            '{errorType:"ENUM_ARRAY_NARROWED", description:"An array or combined type at path \'#/enum\' has fewer elements in the '
            "new schema than the old schema'}"
        ),
    ),
    (
        {"type": "string"},
        {"type": "number"},
        (
            '{errorType:"TYPE_CHANGED", description:"A type at path \'#/\' is different between the new schema and the old '
            "schema'}"
        ),
    ),
    (
        {"type": "object"},
        {"properties": {"é%s": {"type": "null"}}, "type": "object"},
        (
            '{errorType:"OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", description:"The new schema has an open content model and '
            "has a property or item at path '#/properties/é%s' which is missing in the old schema'}"
        ),
    ),
    ({"type": "array"}, {"type": "array", "items": {"type": "null"}}, '{errorType:"SCHEMA_ADDED", description:"\'}'),
]


@pytest.mark.parametrize(("old", "new", "message"), SENTENCES)
def test_the_message_is_the_one_that_clients_know(old: Any, new: Any, message: str) -> None:
    assert [difference.message for difference in schema(new).differences(schema(old))] == [message]


def test_the_old_schema_may_be_the_reader() -> None:
    longer, shorter = schema({"maxLength": 9}), schema({"maxLength": 2})
    (difference,) = shorter.differences(longer, roles=Roles(reader="old", writer="new"))
    assert "in the old schema is less than its value in the new schema" in difference.message
    assert (difference.reader, difference.writer) == ("2", "9")
    assert "keep 2 in the new schema instead of 9" in difference.fix


def test_the_ways_out_of_an_open_content_model_are_named() -> None:
    (difference,) = schema({"properties": {"a": {"type": "string"}}}).differences(schema({"properties": {}}))
    assert (difference.reader, difference.writer) == ('{"type":"string"}', None)
    for way_out in ("additionalProperties false", '{"compatibilityPolicy": "LENIENT"}', "empty schema {}", "'a'"):
        assert way_out in difference.fix


def test_a_long_schema_is_shown_in_part() -> None:
    long = {"type": "object", "properties": {f"p{index}": {"type": "string"} for index in range(100)}}
    (difference,) = schema({"type": "string"}).differences(schema(long))
    assert difference.writer is not None
    assert len(difference.writer) < 400
    assert difference.writer.endswith("…")
