"""JSON schemas as the registry keeps them: text, name, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schema_registry.formats.json_schema.schema import JsonSchema
from schema_registry.formats.parsed_schema import InvalidSchema

DRAFT_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}
MODERN = {"$schema": "https://json-schema.org/draft/2020-12/schema"}


@pytest.mark.parametrize(
    ("text", "canonical", "normalised"),
    [
        (' { "type" : "string" } ', '{"type":"string"}', '{"type":"string"}'),
        ("true", "true", "true"),
        ('{"b":[{"d":1,"c":2}],"a":null}', '{"b":[{"d":1,"c":2}],"a":null}', '{"a":null,"b":[{"c":2,"d":1}]}'),
        ('{"required":["b","a"]}', '{"required":["b","a"]}', '{"required":["b","a"]}'),
        ('{"maximum":1.0,"minimum":1e2}', '{"maximum":1.0,"minimum":1E+2}', '{"maximum":1.0,"minimum":1E+2}'),
        (
            '{"default":12345678901234567890123}',
            '{"default":12345678901234567890123}',
            '{"default":12345678901234567890123}',
        ),
        ('{"default":NaN}', '{"default":"NaN"}', '{"default":"NaN"}'),
        ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}', '{"a":3,"b":2}'),
        ('{"\\uFB00":1,"\\uD83D\\uDE00":2}', '{"ﬀ":1,"😀":2}', '{"😀":2,"ﬀ":1}'),
    ],
)
def test_the_text_is_the_one_that_makes_the_identity(text: str, canonical: str, normalised: str) -> None:
    schema = JsonSchema.parse(text)
    assert schema.canonical == canonical
    assert schema.normalised().canonical == normalised
    assert schema.formatted("resolved") == canonical


@pytest.mark.parametrize(
    ("value", "name"),
    [({"title": "Order"}, "Order"), ({"title": 5}, "5"), ({"type": "string"}, None), (True, None)],
)
def test_the_title_is_the_name(value: Any, name: str | None) -> None:
    assert JsonSchema.parse(json.dumps(value)).name == name


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ([], "expected an object or boolean at the root, found an array"),
        ("string", 'expected an object or boolean at the root, found the value "string"'),
        ({"$schema": 7}, "#/$schema: expected a string, found the number 7"),
        (
            {"type": "any"},
            "#/: unknown type: [any]; the types are string, integer, number, boolean, null, array, object",
        ),
        ({"type": None}, "#/type: expected the name of a type, or an array of such names, found null"),
        (
            {"properties": {"a": {"type": ["string", 1]}}},
            "#/properties/a/type/1: expected a string, found the number 1",
        ),
        ({"properties": {"a": "string"}}, "#/properties/a: expected a schema, which is an object or a boolean"),
        ({"required": "a"}, "#/required: expected an array, found the string 'a'"),
        ({"maxLength": "5"}, "#/maxLength: expected a number"),
        ({"maxLength": 1.5}, "#/maxLength: expected an integer"),
        ({"maxItems": 2**31}, "#/maxItems: expected an integer of at most 2147483647"),
        ({"multipleOf": 0}, "#/: multipleOf should not be 0"),
        ({"exclusiveMinimum": True}, "#/exclusiveMinimum: expected a number, found a boolean"),
        ({**DRAFT_4, "exclusiveMinimum": 1}, "#/exclusiveMinimum: expected true or false, found the number 1"),
        ({**DRAFT_4, "items": True}, "#/items: expected an object or an array"),
        ({**DRAFT_4, "dependencies": {"a": True}}, "#/dependencies/a: expected an object or an array"),
        ({"uniqueItems": 1}, "#/uniqueItems: expected true or false"),
        ({"additionalProperties": "no"}, "#/additionalProperties: expected a schema"),
        ({"anyOf": {"type": "string"}}, "#/anyOf: expected an array, found an object"),
        ({"title": ["T"]}, "#/title: expected a string, found an array"),
        (
            {"$ref": "#/definitions/nowhere"},
            "the $ref '#/definitions/nowhere' leads nowhere: there is no 'definitions' at #/",
        ),
        ({"$ref": "#nowhere"}, "the $ref '#nowhere' leads nowhere: no schema there has the anchor 'nowhere'"),
        ({"$id": "http://[x/", "$ref": "http://[y/"}, "the $ref 'http://[y/' leads to no registered schema"),
        ({"$ref": "http://example.invalid/a.json"}, "never fetched from the network"),
        ({**MODERN, "items": [True]}, "#/items: expected a schema"),
        ({**MODERN, "type": "any"}, "#/type: unknown type: [any]"),
        ({**MODERN, "$defs": {"unused": 5}}, "#/$defs/unused: expected a schema"),
        ({**MODERN, "type": 5}, "#/type: expected the name of a type"),
    ],
)
def test_what_is_no_schema_is_refused_with_its_place(value: Any, complaint: str) -> None:
    text = json.dumps(value)
    with pytest.raises(InvalidSchema) as refused:
        JsonSchema.parse(text, new=True)
    assert complaint in str(refused.value)
    assert JsonSchema.parse(text).canonical


@pytest.mark.parametrize(
    "value",
    [
        {"required": [], "enum": [], "minLength": -1},
        {"pattern": "(?<=a)b(", "patternProperties": {"(?!x)": {}}},
        {"definitions": {"unused": 5}},
        {"properties": {"$id": "https://example.org/careless"}},
        {"$schema": "https://example.org/unknown", "contains": True, "const": None, "propertyNames": False},
        {**DRAFT_4, "type": "number", "minimum": 1, "exclusiveMinimum": True, "const": 1, "contains": 5},
        {"$ref": "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"},
        {**MODERN, "maxLength": 5.0, "minContains": "ignored", "contains": True},
        {**MODERN, "$dynamicRef": "#node", "$dynamicAnchor": "node", "readOnly": True, "format": "date"},
        {**MODERN, "if": True, "then": {}, "prefixItems": [], "items": {}, "dependentRequired": {"a": []}},
    ],
)
def test_what_other_registries_take_is_taken(value: Any) -> None:
    assert JsonSchema.parse(json.dumps(value), new=True).canonical == json.dumps(value, separators=(",", ":"))


def test_the_place_of_a_mistake_in_the_text_is_told() -> None:
    with pytest.raises(InvalidSchema, match="line 2, column 9"):
        JsonSchema.parse('{\n"type": string}')
