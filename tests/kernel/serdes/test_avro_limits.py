"""Avro schemas, data and values that would take endless time or memory, and the plain records that skip the closer look."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.kernel.serdes import avro_fit
from barnabas.kernel.serdes.avro import AvroCodec
from barnabas.kernel.serdes.serdes_error import SerdesError, ValueMismatchError

LEVELS = 60
PLAIN_TYPES = ("null", "boolean", "int", "long", "float", "double", "string", "bytes")


def codec(schema: object) -> AvroCodec:
    return AvroCodec(json.dumps(schema))


def record(name: str, *fields: tuple[Any, ...]) -> dict[str, Any]:
    keys = ("name", "type", "default")
    return {"type": "record", "name": name, "fields": [dict(zip(keys, field, strict=False)) for field in fields]}


def doubled(innermost: dict[str, Any], *default: Any) -> dict[str, Any]:
    """A record of two records, each of which is one of two, and so on."""
    schema = innermost
    for level in range(LEVELS):
        schema = record(f"R{level}", ("a", schema, *default), ("b", schema["name"], *default))
    return schema


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        (doubled(record("Empty")), b""),
        (doubled(record("Null", ("n", "null"))), b""),
        ({"type": "array", "items": doubled(record("Empty"))}, b"\x02\x00"),
        (record("Top", ("i", "int"), ("r", doubled(record("Empty")))), b"\x02"),
    ],
    ids=["records", "nulls", "items", "beside bytes"],
)
def test_records_that_multiply_are_counted(schema: object, data: bytes) -> None:
    with pytest.raises(SerdesError, match="the data counts 1000001 items"):
        codec(schema).decode(data)


def test_defaults_that_multiply_are_counted() -> None:
    made = codec(doubled(record("Inner", ("i", "int", 1)), {}))
    for _ in range(2):
        with pytest.raises(SerdesError, match="a default that holds more than 10000 others"):
            made.encode({})


def test_defaults_inside_of_defaults_are_put_in() -> None:
    inner = record("Inner", ("i", "int", 1), ("u", ["string", "null"], "x"))
    schema = record("Outer", ("a", {"type": "array", "items": inner}, [{}, {"i": 2}]), ("b", "Inner", {}))
    one = {"i": 1, "u": "x"}
    assert codec(schema).decode(codec(schema).encode({})) == {"a": [one, {**one, "i": 2}], "b": one}


def test_branches_that_are_tried_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avro_fit, "MISMATCHES_MAX", 1_000)
    second = record("B", ("n", ["null", "A", "B"]))
    made = codec(record("A", ("n", ["null", "A", second])))
    for _ in range(2):
        value: Any = None
        for _ in range(LEVELS):
            value = {"n": value}
        made.encode(value)
        value = "no record"
        for _ in range(LEVELS):
            value = {"n": value}
        with pytest.raises(SerdesError, match="did not fit 1000 branches"):
            made.encode(value)


def test_a_schema_of_nested_arrays_is_compiled_in_time() -> None:
    schema: Any = "int"
    for _ in range(300):
        schema = {"type": "array", "items": schema}
    assert codec(schema).decode(b"\x00") == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"type":"fixed","name":"F","size":-1}', "the size -1: it must be from 0 to 2147483647"),
        ('{"type":"fixed","name":"F","size":1e999}', "the size inf"),
        ('{"type":"fixed","name":"F","size":"4"}', "the size '4'"),
        ('{"type":"fixed","name":"F","size":1180591620717411303424}', "the size 1180591620717411303424"),
        ('{"type":"record","name":"R","fields":[{"name":["a"],"type":"int"}]}', "the name .'a'., which is no string"),
        ('{"type":"enum","name":"E","symbols":[1]}', "the name 1, which is no string"),
        ('[{"type":"fixed","name":"long","size":8},"long"]', "the name long, which is that of a primitive type"),
        ('[{"type":"record","name":"map","fields":[]},{"type":"map","values":"int"}]', "two types named map"),
        ('["int",{"type":"int","logicalType":"date"}]', "two types named int"),
    ],
)
def test_a_schema_that_cannot_be_meant_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(SerdesError, match=complaint):
        AvroCodec(text)


@pytest.mark.parametrize(("kind", "digits"), [("long", 5_000), ("double", 5_000), ("double", 400)])
def test_a_number_too_long_to_write_does_not_fit(kind: str, digits: int) -> None:
    with pytest.raises(ValueMismatchError, match=f"… is not a {kind}"):
        codec(kind).encode(10**digits)


@pytest.mark.parametrize("kind", PLAIN_TYPES)
@pytest.mark.parametrize("is_nullable", [False, True])
@settings(max_examples=25, deadline=None)
@given(
    value=st.one_of(
        *(st.none(), st.booleans(), st.integers(), st.sampled_from([2**31, -(2**31), 2**63, -(2**63) - 1])),
        *(st.floats(), st.sampled_from([3.4028235677973366e38, -3.5e38, math.nan]), st.binary(max_size=4)),
        *(st.text(max_size=4), st.sampled_from(["\ud800", "NaN", {}, {"string": "x"}, []])),
    )
)
def test_plain_records_are_written_as_after_the_closer_look(kind: str, is_nullable: bool, value: Any) -> None:
    schema = record("R", ("a", ["null", kind] if is_nullable and kind != "null" else kind), ("it's", "int", 5))
    looked_at = {"type": "array", "items": "int"}
    closer = record("R", *((each["name"], each["type"], 5) for each in schema["fields"]), ("more", looked_at))
    for given_value in ({"a": value}, {"a": value, "it's": 1}, {"a": value, "its": 1}, {"a": value, "it's": 1, "b": 2}):
        assert _written(schema, given_value) == _written(closer, {**given_value, "more": []}, end=b"\0")


def _written(schema: object, value: object, end: bytes = b"") -> object:
    try:
        data = codec(schema).encode(value)
    except ValueMismatchError as error:
        return str(error)
    assert data.endswith(end)
    return data.removesuffix(end) if end else data
