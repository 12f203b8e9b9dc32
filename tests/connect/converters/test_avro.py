"""Avro beside Confluent's converter, there and back, and schemas that it reads or refuses."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings

from barnabas.kernel.serdes.avro import AvroCodec
from connect.converters.avro_reading import AvroReading
from connect.converters.avro_schema import AvroDescription, AvroOptions
from connect.converters.avro_values import ANYTHING_SCHEMA, AvroWriting, anything, from_anything
from connect.data.schema import (
    BYTES,
    DECIMAL,
    INT8,
    INT32,
    INT64,
    STRING,
    Field,
    Schema,
    Type,
    array_of,
    map_of,
    struct,
)
from connect.errors import DataError
from tests.connect.converters.cases import CASES
from tests.connect.converters.recorded import recorded
from tests.connect.converters.strategies import schemas_and_values

UNION = Schema(
    Type.STRUCT,
    name="io.confluent.connect.avro.Union",
    fields=(
        Field("string", STRING.as_optional()),
        Field("Inner", struct(("x", INT32), name="a.Inner", optional=True)),
        Field("map", map_of(STRING, INT64, optional=True)),
    ),
)


def written(schema: Schema, value: Any, options: AvroOptions | None = None) -> tuple[Any, bytes]:
    """The Avro schema, and the bytes of a value."""
    chosen = options or AvroOptions()
    description = AvroDescription(chosen)
    described = description.describe(schema)
    convert = AvroWriting(description, chosen, replaces_null=True).compile(schema)
    return described, AvroCodec(json.dumps(described)).encode(convert(value))


def read_back(described: Any, data: bytes, options: AvroOptions | None = None) -> tuple[Schema, Any]:
    text = json.dumps(described)
    part = AvroReading(options or AvroOptions()).read(text)
    value = AvroCodec(text).decode(data)
    return part.schema, value if part.convert is None else part.convert(value)


@pytest.mark.parametrize(("case", "java"), recorded("avro"))
def test_writes_what_java_writes(case: str, java: dict[str, Any]) -> None:
    described, data = written(*CASES[case])
    # The order of members is part of the text that is registered.
    assert json.dumps(described) == json.dumps(java["schema"])
    assert data.hex() == java["data"]


@pytest.mark.parametrize(("case", "java"), recorded("avro"))
def test_reads_what_java_writes(case: str, java: dict[str, Any]) -> None:
    schema, value = read_back(java["schema"], bytes.fromhex(java["data"]))
    assert schema == CASES[case].schema
    assert written(schema, value) == (java["schema"], bytes.fromhex(java["data"]))


@settings(max_examples=50)
@given(schemas_and_values())
def test_there_and_back(given_: tuple[Schema, Any]) -> None:
    assert read_back(*written(*given_)) == given_


@pytest.mark.parametrize(
    "value",
    [None, True, 5, 1.5, "x", b"\xff", [1, None, "a"], {"a": {"b": [1]}, "c": None}],
)
def test_values_without_schema(value: Any) -> None:
    codec = AvroCodec(json.dumps(ANYTHING_SCHEMA))
    assert from_anything(codec.decode(codec.encode(anything(value)))) == value


@pytest.mark.parametrize("value", [{"string": "x"}, {"Inner": {"x": 1}}, {"map": {"string": 1}}])
def test_unions(value: dict[str, Any]) -> None:
    described, data = written(struct(("u", UNION)), {"u": value})
    schema, found = read_back(described, data)
    assert schema.fields[0].schema == UNION
    assert found == {"u": value}


@pytest.mark.parametrize(
    ("schema", "options", "described"),
    [
        (INT8, AvroOptions(keeps_metadata=False), "int"),
        (struct(("a b", INT32), name="1.x"), AvroOptions(scrubs_names=True), ("x1.x", "a_b")),
        (map_of(STRING.as_optional(), INT32), AvroOptions(allows_optional_keys=True), {"type": "map", "values": "int"}),
        (
            replace(
                STRING,
                parameters=(("io.confluent.connect.avro.Enum", "a.E"), ("io.confluent.connect.avro.Enum.X", "X")),
            ),
            AvroOptions(keeps_metadata=False, is_enhanced=True),
            {"type": "enum", "name": "E", "namespace": "a", "symbols": ["X"]},
        ),
        (
            replace(BYTES, name="a.F", parameters=(("connect.fixed.size", "2"),)),
            AvroOptions(keeps_metadata=False),
            {"type": "fixed", "name": "F", "namespace": "a", "size": 2},
        ),
    ],
)
def test_options(schema: Schema, options: AvroOptions, described: Any) -> None:
    found = AvroDescription(options).describe(schema)
    if isinstance(described, tuple):
        found = f"{found['namespace']}.{found['name']}", found["fields"][0]["name"]
    assert found == described


def test_a_decimal_of_fixed_size_is_filled_up() -> None:
    schema = Schema(Type.BYTES, name=DECIMAL, version=1, parameters=(("scale", "0"), ("connect.fixed.size", "4")))
    assert written(schema, Decimal(-2))[1] == b"\xff\xff\xff\xfe"
    assert written(schema, Decimal(2))[1] == b"\x00\x00\x00\x02"


def test_maps_of_different_types_beside_each_other() -> None:
    schema = struct(("a", map_of(INT32, STRING)), ("b", map_of(INT64, STRING)), ("c", map_of(INT32, STRING)))
    value = {"a": {1: "x"}, "b": {2: "y"}, "c": {3: "z"}}
    assert read_back(*written(schema, value)) == (schema, value)


RECORD = {"type": "record", "name": "R", "namespace": "n"}


@pytest.mark.parametrize(
    ("described", "schema"),
    [
        (["null", "string"], STRING.as_optional()),
        ({"type": "array", "items": "int"}, array_of(INT32)),
        (
            {**RECORD, "doc": "d", "fields": [{"name": "a", "type": "int", "doc": "e", "default": 3}]},
            Schema(
                Type.STRUCT,
                name="n.R",
                parameters=(
                    ("io.confluent.connect.avro.record.doc", "d"),
                    ("io.confluent.connect.avro.field.doc.a", "e"),
                ),
                fields=(
                    Field(
                        "a",
                        replace(INT32, default=3, parameters=(("io.confluent.connect.avro.field.default", "true"),)),
                    ),
                ),
            ),
        ),
        (
            {"type": "enum", "name": "n.E", "symbols": ["X", "Y"]},
            Schema(
                Type.STRING,
                name="n.E",
                parameters=(
                    ("io.confluent.connect.avro.Enum", "n.E"),
                    ("io.confluent.connect.avro.Enum.X", "X"),
                    ("io.confluent.connect.avro.Enum.Y", "Y"),
                ),
            ),
        ),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
            Schema(
                Type.BYTES,
                name=DECIMAL,
                version=1,
                parameters=(("scale", "2"), ("connect.decimal.precision", "9")),
            ),
        ),
    ],
)
def test_schemas_of_others(described: Any, schema: Schema) -> None:
    assert AvroReading(AvroOptions()).read(json.dumps(described)).schema == schema


@pytest.mark.parametrize(
    ("described", "said"),
    [
        ("null", "nothing but null"),
        ({**RECORD, "fields": [{"name": "next", "type": ["null", "n.R"]}]}, "n.R holds itself"),
        (
            [
                "int",
                {"type": "fixed", "name": "a.F", "size": 1},
                {"type": "fixed", "name": "b.F", "size": 1},
            ],
            "enhanced.avro.schema.support",
        ),
    ],
)
def test_schemas_that_cannot_be_read(described: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        AvroReading(AvroOptions()).read(json.dumps(described))


def test_two_types_of_one_name_cannot_be_written() -> None:
    schema = struct(("a", struct(("x", INT32), name="n.R")), ("b", struct(("y", INT32), name="n.R")))
    with pytest.raises(DataError, match=r"two different types are called n\.R"):
        AvroDescription(AvroOptions()).describe(schema)
