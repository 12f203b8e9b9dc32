"""The JSON converter beside Java's, there and back, and bytes and values that it refuses."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings

from connect.api.settings import read
from connect.converters.json import JsonConverter, JsonConverterSettings
from connect.data.schema import FLOAT64, INT32, STRING, Schema, decimal, map_of, struct
from connect.errors import DataError, InvalidSettings
from tests.connect.converters.cases import CASES
from tests.connect.converters.recorded import recorded
from tests.connect.converters.strategies import schemas_and_values

POINT = struct(("x", INT32), ("y", FLOAT64.as_optional()))


def converter(**settings: str) -> JsonConverter:
    named = {name.replace("_", "."): value for name, value in settings.items()}
    return JsonConverter(read(JsonConverterSettings, named), is_key=False)


def plain() -> JsonConverter:
    return converter(schemas_enable="false")


@pytest.mark.parametrize(("case", "java"), recorded("json"))
def test_writes_what_java_writes(case: str, java: dict[str, Any]) -> None:
    assert converter().encode("t", *CASES[case]) == java["data"].encode()


@pytest.mark.parametrize(("case", "java"), recorded("json"))
def test_reads_what_java_writes(case: str, java: dict[str, Any]) -> None:
    found = converter().decode("t", java["data"].encode())
    assert found.schema == CASES[case].schema
    assert converter().encode("t", *found) == java["data"].encode()


@settings(max_examples=50)
@given(schemas_and_values())
def test_there_and_back(given_: tuple[Schema, Any]) -> None:
    both = converter()
    data = both.encode_all("t", given_[0], [given_[1], given_[1]])
    assert both.decode_all("t", data) == [given_, given_]


def test_the_envelope_of_the_record_before_is_known_again() -> None:
    both = converter()
    values = [{"x": number, "y": None} for number in range(3)]
    found = both.decode_all("t", both.encode_all("t", POINT, values))
    assert [each.value for each in found] == values
    assert found[0].schema is found[2].schema


@pytest.mark.parametrize(
    "other",
    [
        None,
        b'{"schema":null,"payload":{"a":1}}',
        b'{"schema":{"type":"string"},"payload":"a"}',
        b'{"payload":"a","schema":{"type":"string"}}',
    ],
)
def test_columns_are_what_the_records_are_one_by_one(other: bytes | None) -> None:
    """Whether all of them have the envelope of the last one before, or some have not."""
    both = converter(decimal_format="NUMERIC")
    priced = struct(("x", INT32), ("price", decimal(2)))
    data = both.encode_all("t", priced, [{"x": number, "price": Decimal(number) / 4} for number in range(3)])
    both.decode_all("t", data)
    for column in (data, [*data, other, *data], [data[0][:-1] if data[0] else None, *data]):
        assert by_column(both, column) == one_by_one(converter(), column)


def by_column(reader: JsonConverter, column: list[bytes | None]) -> list[tuple[Any, Schema | None]] | str:
    """Values with their schemas, or why there are none."""
    try:
        return list(zip(*reader.decode_column("t", column), strict=True))
    except DataError as error:
        return str(error)


def one_by_one(reader: JsonConverter, column: list[bytes | None]) -> list[tuple[Any, Schema | None]] | str:
    """The same, by the other way."""
    try:
        return [(value, schema) for schema, value in reader.decode_all("t", column)]
    except DataError as error:
        return str(error)


@pytest.mark.parametrize(
    ("settings", "schema", "value", "data"),
    [
        ({}, None, None, None),
        ({}, None, {"a": 1}, b'{"schema":null,"payload":{"a":1}}'),
        ({}, STRING.as_optional(), None, b'{"schema":{"type":"string","optional":true},"payload":null}'),
        ({"schemas.enable": "false"}, None, None, None),
        ({"schemas.enable": "false"}, None, [1, "a", None, 1.5, True], b'[1,"a",null,1.5,true]'),
        ({"schemas.enable": "false"}, None, {"a": b"\xff"}, b'{"a":"/w=="}'),
        ({"schemas.enable": "false"}, None, {1: "a", "b": {True: 2}}, b'[[1,"a"],["b",[[true,2]]]]'),
        ({"schemas.enable": "false"}, None, {"a": Decimal("1.50")}, b'{"a":1.50}'),
        ({"schemas.enable": "false"}, STRING.as_optional(), None, b"null"),
        ({"schemas.enable": "false"}, POINT, {"x": 1}, b'{"x":1,"y":null}'),
        ({"schemas.enable": "false"}, FLOAT64, float("nan"), b'"NaN"'),
        ({"schemas.enable": "false"}, map_of(INT32, STRING), {1: "a"}, b'[[1,"a"]]'),
        ({"schemas.enable": "false", "decimal.format": "NUMERIC"}, decimal(2), Decimal("10.00"), b"10.00"),
        ({"schemas.enable": "false", "decimal.format": "numeric"}, decimal(0), Decimal("1E+3"), b"1E+3"),
        ({"schemas.enable": "false"}, replace(INT32.as_optional(), default=7), None, b"7"),
        (
            {"schemas.enable": "false", "replace.null.with.default": "false"},
            replace(INT32.as_optional(), default=7),
            None,
            b"null",
        ),
    ],
)
def test_writes(settings: dict[str, str], schema: Schema | None, value: Any, data: bytes | None) -> None:
    assert JsonConverter(read(JsonConverterSettings, settings), is_key=False).encode("t", schema, value) == data


@pytest.mark.parametrize(
    ("data", "value"),
    [(None, None), (b"", None), (b"null", None), (b'{"a":[1,2.5]}', {"a": [1, 2.5]}), (b'"x"', "x")],
)
def test_reads_json_without_schema(data: bytes | None, value: Any) -> None:
    assert plain().decode("t", data) == (None, value)


def test_a_decimal_that_is_written_as_a_number_keeps_its_digits() -> None:
    both = converter(decimal_format="NUMERIC")
    value = Decimal("12345678901234567890.12")
    assert both.decode("t", both.encode("t", decimal(2), value)) == (decimal(2), value)


def test_a_fixed_schema_takes_the_place_of_the_envelope() -> None:
    fixed = converter(schema_content='{"type":"struct","fields":[{"field":"x","type":"int32"}]}')
    assert fixed.decode("t", b'{"x":1,"more":2}') == (struct(("x", INT32)), {"x": 1})
    assert fixed.decode("t", None).value is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"schemas.enable": "perhaps"}, "schemas.enable"),
        ({"decimal.format": "HEX"}, "decimal.format"),
        ({"schema.content": "{"}, "not JSON"),
        ({"schema.content": '{"type":"int65"}'}, "one of boolean"),
    ],
)
def test_settings_that_are_refused(settings: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidSettings, match=said):
        read(JsonConverterSettings, settings)


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        (POINT, {"x": None}, "^x: null, where a value of type int32 is required"),
        (POINT, {"x": "1"}, r"^x: '1' \(str\) is not a whole number of 32 bits"),
        (POINT, {"x": 1 << 31}, "^x: 2147483648"),
        (POINT, {"x": True}, "^x: True"),
        (POINT, {"x": 1, "z": 2}, "the schema has no field z"),
        (POINT, [1], "is not a struct"),
        (struct(("all", map_of(STRING, POINT))), {"all": {"k": {"x": 1, "y": "far"}}}, r"^all\['k'\]\.y: 'far'"),
        (decimal(1), Decimal("1.25"), "decimal of scale 1"),
        (STRING, "\ud800", "cannot be written as JSON"),
        (None, {"a": object()}, "cannot be written as JSON|can say"),
        (None, 1 << 70, "cannot be written as JSON"),
    ],
)
def test_values_that_are_refused(schema: Schema | None, value: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        converter().encode("t", schema, value)


def envelope(schema: Any, payload: Any) -> bytes:
    return json.dumps({"schema": schema, "payload": payload}).encode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a":1}', 'requires "schema" and "payload"'),
        (b'{"schema":null,"payload":1,"more":2}', 'requires "schema" and "payload"'),
        (b"[1]", 'requires "schema" and "payload"'),
        (b"{", "the data is not JSON"),
        (envelope({"type": "int32"}, "7"), "'7'"),
        (envelope({"type": "int32"}, 7.5), "7.5"),
        (envelope({"type": "int32"}, None), "null, where"),
        (envelope({"type": "int"}, 7), "'type' that is one of"),
        (envelope({"type": "array"}, []), "without 'items'"),
        (envelope({"type": "struct"}, {}), "'fields' are no array"),
        (envelope({"type": "struct", "fields": [{"type": "int32"}]}, {}), "without its name"),
        (envelope({"type": "string", "parameters": {"a": 1}}, ""), "'parameters' that are no strings"),
        (envelope({"type": "int32", "default": "x"}, 1), "a default that it refuses"),
        (envelope({"type": "bytes"}, "%"), "bytes in base64"),
        (
            envelope({"type": "map", "keys": {"type": "int32"}, "values": {"type": "string"}}, {"1": "a"}),
            "array of pairs",
        ),
        (envelope({"type": "int32", "name": "org.apache.kafka.connect.data.Time"}, 86_400_000), "no time of a day"),
        (envelope({"type": "int64", "name": "org.apache.kafka.connect.data.Timestamp"}, 1 << 60), "no time between"),
        (b'{"schema":' + b'{"type":"array","items":' * 900 + b"1" + b"}" * 900 + b',"payload":1}', "too deeply"),
    ],
)
def test_bytes_that_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        converter().decode("t", data)
