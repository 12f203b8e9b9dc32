"""JSON Schema beside Confluent's converter, there and back, and schemas that it reads or refuses."""

import json
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings

from connect.converters.json import read_json
from connect.converters.json_schema_description import JsonSchemaDescription, JsonSchemaWriting
from connect.converters.json_schema_reading import JsonSchemaReader, JsonSchemaReading
from connect.data.schema import BOOLEAN, FLOAT64, INT32, INT64, STRING, Field, Schema, Type, array_of, struct
from connect.errors import DataError
from tests.connect.converters.cases import CASES
from tests.connect.converters.recorded import recorded
from tests.connect.converters.strategies import schemas_and_values

ONE_OF = "io.confluent.connect.json.OneOf"


def written(schema: Schema, value: Any) -> tuple[Any, bytes]:
    writing = JsonSchemaWriting()
    described = JsonSchemaDescription(writing, allows_additional=True).describe(schema)
    return orjson.loads(orjson.dumps(described)), orjson.dumps(writing.compile(schema)(value))


def schema_of(described: Any, references: dict[str, str] | None = None, *, optional: bool = False) -> Schema:
    reader = JsonSchemaReader(references or {}, optional_unless_required=optional, flattens_singletons=True)
    return reader.read(json.dumps(described))


def read_back(described: Any, data: bytes) -> tuple[Schema, Any]:
    schema = schema_of(described)
    return schema, read_json(JsonSchemaReading().compile(schema), data)


@pytest.mark.parametrize(("case", "java"), recorded("json_schema"))
def test_writes_what_java_writes(case: str, java: dict[str, Any]) -> None:
    assert written(*CASES[case]) == (java["schema"], java["data"].encode())


@pytest.mark.parametrize(("case", "java"), recorded("json_schema"))
def test_reads_what_java_writes(case: str, java: dict[str, Any]) -> None:
    schema, value = read_back(java["schema"], java["data"].encode())
    assert schema == CASES[case].schema
    assert written(schema, value)[1] == java["data"].encode()


@settings(max_examples=50)
@given(schemas_and_values())
def test_there_and_back(given_: tuple[Schema, Any]) -> None:
    assert read_back(*written(*given_)) == given_


@pytest.mark.parametrize(
    ("described", "schema"),
    [
        ({"type": "integer"}, INT64),
        ({"type": "number"}, FLOAT64),
        ({"type": ["string", "null"]}, STRING.as_optional()),
        ({"anyOf": [{"type": "boolean"}]}, BOOLEAN),
        ({"type": "integer", "enum": [1, 2]}, INT64),
        (
            {"enum": ["a", None]},
            replace(
                STRING,
                parameters=(
                    ("io.confluent.connect.json.Enum", ""),
                    ("io.confluent.connect.json.Enum.a", "a"),
                    ("io.confluent.connect.json.Enum.<NULL>", "<NULL>"),
                ),
            ),
        ),
        (
            {"definitions": {"n": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/definitions/n"}},
            array_of(INT64),
        ),
        (
            {"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "boolean"}}}]},
            struct(("a", STRING), ("b", BOOLEAN)),
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            Schema(
                Type.STRUCT,
                name=ONE_OF,
                fields=(
                    Field(f"{ONE_OF}.field.0", STRING.as_optional()),
                    Field(f"{ONE_OF}.field.1", INT64.as_optional()),
                ),
            ),
        ),
    ],
)
def test_schemas_of_others(described: Any, schema: Schema) -> None:
    assert schema_of(described) == schema


def test_a_schema_that_refers_to_another_one() -> None:
    found = schema_of({"$ref": "other.json"}, {"other.json": '{"type":"string"}'})
    assert found == STRING


def test_properties_that_are_not_required() -> None:
    described = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    assert schema_of(described) == struct(("a", STRING), ("b", STRING))
    assert schema_of(described, optional=True) == struct(("a", STRING), ("b", STRING.as_optional()))
    assert read_back(described, b'{"a":"x","more":1}')[1] == {"a": "x", "b": None}


def test_a_union_takes_the_type_that_fits() -> None:
    described = {
        "oneOf": [
            {"type": "integer", "connect.type": "int32"},
            {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
            {"type": "object", "properties": {"a": {"type": "string"}, "c": {"type": "string"}}},
        ]
    }
    assert read_back(described, b"5")[1] == {f"{ONE_OF}.field.0": 5}
    assert read_back(described, b'{"a":"x","c":"y"}')[1] == {f"{ONE_OF}.field.2": {"a": "x", "c": "y"}}
    schema, value = read_back(described, b"5")
    assert written(schema, value)[1] == b"5"


@pytest.mark.parametrize(
    ("described", "said"),
    [
        (True, "any type"),
        ({}, "without a type"),
        ({"type": "array"}, "what its items are"),
        ({"$ref": "#/definitions/none"}, "where nothing is"),
        ({"$ref": "other.json"}, "no reference"),
        ({"properties": {"next": {"$ref": "#"}}}, "refers to itself"),
    ],
)
def test_schemas_that_cannot_be_read(described: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        schema_of(described)


@pytest.mark.parametrize("data", [b'{"a":null}', b'{"a":1}', b"[]"])
def test_values_that_are_refused(data: bytes) -> None:
    described = {"type": "object", "properties": {"a": {"type": "string"}}}
    with pytest.raises(DataError):
        read_back(described, data)


def test_numbers_keep_their_width() -> None:
    assert read_back(*written(struct(("a", INT32)), {"a": 5})) == (struct(("a", INT32)), {"a": 5})
