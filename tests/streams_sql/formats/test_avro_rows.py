"""Functions that are written out for plain Avro records do what the kernel's codec does, or leave it to that."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.kernel.serdes.avro import AvroCodec
from barnabas.kernel.serdes.avro_types import parse_types
from barnabas.kernel.serdes.serdes_error import SerdesError
from streams_sql.formats.avro.columns import column_reader
from streams_sql.formats.avro.reading import read_avro_schema
from streams_sql.formats.avro.rows import plain_writer
from streams_sql.formats.avro.writing import avro_row_writer
from streams_sql.formats.written import row_reader
from streams_sql.sources import Column
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, INTEGER, STRING, TIMESTAMP, SqlType

PREFIX = b"\0\0\0\0\7"
INTS = st.integers(-(2**31), 2**31 - 1)
LONGS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
KINDS: dict[str, tuple[SqlType, st.SearchStrategy[Any]]] = {
    "boolean": (BOOLEAN, st.booleans()),
    "int": (INTEGER, INTS),
    "long": (BIGINT, LONGS),
    "double": (DOUBLE, st.floats(allow_nan=False)),
    "string": (STRING, TEXTS),
}


@st.composite
def records(draw: st.DrawFn) -> tuple[str, list[Column], tuple[Any, ...]]:
    """A schema, columns in another order than its fields, and a row of them."""
    fields, columns, row = [], [], []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=8))):
        form: Any = draw(st.sampled_from([kind, ["null", kind], [kind, "null"], {"type": kind}]))
        type_, values = KINDS[kind]
        fields.append({"name": f"F{number}", "type": form})
        columns.append(Column(f"F{number}", type_))
        row.append(draw(st.none() | values if isinstance(form, list) else values))
    order = draw(st.permutations(range(len(fields))))
    schema = json.dumps({"type": "record", "name": "R", "fields": fields})
    return schema, [columns[place] for place in order], tuple(row[place] for place in order)


@given(records())
def test_records_are_written_and_read_as_the_codec_does_it(given: tuple[str, list[Column], tuple[Any, ...]]) -> None:
    schema, columns, row = given
    part, codec = read_avro_schema(schema), AvroCodec(schema)
    assert part is not None
    write = plain_writer(parse_types(schema), columns, b"")
    assert write is not None
    body = codec.encode(avro_row_writer(schema, (), columns)(row))
    assert write([row, row]) == [body, body]
    assert row_reader(part, columns)(codec.decode(body)) == row


def test_numbers_of_all_lengths_are_written_as_the_codec_does_it() -> None:
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "F", "type": "long"}]})
    write, codec = plain_writer(parse_types(schema), [Column("F", BIGINT)], PREFIX), AvroCodec(schema)
    assert write is not None
    bounds = [2**bits + more for bits in range(63) for more in (-1, 0, 1)]
    numbers = [*bounds, *(-bound for bound in bounds)]
    assert write([(number,) for number in numbers]) == [PREFIX + codec.encode({"F": number}) for number in numbers]


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 2**40])
def test_an_int_of_more_than_32_bits_is_no_int(number: int) -> None:
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "F", "type": "int"}]})
    kind, part, columns = parse_types(schema), read_avro_schema(schema), [Column("F", INTEGER)]
    assert part is not None
    body = AvroCodec(schema.replace('"int"', '"long"')).encode({"F": number})
    read_columns = column_reader(kind, part, columns, PREFIX)
    assert read_columns is not None
    assert read_columns([PREFIX + body]) is None
    with pytest.raises(SerdesError, match="more than 32 bits"):
        AvroCodec(schema).decode(body)


@st.composite
def many_records(draw: st.DrawFn) -> tuple[str, list[Column], list[tuple[Any, ...]]]:
    """A schema, its columns, and rows of them."""
    schema, columns, row = draw(records())
    kinds = {field["name"]: field["type"] for field in json.loads(schema)["fields"]}
    rows = [row]
    for _ in range(draw(st.integers(0, 4))):
        values = []
        for column in columns:
            form = kinds[column.name]
            (name,) = [kind for kind, (type_, _) in KINDS.items() if type_ == column.type]
            values.append(draw(st.none() | KINDS[name][1] if isinstance(form, list) else KINDS[name][1]))
        rows.append(tuple(values))
    return schema, columns, rows


@given(many_records(), st.data())
def test_columns_are_those_of_the_records_one_by_one(
    given: tuple[str, list[Column], list[tuple[Any, ...]]], data: st.DataObject
) -> None:
    schema, columns, rows = given
    kind, part, codec = parse_types(schema), read_avro_schema(schema), AvroCodec(schema)
    assert part is not None
    decode = column_reader(kind, part, columns, PREFIX)
    assert decode is not None
    payloads = [PREFIX + codec.encode(avro_row_writer(schema, (), columns)(row)) for row in rows]
    found = decode(payloads)
    if found is not None:
        assert repr(list(zip(*found, strict=True))) == repr(rows)
    else:
        assert any(isinstance(value, int) and abs(value) >= 2**62 for row in rows for value in row)
    place = data.draw(st.integers(0, len(rows) - 1))
    payload = payloads[place]
    broken = data.draw(
        st.one_of(
            st.integers(0, len(payload)).map(lambda end: payload[:end]),
            st.binary(min_size=1, max_size=3).map(lambda more: payload + more),
            st.binary(max_size=len(payload)).map(lambda body: PREFIX + body),
            st.integers(5, len(payload) - 1).flatmap(
                lambda at: st.integers(0, 255).map(lambda byte: payload[:at] + bytes((byte,)) + payload[at + 1 :])
            ),
            st.just(PREFIX[:-1] + b"\1" + payload[5:]),
            st.none(),
        )
    )
    found = decode([*payloads[:place], broken, *payloads[place + 1 :]])
    if found is not None:
        read = row_reader(part, columns)
        assert broken is not None
        assert broken.startswith(PREFIX)
        expected = read(codec.decode(broken[len(PREFIX) :]))
        assert repr(list(zip(*found, strict=True))) == repr([*rows[:place], expected, *rows[place + 1 :]])


def test_texts_that_are_not_ascii_and_fields_that_no_column_asks_for() -> None:
    fields = [{"name": "a", "type": "string"}, {"name": "b", "type": "float"}, {"name": "c", "type": ["null", "long"]}]
    schema = json.dumps({"type": "record", "name": "R", "fields": fields})
    part = read_avro_schema(schema)
    assert part is not None
    columns = [Column("C", BIGINT), Column("MISSING", STRING), Column("A", STRING)]
    decode = column_reader(parse_types(schema), part, columns, PREFIX)
    assert decode is not None
    encode = AvroCodec(schema).encode
    payloads = [
        PREFIX + encode({"a": "é", "b": 0.5, "c": None}),
        PREFIX + encode({"a": "", "b": 1.0, "c": 7}),
    ]
    assert decode(payloads) == [[None, 7], (None, None), ["é", ""]]


@pytest.mark.parametrize(
    ("form", "type_"),
    [
        ("bytes", STRING),
        ({"type": "array", "items": "int"}, STRING),
        (["null", "int", "string"], STRING),
        (["string"], STRING),
        ({"type": "long", "logicalType": "timestamp-micros"}, TIMESTAMP),
        ("long", STRING),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, STRING),
    ],
    ids=str,
)
def test_what_is_not_plain_is_left_to_the_codec(form: Any, type_: SqlType) -> None:
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "F", "type": form}]})
    part = read_avro_schema(schema)
    assert part is not None
    try:
        made = column_reader(parse_types(schema), part, [Column("F", type_)], PREFIX)
    except ValueError:
        made = None
    assert made is None


@pytest.mark.parametrize(
    ("form", "type_"), [("int", BIGINT), ("float", DOUBLE), (["string"], STRING), ("string", BIGINT)], ids=str
)
def test_what_may_not_fit_is_written_by_the_codec(form: Any, type_: SqlType) -> None:
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "F", "type": form}]})
    assert plain_writer(parse_types(schema), [Column("F", type_)], b"") is None


def test_a_field_that_no_column_fills_is_left_to_the_codec() -> None:
    fields = [{"name": "F", "type": "int"}, {"name": "G", "type": "int", "default": 1}]
    schema = json.dumps({"type": "record", "name": "R", "fields": fields})
    assert plain_writer(parse_types(schema), [Column("F", INTEGER)], b"") is None


def test_null_where_none_may_be_is_an_error() -> None:
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "F", "type": "string"}]})
    write = plain_writer(parse_types(schema), [Column("F", STRING)], b"")
    assert write is not None
    with pytest.raises(AttributeError):
        write([(None,)])
    with pytest.raises(SerdesError):
        AvroCodec(schema).encode({"F": None})
