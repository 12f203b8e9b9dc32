"""Values as JSON: one case for each type, plain and nested."""

from __future__ import annotations

import decimal
from typing import Any

import orjson
import pytest

from streams_sql.http.values import rows_encoder
from streams_sql.sources import Column
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
)

MS = 1_590_537_598_123
MOMENTS = Struct((Field("T", TIMESTAMP), Field("D", DATE)))


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        (BOOLEAN, True, "true"),
        (INTEGER, -1, "-1"),
        (BIGINT, 2**63 - 1, "9223372036854775807"),
        (BIGINT, None, "null"),
        (DOUBLE, 1.5, "1.5"),
        (DOUBLE, float("nan"), '"NaN"'),
        (DOUBLE, float("inf"), '"Infinity"'),
        (DOUBLE, float("-inf"), '"-Infinity"'),
        (DOUBLE, None, "null"),
        (STRING, 'a"\u2028é', '"a\\"\u2028é"'),
        (STRING, "half \ud83d of it", '"half ? of it"'),
        (BYTES, b"\x00\xff", '"AP8="'),
        (TIME, 3_600_000, '"01:00"'),
        (TIME, 3_661_500, '"01:01:01"'),
        (DATE, 0, '"1970-01-01"'),
        (TIMESTAMP, MS, '"2020-05-26T23:59:58.123"'),
        (TIMESTAMP, -1, '"1969-12-31T23:59:59.999"'),
        (
            Decimal(38, 30),
            decimal.Decimal("12345678.123456789012345678901234567890"),
            "12345678.123456789012345678901234567890",
        ),
        (Decimal(5, 2), decimal.Decimal("0E-2"), "0.00"),
        (Decimal(38, 0), decimal.Decimal("1E+20"), "100000000000000000000"),
        (Array(Decimal(4, 2)), [decimal.Decimal("1.50"), None], "[1.50,null]"),
        (Array(DATE), [1, None], '["1970-01-02",null]'),
        (Array(STRING), ["a", None], '["a",null]'),
        (Map(STRING, BYTES), {"k": b"v", "n": None}, '{"k":"dg==","n":null}'),
        (Map(INTEGER, STRING), {1: "a"}, '{"1":"a"}'),
        (Map(DATE, STRING), {0: "a"}, '{"1970-01-01":"a"}'),
        (Map(Decimal(3, 1), STRING), {decimal.Decimal("1.5"): "a"}, '{"1.5":"a"}'),
        (
            Struct((Field("A", INTEGER), Field("B", Decimal(4, 2)))),
            {"A": 1, "B": decimal.Decimal("2.50")},
            '{"A":1,"B":2.50}',
        ),
        (Struct((Field("A", INTEGER), Field("B", BYTES))), {"A": None, "B": None}, '{"A":null,"B":null}'),
        (MOMENTS, {"T": MS, "D": 1}, f'{{"T":{MS},"D":1}}'),
        (Array(MOMENTS), [{"T": 0, "D": None}], '[{"T":0,"D":null}]'),
    ],
    ids=str,
)
def test_a_value_is_written_as_clients_read_it(type_: SqlType, value: Any, text: str) -> None:
    encode = rows_encoder([Column("V", type_), Column("LAST", STRING)])
    (row,) = encode([(value, "x")])
    assert row.decode() == f'[{text},"x"]'
    orjson.loads(row)


def test_rows_are_left_as_they_were() -> None:
    rows = [(b"x", "kept")]
    encode = rows_encoder([Column("B", BYTES), Column("S", STRING)])
    assert encode(rows) == encode(rows) == [b'["eA==","kept"]']
    assert rows == [(b"x", "kept")]
