"""Logical types of Avro as text, there and back, and texts that are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from barnabas.cli.records.avro_texts import READABLE
from barnabas.kernel.serdes.avro import AvroCodec
from barnabas.kernel.serdes.serdes_error import ValueMismatchError


def logical(kind: str, logical_type: str, /, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": logical_type, **more}


def codecs(schema: Any) -> tuple[AvroCodec, AvroCodec]:
    """The codec for people, and the one that has what is underneath."""
    text = json.dumps({"type": "record", "name": "R", "fields": [{"name": "f", "type": schema}]})
    return AvroCodec(text, form=READABLE), AvroCodec(text)


@pytest.mark.parametrize(
    ("schema", "shown", "held"),
    [
        (logical("int", "date"), "1969-12-31", -1),
        (logical("int", "time-millis"), "01:02:03", 3_723_000),
        (logical("int", "time-millis"), "23:59:59.999", 86_399_999),
        (logical("long", "time-micros"), "00:00:00.000001", 1),
        (logical("long", "timestamp-millis"), "2026-01-31T12:00:00Z", 1_769_860_800_000),
        (logical("long", "timestamp-millis"), "1969-12-31T23:59:59.999Z", -1),
        (logical("long", "timestamp-micros"), "1970-01-01T00:00:00.000250Z", 250),
        (logical("long", "timestamp-nanos"), "1970-01-01T00:00:00.000000001Z", 1),
        (logical("long", "local-timestamp-millis"), "1970-01-01T00:00:01", 1_000),
        (logical("bytes", "decimal", precision=9, scale=2), "-12.50", b"\xfb\x1e"),
        (logical("bytes", "decimal", precision=9), "300", b"\x01\x2c"),
        (logical("bytes", "decimal", precision=4, scale=2), "-99.99", b"\xd8\xf1"),
        (logical("fixed", "decimal", name="F", size=4, scale=3), "-0.001", b"\xff\xff\xff\xff"),
        (
            logical("fixed", "uuid", name="U", size=16),
            "00112233-4455-6677-8899-aabbccddeeff",
            bytes(range(0, 256, 17)),
        ),
        (logical("string", "uuid"), "any text", "any text"),
        (["null", "int", logical("long", "timestamp-millis")], "1970-01-01T00:00:00.005Z", {"long": 5}),
        (["null", "string"], "x", "x"),
        ("bytes", "\xff", b"\xff"),
        ("float", 0.1, 0.10000000149011612),
        ("double", "NaN", None),
        # What no calendar has stays a number.
        (logical("int", "date"), -(1 << 31), -(1 << 31)),
        (logical("int", "time-millis"), 86_400_000, 86_400_000),
        (logical("long", "timestamp-millis"), 1 << 62, 1 << 62),
    ],
)
def test_what_is_shown_is_taken(schema: Any, shown: Any, held: Any) -> None:
    people, native = codecs(schema)
    data = people.encode({"f": shown})
    assert people.decode(data) == {"f": shown}
    assert held is None or native.decode(data) == {"f": held}


@pytest.mark.parametrize(
    ("schema", "given", "shown"),
    [
        (logical("int", "date"), 3, "1970-01-04"),
        (logical("long", "timestamp-millis"), "2026-01-31T14:00:00+02:00", "2026-01-31T12:00:00Z"),
        (logical("long", "timestamp-millis"), "2026-01-31", "2026-01-31T00:00:00Z"),
        (logical("bytes", "decimal", precision=9, scale=2), 12.5, "12.50"),
        (logical("bytes", "decimal", precision=9, scale=2), 7, "7.00"),
        (["null", logical("int", "date")], {"int": "1970-01-02"}, "1970-01-02"),
    ],
)
def test_other_ways_to_write_them(schema: Any, given: Any, shown: Any) -> None:
    people, _ = codecs(schema)
    assert people.decode(people.encode({"f": given})) == {"f": shown}


@pytest.mark.parametrize(
    ("schema", "given", "reason"),
    [
        (logical("int", "date"), "31.1.2026", "at f: '31.1.2026' is not a date such as 2026-01-31"),
        (logical("long", "timestamp-millis"), "1970-01-01T00:00:00.0001Z", "is not a time such as"),
        (logical("int", "time-millis"), "25:00", "at f: '25:00' is not a time such as 12:00:00"),
        (logical("bytes", "decimal", precision=9, scale=2), "1.234", "is not a decimal with 2 digits"),
        (logical("bytes", "decimal", precision=9, scale=2), "NaN", "is not a decimal with 2 digits"),
        (logical("bytes", "decimal", precision=9, scale=2), "x", "is not a decimal with 2 digits"),
        (
            logical("bytes", "decimal", precision=4, scale=2),
            "-100.00",
            "is not a decimal of 4 digits, 2 of them behind",
        ),
        (logical("fixed", "decimal", name="F", size=4, precision=4), 10_000, "is not a decimal of 4 digits"),
        (logical("fixed", "decimal", name="F", size=1, scale=0), "300", "F has 1 bytes, this has 2"),
        (logical("fixed", "uuid", name="U", size=16), "x", "'x' is not a UUID"),
    ],
)
def test_texts_that_are_none(schema: Any, given: Any, reason: str) -> None:
    with pytest.raises(ValueMismatchError, match=reason):
        codecs(schema)[0].encode({"f": given})


def test_a_decimal_beyond_all_bounds_is_shown_as_its_bytes() -> None:
    people, native = codecs(logical("bytes", "decimal", precision=9, scale=10**9))
    assert people.decode(native.encode({"f": b"\xff"})) == {"f": "\xff"}
    people, native = codecs(logical("bytes", "decimal", precision=9, scale=2))
    long = b"\x7f" * 100_000
    assert people.decode(native.encode({"f": long})) == {"f": long.decode("latin-1")}


def test_a_default_is_what_the_schema_says() -> None:
    schema = logical("bytes", "decimal", precision=9, scale=2)
    text = {"type": "record", "name": "R", "fields": [{"name": "f", "type": schema, "default": "1"}]}
    codec = AvroCodec(json.dumps(text), form=READABLE)
    # The byte of the letter, not the number.
    assert codec.decode(codec.encode({})) == {"f": "0.49"}
