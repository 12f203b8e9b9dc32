"""JSON values, checked against their schema."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pytest

from barnabas.kernel.serdes.json_schema import JsonSchemaCodec
from barnabas.kernel.serdes.serdes_error import MissingLibraryError, SerdesError, ValueMismatchError

ORDER = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": {"$ref": "item.json"}}},
    "required": ["items"],
}
ITEM = json.dumps({"type": "object", "properties": {"price": {"type": "number", "minimum": 0}}})
HOSTILE_LIMIT_S = 5


def codec(schema: object, **options: Any) -> JsonSchemaCodec:
    return JsonSchemaCodec(json.dumps(schema), {"item.json": ITEM}, **options)


@pytest.mark.parametrize(
    "where", [{}, {"$id": "http://example.com/dir/order.json"}, {"$schema": "http://json-schema.org/draft-04/schema#"}]
)
def test_values_are_checked_through_references(where: dict[str, str]) -> None:
    order = codec({**where, **ORDER})
    value = {"items": [{"price": 1.5}]}
    assert order.encode(value) == b'{"items":[{"price":1.5}]}'
    assert order.decode(b'{"items": [{"price": 1.5}]}') == value
    for refuse in (
        lambda: order.encode({"items": [{}, {"price": -1}]}),
        lambda: order.decode(b'{"items":[{},{"price":-1}]}'),
    ):
        with pytest.raises(ValueMismatchError) as failure:
            refuse()
        assert str(failure.value) == "at items[1].price: -1 is less than the minimum of 0"


def test_a_schema_without_a_draft_is_of_draft_7() -> None:
    """Beside a $ref, draft 7 heeds nothing else."""
    schema: dict[str, Any] = {"definitions": {"a": {}}, "$ref": "#/definitions/a", "type": "string"}
    assert codec(schema).encode(5) == b"5"
    with pytest.raises(ValueMismatchError, match='5 is not of type "string"'):
        codec({**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"}).encode(5)


def test_nothing_is_checked_when_checks_are_off() -> None:
    assert codec({"type": "string"}, validates=False).encode(5) == b"5"


def test_bytes_that_are_no_json_are_refused() -> None:
    with pytest.raises(SerdesError, match="the data is not JSON"):
        codec({}).decode(b"\xff")


@pytest.mark.parametrize(
    "text", ["{", '{"type": 5}', '{"$ref": "http://example.com/other.json"}', '{"$ref": "nowhere.json"}']
)
def test_a_schema_that_cannot_be_used_is_told(text: str) -> None:
    with pytest.raises(SerdesError, match="the JSON schema cannot be used"):
        JsonSchemaCodec(text)


@pytest.mark.parametrize("library", ["orjson", "jsonschema_rs"])
def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibraryError) as failure:
        codec({})
    assert str(failure.value) == f"JSON Schema data needs the library '{library}': pip install 'barnabas[registry]'"


def test_a_hostile_pattern_ends_in_time() -> None:
    hostile = codec({"pattern": r"^(?=a)(a+)+\1$"})
    begun = time.process_time()
    with pytest.raises(ValueMismatchError):
        hostile.encode("a" * 40 + "b")
    assert time.process_time() - begun < HOSTILE_LIMIT_S
