"""Schemas written to hurt end in bounded time, with a word on why."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schema_registry.formats.json_schema import differ
from schema_registry.formats.json_schema.reader import SUBSCHEMA_MAX_LEVELS
from schema_registry.formats.json_schema.schema import JsonSchema
from schema_registry.formats.parsed_schema import NESTING_MAX_LEVELS, InvalidSchema

MODERN = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
DRAFTS: list[dict[str, Any]] = [{}, MODERN]
GIVEN_UP = "COMPARISON_LIMIT_EXCEEDED"


def schema(value: Any) -> JsonSchema:
    return JsonSchema.parse(json.dumps(value), new=True)


def nested(levels: int, keyword: str) -> dict[str, Any]:
    value: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        value = {keyword: value}
    return value


def chained(links: int, width: int, leaf: str) -> dict[str, Any]:
    """Definitions that refer each to the next, `width` times."""
    definitions: dict[str, Any] = {
        f"D{link}": {"properties": {f"p{index}": {"$ref": f"#/$defs/D{link + 1}"} for index in range(width)}}
        for link in range(links)
    }
    return {"$ref": "#/$defs/D0", "$defs": {**definitions, f"D{links}": {"type": leaf}}}


@pytest.mark.parametrize("draft", DRAFTS, ids=["default", "2020-12"])
@pytest.mark.parametrize("keyword", ["not", "items", "additionalProperties", "if"])
def test_deep_nesting_is_read_to_a_limit(draft: dict[str, Any], keyword: str) -> None:
    deep = schema({**draft, **nested(SUBSCHEMA_MAX_LEVELS - 1, keyword)})
    assert deep.differences(deep.normalised()) == []
    with pytest.raises(InvalidSchema, match="levels deep within each other"):
        schema({**draft, **nested(SUBSCHEMA_MAX_LEVELS, keyword)})
    with pytest.raises(InvalidSchema, match=f"more than {NESTING_MAX_LEVELS} levels deep"):
        JsonSchema.parse('{"not":' * 10_000 + "{}" + "}" * 10_000)


@pytest.mark.parametrize("draft", DRAFTS, ids=["default", "2020-12"])
def test_long_chains_of_references_are_followed(draft: dict[str, Any]) -> None:
    """Far deeper than calls could nest."""
    old = schema({**draft, **chained(700, 1, "string")})
    assert schema({**draft, **chained(700, 1, "string")}).differences(old) == []
    (difference,) = schema({**draft, **chained(300, 1, "null")}).differences(
        schema({**draft, **chained(300, 1, "string")})
    )
    assert difference.rule == "TYPE_CHANGED"
    assert difference.path.count("/") == 600


@pytest.mark.parametrize("draft", DRAFTS, ids=["default", "2020-12"])
def test_findings_that_double_at_each_level_are_given_up(draft: dict[str, Any]) -> None:
    (difference,) = schema({**draft, **chained(60, 2, "null")}).differences(
        schema({**draft, **chained(60, 2, "string")})
    )
    assert difference.rule == GIVEN_UP
    assert difference.message == (
        '{errorType:"COMPARISON_LIMIT_EXCEEDED", description:"The new schema and the old schema are too entangled to compare\'}'
    )
    assert "fewer alternatives" in difference.fix


def test_wide_unions_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def union(least: int) -> JsonSchema:
        return schema({"anyOf": [{"type": "string", "minLength": least, "maxLength": most} for most in range(60)]})

    assert union(1).differences(union(1)) == []
    monkeypatch.setattr(differ, "COMPARISON_MAX_STEPS", 5000)
    assert [difference.rule for difference in union(1).differences(union(2))] == [GIVEN_UP]


def test_entangled_unions_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few pairs, but each is looked up again and again."""
    members = [{"$ref": f"#/definitions/T{index}"} for index in range(10)]
    types = {f"T{index}": {"properties": {"next": {"oneOf": members}}} for index in range(10)}
    entangled = {"definitions": types, "oneOf": members}
    assert schema(entangled).differences(schema(entangled)) == []
    monkeypatch.setattr(differ, "COMPARISON_MAX_STEPS", 5000)
    assert [difference.rule for difference in schema(entangled).differences(schema(entangled))] == [GIVEN_UP]


def test_a_type_named_often_is_read_once() -> None:
    value: dict[str, Any] = {"type": "string"}
    for _ in range(SUBSCHEMA_MAX_LEVELS - 1):
        value = {"type": ["object"] * 20, "properties": {"a": value}}
    assert schema(value).differences(schema(value)) == []


def test_patterns_take_linear_time() -> None:
    old = {"patternProperties": {"^(a+)+$": {"type": "null"}}, "additionalProperties": False}
    name = "a" * 5000 + "!"
    assert schema({**old, "properties": {name: {"type": "string"}}}).differences(schema(old)) == []


def test_numbers_beyond_measure_are_compared() -> None:
    texts = [f'{{"multipleOf":{huge},"maximum":{huge}}}' for huge in ("1e999999999", "3e-300", "9" * 900)]
    schemas = [JsonSchema.parse(text) for text in texts]
    rules = {difference.rule for difference in schemas[1].differences(schemas[0])}
    assert rules == {"MULTIPLE_OF_CHANGED", "MAXIMUM_DECREASED"}
    assert [difference.rule for difference in schemas[2].differences(schemas[0])] == ["MULTIPLE_OF_CHANGED"]
