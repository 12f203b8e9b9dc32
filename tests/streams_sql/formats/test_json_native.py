"""JSON in Spark's SQL gives what the decoder and the encoder give, on real Spark."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from streams_sql.formats.json.native import json_decoding, json_encoding
from streams_sql.formats.json.reading import json_decoder
from streams_sql.formats.json.writing import json_encoder
from streams_sql.formats.serde import Layout, Undecodable, Values
from streams_sql.formats.spark_texts import text_literal
from streams_sql.formats.spark_types import spark_type
from streams_sql.sources import Column, FormatUse
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Field,
    Map,
    SqlType,
    Struct,
    quoted,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECORDS = 400
TYPES: dict[str, SqlType] = {
    "B": BOOLEAN,
    "I": INTEGER,
    "L": BIGINT,
    "D": DOUBLE,
    "S": STRING,
    "T": TIME,
    "DT": DATE,
    "TS": TIMESTAMP,
}
# What no reader may take for something else; each is put where a value of a column stands.
VALUES = (
    *(
        "null",
        "true",
        "false",
        "0",
        "1",
        "-1",
        "2147483648",
        "-9223372036854775808",
        "86400000",
        "86400001",
        "1.5",
        "-2.75",
    ),
    *(
        "0.0",
        "1e5",
        "1E-7",
        "4503599627370497.5",
        '"1"',
        '"+7"',
        '"-2147483648"',
        '"2147483648"',
        '"1.5"',
        '" 1"',
        '"x"',
        '""',
    ),
    *('"true"', '"ä😀"', '"a\\nb\\u00e9"', "[1, 2]", '{"a": 1}', "-0"),
)
# These are read as well, but Spark leaves them to Python where a column wants something else of them.
LEFT_TO_PYTHON: dict[SqlType, tuple[str, ...]] = {
    DOUBLE: ('" 1"',),
    STRING: ("1.5", "-2.75", "0.0", "1e5", "1E-7", "4503599627370497.5", "[1, 2]", '{"a": 1}'),
}
WHOLE = (
    b"",
    b" ",
    b"null",
    b"5",
    b"[1]",
    b'"x"',
    b"{}",
    b" {} ",
    b'{"i":1',
    b'{"i":1} and more',
    b'{"i":1}{"i":2}',
    b"{'i':1}",
    b'{"i":NaN}',
    b'{"i":01}',
    b'{"i":+1}',
    b'{"i":.5}',
    b"{i:1}",
    b'{/* no */"i":1}',
    b'{"i":1,}',
    b'\xef\xbb\xbf{"i":1}',
    b'\xff{"i":1}',
    b'{"s":"\xff"}',
    b'{"s":"\\ud800"}',
    b'{"s":"a\tb"}',
    b'{"i":1,"i":2}',
    b'{"i":1,"I":2}',
    b'{"I":1,"i":2}',
    b'{"dt":1,"Dt":2}',
    b'{"Dt":1,"dt":2}',
    b'{"I":null,"i":2}',
    b'{"more":{"x":1,"x":2},"i":3}',
    b'{"i":99999999999}',
    b'{"i":-2147483649}',
    b'{"i":-2147483648}',
    b'{"i":2147483647.9}',
    b'{"i":1e10}',
    b'{"i":"99999999999"}',
    b'{"dt":2147483648}',
    b'{"d":1e400}',
    b'{"d":-1e300}',
    '{"\u0131":1,"ß":2,"i":3}'.encode(),
)


def layout(types: dict[str, SqlType]) -> Layout:
    columns = tuple(Column(name, type_) for name, type_ in types.items())
    return Layout(FormatUse("JSON", is_wrapped=True), columns, "t", is_key=False)


def made_records() -> list[bytes]:
    choice = random.Random(5)
    records = []
    for _ in range(RECORDS):
        fields = []
        for name, type_ in TYPES.items():
            if choice.random() < 0.5:
                spelt = choice.choice((name, name.lower(), name.capitalize()))
                allowed = [value for value in VALUES if value not in LEFT_TO_PYTHON.get(type_, ())]
                fields.append(f'"{spelt}":{choice.choice(allowed)}')
        choice.shuffle(fields)
        records.append(f"{{{', '.join(fields)}}}".encode())
    return records


def native_rows(spark: SparkSession, records: list[bytes], read: Layout) -> list[Values | None]:
    text = json_decoding(read)
    assert text is not None
    session = spark.newSession()
    session.conf.set("spark.sql.variant.allowDuplicateKeys", "true")
    frame = session.createDataFrame(
        [(record, 0, place) for place, record in enumerate(records)], "value binary, partition int, offset bigint"
    )
    decoded = frame.selectExpr("offset", f"{text.replace('{payload}', 'value')} AS row").orderBy("offset")
    return [None if row["row"] is None else tuple(row["row"]) for row in decoded.collect()]


def test_records_are_read_as_the_decoder_reads_them(spark: SparkSession) -> None:
    records = [*WHOLE, *made_records()]
    read = layout(TYPES)
    expected = [None if isinstance(row, Undecodable) else row for row in json_decoder(read)(records)]
    found = native_rows(spark, records, read)
    differences = [
        f"{record!r}: {native!r} in Spark, {wanted!r} by the decoder"
        for record, native, wanted in zip(records, found, expected, strict=True)
        if repr(native) != repr(wanted)
    ]
    assert not differences, "\n".join(differences)
    assert sum(row is not None for row in expected) > RECORDS // 10


@pytest.mark.parametrize(
    ("column", "value"),
    [("S", "1.0"), ("S", "[1]"), ("L", "1e300"), ("L", '"12345678901234567890123"'), ("D", '"1e5"'), ("D", "-0.0")],
)
def test_what_only_the_decoder_reads_rightly_is_left_to_it(spark: SparkSession, column: str, value: str) -> None:
    from pyspark.errors import PySparkException

    record = f'{{"{column}":{value}}}'.encode()
    with pytest.raises(PySparkException, match=r"NeedsPython: \[partition=0 offset=0\] "):
        native_rows(spark, [record], layout({column: TYPES[column]}))


@pytest.mark.parametrize("type_", [BYTES, Decimal(10, 2), Array(INTEGER), Struct((Field("A", INTEGER),))], ids=str)
def test_columns_that_spark_reads_by_other_rules_have_no_native_form(type_: SqlType) -> None:
    assert json_decoding(layout({"A": type_})) is None


def test_rows_are_written_as_the_encoder_writes_them(spark: SparkSession) -> None:
    types = {
        **TYPES,
        "A": Array(STRING),
        "M": Map(STRING, DOUBLE),
        "R": Struct((Field("X", INTEGER), Field("y", STRING))),
    }
    written = layout(types)
    text = json_encoding(written)
    assert text is not None
    rows: list[Any] = [
        (True, 1, 2**40, 1.5, 'a"b\\ä😀\n\x01', 5, 6, 7, ["a", None], {"k": 1e7}, {"X": 1, "y": None}),
        (None,) * len(types),
        (False, -1, -1, -0.0, "", 0, -1, -5, [], {"n": None}, {"X": None, "y": ""}),
        (True, 0, 0, float("nan"), "/", 0, 0, 0, None, {"i": float("inf"), "j": float("-inf")}, None),
        (True, 0, 0, 1e-5, "\x7f\u2028", 0, 0, 0, None, {"i": 123456789.125, "j": 1e300}, None),
    ]
    schema = ", ".join(f"{quoted(name)} {spark_type(type_)}" for name, type_ in types.items())
    fields = ", ".join(f"{text_literal(name)}, {quoted(name)}" for name in types)
    row = f"named_struct({fields})"
    plain = [
        tuple(tuple(v.values()) if name == "R" and v else v for name, v in zip(types, row, strict=True)) for row in rows
    ]
    found = spark.createDataFrame(plain, schema).selectExpr(f"{text.replace('{row}', row)} AS value").collect()
    expected = json_encoder(written)(rows)
    assert [json.loads(bytes(each["value"])) for each in found] == [json.loads(each or b"") for each in expected]
    assert bytes(found[0]["value"]) == expected[0]
