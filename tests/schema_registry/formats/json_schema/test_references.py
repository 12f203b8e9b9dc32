"""A `$ref` finds its schema within the document and among the registered ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from schema_registry.formats.json_schema.schema import JsonSchema
from schema_registry.formats.parsed_schema import InvalidSchema

MODERN = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
DRAFTS: list[dict[str, Any]] = [{}, {"$schema": "http://json-schema.org/draft-06/schema#"}, MODERN]


def schema(value: Any, references: Mapping[str, Any] | None = None) -> JsonSchema:
    texts = {name: json.dumps(text) for name, text in (references or {}).items()}
    return JsonSchema.parse(json.dumps(value), texts, new=True)


@pytest.mark.parametrize("draft", DRAFTS, ids=["default", "draft-06", "2020-12"])
@pytest.mark.parametrize(
    "around",
    [
        lambda leaf: {"$ref": "#/definitions/X", "definitions": {"X": leaf}},
        lambda leaf: {"$ref": "#/$defs/X", "definitions": {"X": leaf}},
        lambda leaf: {"$ref": "#/definitions/a~1b%25~0", "definitions": {"a/b%~": leaf}},
        lambda leaf: {"$ref": "#/anyOf/1", "anyOf": [True, leaf]},
        lambda leaf: {
            "$ref": "leaf.json",
            "$id": "http://a.org/b/root.json",
            "definitions": {"X": {"$id": "leaf.json", **leaf}},
        },
        lambda leaf: {"$ref": "http://a.org/b#/definitions/X", "$id": "http://a.org/b", "definitions": {"X": leaf}},
        lambda leaf: {"$ref": "#/definitions/X", "$id": "urn:a:b", "definitions": {"X": leaf}},
    ],
)
def test_within_the_schema(draft: dict[str, Any], around: Any) -> None:
    old = schema({**draft, **around({"type": "string"})})
    new = schema({**draft, **around({"type": "number"})})
    assert new.differences(old)[0].rule in ("TYPE_CHANGED", "COMBINED_TYPE_SUBSCHEMAS_CHANGED")
    assert old.differences(schema({**draft, **around({"type": "string"})})) == []


def test_by_anchor() -> None:
    old, new = (
        schema({**MODERN, "$ref": "#here", "$defs": {"X": {"$anchor": "here", "type": kind}}})
        for kind in ("string", "null")
    )
    assert [difference.rule for difference in new.differences(old)] == ["TYPE_CHANGED"]


@pytest.mark.parametrize("draft", DRAFTS, ids=["default", "draft-06", "2020-12"])
@pytest.mark.parametrize(
    ("root", "references"),
    [
        ({"$ref": "leaf.json"}, {"leaf.json": ...}),
        ({"$ref": "com.acme.Leaf"}, {"com.acme.Leaf": ...}),
        ({"$ref": "leaf.json#/definitions/X"}, {"leaf.json": {"definitions": {"X": ...}}}),
        ({"$ref": "leaf.json#/$defs/X"}, {"leaf.json": {"definitions": {"X": ...}}}),
        ({"$ref": "http://a.org/leaf.json"}, {"http://a.org/leaf.json": ...}),
        ({"$id": "http://a.org/root.json", "$ref": "leaf.json"}, {"leaf.json": ...}),
        ({"$id": "http://a.org/root.json", "$ref": "http://a.org/leaf.json"}, {"leaf.json": ...}),
        ({"items": {"$ref": "middle.json"}}, {"leaf.json": ..., "middle.json": {"items": {"$ref": "leaf.json"}}}),
        (
            {"items": {"$ref": "http://a.org/x/middle.json"}},
            {"http://a.org/leaf.json": ..., "http://a.org/x/middle.json": {"items": {"$ref": "../leaf.json"}}},
        ),
        ({"$ref": "leaf.json"}, {"leaf.json": {"items": {"$ref": "#/definitions/X"}, "definitions": {"X": ...}}}),
    ],
)
def test_to_registered_schemas(draft: dict[str, Any], root: dict[str, Any], references: dict[str, Any]) -> None:
    def with_leaf(kind: str) -> JsonSchema:
        filled = json.loads(json.dumps(references, default=lambda _: {"type": kind}))
        return schema({**draft, **root}, filled)

    assert [difference.rule for difference in with_leaf("null").differences(with_leaf("string"))] == ["TYPE_CHANGED"]
    assert with_leaf("null").normalised().differences(with_leaf("null")) == []


def test_a_reference_of_another_draft_keeps_its_own_rules() -> None:
    draft_4 = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}
    assert schema({"$ref": "leaf.json"}, {"leaf.json": draft_4}).canonical
    with pytest.raises(InvalidSchema, match=r"leaf\.json#/exclusiveMinimum: expected true or false"):
        schema({"$ref": "leaf.json"}, {"leaf.json": {**draft_4, "exclusiveMinimum": 2}})


def test_a_referenced_text_that_is_no_schema_is_refused() -> None:
    with pytest.raises(InvalidSchema, match=r"the referenced schema 'leaf\.json' is no schema"):
        schema({"$ref": "leaf.json"}, {"leaf.json": [1]})


@pytest.mark.parametrize("draft", DRAFTS, ids=["default", "draft-06", "2020-12"])
def test_schemas_may_contain_themselves(draft: dict[str, Any]) -> None:
    def tree(kind: str) -> JsonSchema:
        return schema({**draft, "properties": {"value": {"type": kind}, "children": {"items": {"$ref": "#"}}}})

    assert tree("string").differences(tree("string")) == []
    paths = [difference.path for difference in tree("null").differences(tree("string"))]
    assert "#/properties/value" in paths
    assert "#/properties/children/items/properties/value" in paths


def test_a_mistake_behind_a_cycle_is_not_masked() -> None:
    """Seen once, the pair of T0 looks sound: its cycle is trusted while it is open. A second look must not believe that."""

    def union(first: str, second: str) -> JsonSchema:
        def member(kind: str, link: str) -> dict[str, Any]:
            return {"properties": {"id": {"type": kind}, "ref": {"oneOf": [{"$ref": f"#/definitions/{link}"}]}}}

        definitions = {"T0": member(first, "T2"), "T1": member(second, "T2"), "T2": member("integer", "T0")}
        members = [{"$ref": "#/definitions/T0"}, {"$ref": "#/definitions/T1"}]
        return schema({"definitions": definitions, "properties": {"root": {"oneOf": members}}})

    assert union("integer", "boolean").differences(union("integer", "boolean")) == []
    assert union("boolean", "number").differences(union("integer", "boolean")) != []
