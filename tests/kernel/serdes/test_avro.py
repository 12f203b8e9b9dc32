"""Avro data beside Apache's, its JSON encoding as Java's, and values and bytes that do not fit."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.kernel.serdes.avro import AvroCodec
from barnabas.kernel.serdes.avro_json import JSON_ENCODING
from barnabas.kernel.serdes.serdes_error import MissingLibraryError, SerdesError, ValueMismatchError
from tests import apache_avro

HUGE_COUNT = b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f\x00"
NODE = {
    "type": "record",
    "name": "Node",
    "namespace": "n",
    "fields": [{"name": "v", "type": "int"}, {"name": "next", "type": ["null", "Node"], "default": None}],
}
COLOUR = {"type": "enum", "name": "c.Colour", "symbols": ["RED", "GREEN"]}
FOUR = {"type": "fixed", "name": "Four", "size": 4}


def record(*fields: tuple[Any, ...]) -> dict[str, Any]:
    keys = ("name", "type", "default")
    return {"type": "record", "name": "R", "fields": [dict(zip(keys, field, strict=False)) for field in fields]}


def codec(schema: object, *references: object) -> AvroCodec:
    return AvroCodec(json.dumps(schema), [json.dumps(reference) for reference in references], JSON_ENCODING)


def native(schema: object) -> AvroCodec:
    return AvroCodec(json.dumps(schema))


@pytest.mark.parametrize(
    ("schema", "value", "data"),
    [
        ("null", None, b""),
        ("boolean", True, b"\x01"),
        ("int", -1, b"\x01"),
        ("int", 64, b"\x80\x01"),
        ("long", -(1 << 63), b"\xff" * 9 + b"\x01"),
        ("long", (1 << 63) - 1, b"\xfe" + b"\xff" * 8 + b"\x01"),
        ("float", 0.10000000149011612, b"\xcd\xcc\xcc\x3d"),
        ("float", 3.4028234663852886e38, b"\xff\xff\x7f\x7f"),
        ("float", "NaN", b"\x00\x00\xc0\x7f"),
        ("double", 0.5, b"\x00" * 6 + b"\xe0\x3f"),
        ("double", "-Infinity", b"\x00" * 6 + b"\xf0\xff"),
        ("string", "ä", b"\x04\xc3\xa4"),
        # Confluent's serializers write bytes that stand alone without their length.
        ("bytes", "\x00ÿ", b"\x00\xff"),
        ({"type": "bytes"}, "\x00ÿ", b"\x00\xff"),
        (["null", "bytes"], {"bytes": "ÿ"}, b"\x02\x02\xff"),
        (FOUR, "\x00\x01ÿ\n", b"\x00\x01\xff\n"),
        (COLOUR, "GREEN", b"\x02"),
        ({"type": "array", "items": "int"}, [1, 2], b"\x04\x02\x04\x00"),
        ({"type": "array", "items": "int"}, [], b"\x00"),
        ({"type": "map", "values": "string"}, {"k": "v"}, b"\x02\x02k\x02v\x00"),
        (["null", "int", "long"], {"long": 5}, b"\x04\x0a"),
        (["null", "int", "long"], {"int": 5}, b"\x02\x0a"),
        (["null", "string"], None, b"\x00"),
        (["string", COLOUR, FOUR], {"c.Colour": "RED"}, b"\x02\x00"),
        ({"type": "long", "logicalType": "timestamp-millis"}, 1, b"\x02"),
        (
            {"type": "record", "name": "D", "fields": [{"name": "d", "type": {"type": "int", "logicalType": "date"}}]},
            {"d": 3},
            b"\x06",
        ),
        (NODE, {"v": 1, "next": {"n.Node": {"v": 2, "next": None}}}, b"\x02\x02\x04\x00"),
        ({"type": {"type": "string"}}, "x", b"\x02x"),
    ],
)
def test_the_json_encoding_there_and_back(schema: object, value: object, data: bytes) -> None:
    assert codec(schema).encode(value) == data
    assert codec(schema).decode(data) == value


@pytest.mark.parametrize(
    ("schema", "plain", "shown"),
    [
        (["null", "string"], "x", {"string": "x"}),
        (["null", "int", "long"], 5, {"int": 5}),
        (["null", "int", "long"], 1 << 40, {"long": 1 << 40}),
        (["null", "double", "long"], 5, {"long": 5}),
        (["null", "double"], 5, {"double": 5.0}),
        ("int", 5.0, 5),
        ("long", -1e15, -(10**15)),
        (["null", "float"], "Infinity", {"float": "Infinity"}),
        (["string", COLOUR], "RED", {"string": "RED"}),
        ([COLOUR, "string"], "RED", {"c.Colour": "RED"}),
        ([COLOUR, "string"], "PINK", {"string": "PINK"}),
        ([{"type": "map", "values": "int"}, NODE], {"v": 1}, {"map": {"v": 1}}),
        ([NODE, {"type": "map", "values": "int"}], {"v": 1}, {"n.Node": {"v": 1, "next": None}}),
        ([NODE, {"type": "map", "values": "int"}], {"w": 1}, {"map": {"w": 1}}),
        (["null", {"type": "array", "items": ["null", "string"]}], ["a", None], {"array": [{"string": "a"}, None]}),
        (NODE, {"v": 1, "next": {"v": 2}}, {"v": 1, "next": {"n.Node": {"v": 2, "next": None}}}),
        (record(("a", "int", 7), ("b", "bytes", "ÿ")), {}, {"a": 7, "b": "ÿ"}),
        # All fields are there, so one more is what Java's decoder takes it for: nothing.
        (record(("a", "int")), {"a": 1, "more": 2}, {"a": 1}),
    ],
)
def test_plain_values_go_where_they_fit(schema: object, plain: object, shown: object) -> None:
    assert codec(schema).decode(codec(schema).encode(plain)) == shown


@pytest.mark.parametrize(
    ("schema", "value", "complaint"),
    [
        ("int", 1 << 31, "2147483648 is not an int of 32 bits"),
        ("int", True, "true is not an int of 32 bits"),
        ("int", None, "null is not an int of 32 bits"),
        ("int", {"a": [None]}, '{"a": [null]} is not an int of 32 bits'),
        ("int", 1.5, "1.5 is not an int of 32 bits"),
        ("long", float("inf"), "is not a long of 64 bits"),
        ("long", 1 << 63, "is not a long of 64 bits"),
        ("float", 1e300, "1e+300 is not a float, in whose range it is"),
        ("double", "x", "'x' is not a double"),
        ("string", 5, "5 is not a string"),
        ("string", "\ud800", "is not a string without halves of surrogate pairs"),
        ("bytes", "€", "is not bytes, written as a string of characters up to U+00FF"),
        ("string", "x" * 200, None),
        (FOUR, "abc", "Four has 4 bytes, this has 3"),
        (COLOUR, "PINK", "'PINK' is not a symbol of c.Colour: RED, GREEN"),
        (["null", "string"], 5, "5 is not one of null, string"),
        (["null", "int"], {"int": "x"}, "at int: 'x' is not an int of 32 bits"),
        (["null", "string", "int"], [], "[] is not one of null, string, int"),
        (record(("a", "int")), {}, "at a: the field is missing and has no default"),
        (record(("a", "int", 1)), {"A": 2}, "at a: the field is missing; the value has A, which the schema does not"),
        (record(("a", "int")), 5, "5 is not the record R"),
        (
            record(("a", {"type": "array", "items": NODE})),
            {"a": [{"v": 1}, {"v": "x"}]},
            "at a[1].v: 'x' is not an int",
        ),
        (record(("m", {"type": "map", "values": "int"})), {"m": {"k": []}}, "at m['k']: [] is not an int"),
    ],
)
def test_a_value_that_does_not_fit_is_told_where_and_why(schema: object, value: object, complaint: str | None) -> None:
    if complaint is None:
        assert codec(schema).encode(value)
        return
    with pytest.raises(ValueMismatchError) as failure:
        codec(schema).encode(value)
    assert complaint in str(failure.value)


@pytest.mark.parametrize(
    ("schema", "data", "complaint"),
    [
        ("long", b"", "ends too early"),
        ("long", b"\x80", "ends too early"),
        ("long", b"\xff" * 11, "more than 64 bits"),
        ("double", b"\x00", "ends too early"),
        ("string", b"\x0aabc", "5 bytes should follow at 1, of 4"),
        ("string", b"\x01", "ends too early"),
        ("string", b"\x02\xff", "not UTF-8"),
        ("int", b"\x02\x02", "1 bytes are left over"),
        (["null", "int"], b"\x04", "branch 2 of a union that has 2"),
        (COLOUR, b"\x04", "symbol 2 of c.Colour, which has 2"),
        (
            {"type": "array", "items": "null"},
            b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f\x00",
            "more than its 10 bytes can hold",
        ),
        ({"type": "array", "items": "null"}, b"\x80\x89\x7a" * 5 + b"\x00", "more than its 16 bytes can hold"),
        ({"type": "array", "items": record()}, b"\x80\x80\x80\x80\x10", "more than its 5 bytes can hold"),
        ({"type": "array", "items": record(("n", "null"))}, HUGE_COUNT, "more than its 10 bytes can hold"),
        (
            {"type": "array", "items": {"type": "null", "logicalType": "nothing"}},
            HUGE_COUNT,
            "more than its 10 bytes can hold",
        ),
        ({"type": "array", "items": {"type": "fixed", "name": "F", "size": 0}}, HUGE_COUNT, "more than its 10"),
        ({"type": "array", "items": "int"}, HUGE_COUNT, "more than its 10 bytes can hold"),
        ({"type": "map", "values": "null"}, HUGE_COUNT, "more than its 10 bytes can hold"),
        # Each array of the array stays below the limit.
        (
            {"type": "array", "items": {"type": "array", "items": "null"}},
            b"\x0a" + b"\xa0\xf7\x36\x00" * 5 + b"\x00",
            "counts 1000001 items, more than its 22 bytes can hold",
        ),
        # The count that has no positive one beside it.
        ({"type": "array", "items": "int"}, b"\xff" * 9 + b"\x01\x00\x00", "more than its 12 bytes can hold"),
        (NODE, b"\x02\x02" * 5_000 + b"\x02\x00", "nested too deeply"),
        (NODE, b"\x02\x02" * 500_000 + b"\x02\x00", "nested too deeply"),
        ({"type": "array", "items": NODE}, b"\x02" + b"\x02\x02" * 100_000, "nested too deeply"),
        (record(("r", "R")), b"", "nested too deeply"),
        # A number that fits if the bits beyond 64 are dropped.
        ("long", b"\x82" + b"\x80" * 8 + b"\x7e", "more than 64 bits"),
        ("long", b"\x80" * 30 + b"\x00", "more than 64 bits"),
        ("int", b"\x80\x80\x80\x80\x10", "the int 2147483648, which has more than 32 bits"),
        (record(("i", ["null", {"type": "int", "logicalType": "date"}])), b"\x02\x80\x80\x80\x80\x10", "32 bits"),
        ("string", b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f", "bytes should follow at 9, of 9"),
        (["null", "int"], b"\x01\x02", "branch -1 of a union that has 2"),
        (COLOUR, b"\x01", "symbol -1 of c.Colour, which has 2"),
        (record(("b", "bytes")), b"\x03abc", "-2 bytes should follow"),
    ],
)
def test_bytes_that_are_no_such_value_are_refused(schema: object, data: bytes, complaint: str) -> None:
    with pytest.raises(SerdesError, match=complaint):
        codec(schema).decode(data)


def test_a_block_may_tell_its_size() -> None:
    assert codec({"type": "array", "items": "int"}).decode(b"\x03\x04\x02\x04\x00") == [1, 2]


def test_a_value_that_is_nested_too_deeply_is_refused() -> None:
    value: dict[str, Any] = {"v": 1}
    for _ in range(5_000):
        value = {"v": 1, "next": value}
    with pytest.raises(ValueMismatchError, match="nested too deeply"):
        codec(NODE).encode(value)


def test_types_come_from_references() -> None:
    using = codec(record(("c", "c.Colour"), ("n", ["null", "n.Node"])), COLOUR, NODE)
    value = {"c": "RED", "n": {"n.Node": {"v": 3, "next": None}}}
    assert using.decode(using.encode(value)) == value


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not an Avro schema"),
        ("5", "not an Avro schema"),
        ('{"type":"record","name":"R"}', "not an Avro schema .KeyError: 'fields'"),
        ('["null",["int"]]', "may not hold another union"),
        ('{"type":"array","items":"Unknown"}', "uses the type 'Unknown', which neither it nor a reference defines"),
        ('{"type":"array","items":' * 5_000 + '"int"' + "}" * 5_000, "nested too deeply"),
    ],
)
def test_a_schema_that_is_none_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(SerdesError, match=complaint):
        AvroCodec(text)


def test_fastavro_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastavro", None)
    with pytest.raises(MissingLibraryError, match=r"Avro data needs .*'fastavro': pip install 'barnabas\[registry\]'"):
        AvroCodec('"int"')


SEVERAL = ["null", "int", "long", "string", COLOUR, FOUR, {"type": "map", "values": "long"}, NODE]


@pytest.mark.parametrize(
    ("schema", "value", "data"),
    [
        ("bytes", b"\x00\xff", b"\x00\xff"),
        (FOUR, b"\x00\x01\xff\n", b"\x00\x01\xff\n"),
        ("double", -math.inf, b"\x00" * 6 + b"\xf0\xff"),
        (["null", "bytes"], b"\xff", b"\x02\x02\xff"),
        (["string"], "x", b"\x00\x02x"),
        ([], None, None),
        (["null", NODE], {"v": 1, "next": {"v": 2, "next": None}}, b"\x02\x02\x02\x04\x00"),
        # A map may have the name of a type for a key.
        (["null", {"type": "map", "values": "int"}], {"map": 1}, b"\x02\x02\x06map\x02\x00"),
        (SEVERAL, None, b"\x00"),
        (SEVERAL, {"int": 5}, b"\x02\x0a"),
        (SEVERAL, {"long": 5}, b"\x04\x0a"),
        (SEVERAL, {"c.Colour": "RED"}, b"\x08\x00"),
        (SEVERAL, {"Four": b"abcd"}, b"\x0aabcd"),
        (SEVERAL, {"map": {"int": 5}}, b"\x0c\x02\x06int\x0a\x00"),
        (SEVERAL, {"n.Node": {"v": 1, "next": None}}, b"\x0e\x02\x00"),
        # What Avro and fastavro have annotations for is left to those who want it.
        ({"type": "long", "logicalType": "timestamp-millis"}, 1 << 62, b"\x80" * 8 + b"\x80\x01"),
        ({"type": "int", "logicalType": "date"}, -(1 << 31), b"\xff\xff\xff\xff\x0f"),
        ({"type": "string", "logicalType": "uuid"}, "no uuid", b"\x0eno uuid"),
        (
            record(("d", {"type": "bytes", "logicalType": "decimal", "precision": 1, "scale": "x"})),
            {"d": b"\x7f\xff"},
            b"\x04\x7f\xff",
        ),
    ],
)
def test_native_values_there_and_back(schema: object, value: object, data: bytes | None) -> None:
    if data is None:
        with pytest.raises(ValueMismatchError):
            native(schema).encode(value)
        return
    assert native(schema).encode(value) == data
    assert native(schema).decode(data) == value


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ("null", 0),
        ("boolean", 1),
        ("boolean", "x"),
        ("int", True),
        ("int", 1.5),
        ("int", 1 << 31),
        ("float", 1e300),
        ("double", True),
        ("double", "1.5"),
        ({"type": "array", "items": "string"}, "ab"),
        ({"type": "array", "items": "int"}, (1, 2)),
        (["null", "int", "string"], ("int", 1)),
        (FOUR, [1, 2, 3, 4]),
        (record(("a", ["null", "int"])), {}),
        (["null", NODE], {"-type": "n.Node", "next": None}),
    ],
)
def test_what_fastavro_would_write_is_refused(schema: object, value: object) -> None:
    with pytest.raises(ValueMismatchError):
        native(schema).encode(value)


def test_names_of_fields_and_keys_mean_nothing_to_fastavro() -> None:
    schema = [record(("-type", "string")), {"type": "map", "values": "string"}]
    value = {"-type": "map"}
    assert native(schema).decode(native(schema).encode(value)) == {"R": value}
    assert native(schema).decode(native(schema).encode({"map": value})) == {"map": value}


def test_types_of_the_same_name_in_two_schemas_do_not_meet() -> None:
    first, second = (native(record(("inner", {**COLOUR, "symbols": symbols}))) for symbols in (["A"], ["B", "C"]))
    assert first.encode({"inner": "A"}) == second.encode({"inner": "B"}) == b"\x00"
    assert (first.decode(b"\x00"), second.decode(b"\x02")) == ({"inner": "A"}, {"inner": "C"})


def test_a_default_stands_for_a_field_that_is_not_there() -> None:
    schema = record(
        ("b", "bytes", "\xff"), ("u", [FOUR, "null"], "abcd"), ("n", ["null", NODE], None), ("x", "int", "no")
    )
    assert native(schema).decode(native(schema).encode({"x": 1})) == {"b": b"\xff", "u": b"abcd", "n": None, "x": 1}
    with pytest.raises(ValueMismatchError, match="at x: 'no' is not an int of 32 bits"):
        native(schema).encode({})


WIDE = record(
    *(("b", "boolean"), ("i", "int"), ("l", "long"), ("d", "double"), ("s", "string"), ("c", COLOUR)),
    *(("a", {"type": "array", "items": "long"}), ("m", {"type": "map", "values": "string"}), ("u", ["null", "string"])),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LONGS = st.integers(-(1 << 63), (1 << 63) - 1)


@settings(max_examples=200, deadline=None)
@given(
    st.fixed_dictionaries(
        {
            "b": st.booleans(),
            "i": st.integers(-(1 << 31), (1 << 31) - 1),
            "l": LONGS,
            "d": st.floats(allow_nan=False, allow_infinity=False),
            "s": TEXTS,
            "c": st.sampled_from(["RED", "GREEN"]),
            "a": st.lists(LONGS, max_size=5),
            "m": st.dictionaries(TEXTS, TEXTS, max_size=5),
            "u": st.none() | TEXTS,
        }
    )
)
def test_the_bytes_are_those_of_apache(value: dict[str, Any]) -> None:
    data = apache_avro.written(WIDE, value)
    assert native(WIDE).encode(value) == data
    assert native(WIDE).decode(data) == value
    assert codec(WIDE).encode(value) == data
    shown = {**value, "u": value["u"] if value["u"] is None else {"string": value["u"]}}
    assert codec(WIDE).decode(data) == shown


TREE = record(
    ("e", COLOUR),
    ("s", ["null", "string", "int", "R"]),
    ("f", FOUR),
    ("l", {"type": "array", "items": ["null", "R"]}),
    ("m", {"type": "map", "values": {"type": "array", "items": "null"}}),
)
TREE_VALUES = st.recursive(
    st.none() | TEXTS.map(lambda text: {"string": text}) | st.integers(-64, 64).map(lambda number: {"int": number}),
    lambda inner: st.fixed_dictionaries(
        {
            "e": st.sampled_from(["RED", "GREEN"]),
            "s": inner,
            "f": st.binary(min_size=4, max_size=4),
            "l": st.lists(st.none(), max_size=3),
            "m": st.dictionaries(TEXTS, st.lists(st.none(), max_size=3), max_size=3),
        }
    ).map(lambda value: {"R": value}),
    max_leaves=8,
).filter(lambda value: isinstance(value, dict) and "R" in value)


@settings(max_examples=200, deadline=None)
@given(TREE_VALUES, st.data())
def test_broken_data_is_refused_or_read_as_a_value(value: dict[str, Any], data: st.DataObject) -> None:
    whole = native(TREE).encode(value["R"])
    assert native(TREE).decode(whole) == value["R"]
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    strange = st.sampled_from([b"\xff" * 9 + b"\x01", b"\x80" * 12, HUGE_COUNT, b"\x01", b"\xfe\xff\xff\xff\x0f"])
    broken = whole[:start] + data.draw(strange | st.binary(max_size=12)) + whole[end:]
    try:
        found = native(TREE).decode(broken)
    except SerdesError:
        return
    assert native(TREE).decode(native(TREE).encode(found)) == found
    assert apache_avro.read(TREE, broken)["e"] == found["e"]
