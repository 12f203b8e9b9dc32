"""An example of every function, from the text of a call to its value or its rows."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import pytest

from streams_sql.analysis.calls import scalar_call, typed_call
from streams_sql.analysis.type_inference import TypeInference
from streams_sql.evaluation.compiler import compile_expression
from streams_sql.functions.library import LIBRARY
from streams_sql.functions.resolution import resolve_aggregate
from streams_sql.language.expressions import FunctionCall
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import Query, SelectColumn
from streams_sql.sql_types import BIGINT, DOUBLE, INTEGER, STRING, Array, SqlType

SCALARS: dict[str, Any] = {
    "ABS(-5)": 5,
    "ACOS(1)": 0.0,
    "ASIN(0)": 0.0,
    "ATAN(0)": 0.0,
    "ATAN2(0, 1)": 0.0,
    "CBRT(27)": 3.0,
    "CEIL(1.2)": Decimal("2.0"),
    "COS(0)": 1.0,
    "COSH(0)": 1.0,
    "COT(0.7853981633974483)": 1.0000000000000002,
    "DEGREES(PI())": 180.0,
    "EXP(0)": 1.0,
    "FLOOR(-1.2)": Decimal("-2.0"),
    "GREATEST(1, 3, 2)": 3,
    "LEAST(1.5, 3.5)": Decimal("1.5"),
    "LN(1)": 0.0,
    "LOG(2, 8)": 3.0,
    "PI()": 3.141592653589793,
    "POWER(2, 10)": 1024.0,
    "RADIANS(180)": 3.141592653589793,
    "ROUND(2.567, 1)": Decimal("2.600"),
    "SIGN(-7)": -1,
    "SIN(0)": 0.0,
    "SINH(0)": 0.0,
    "SQRT(16)": 4.0,
    "TAN(0)": 0.0,
    "TANH(0)": 0.0,
    "TRUNC(-2.567, 2)": Decimal("-2.560"),
    "CHR(65)": "A",
    "CONCAT('a', 'b', NULL)": "ab",
    "CONCAT_WS('-', 'a', NULL, 'b')": "a-b",
    "ELT(2, 'a', 'b')": "b",
    "ENCODE('41', 'hex', 'ascii')": "A",
    "FIELD('b', 'a', 'b')": 2,
    "FROM_BYTES(TO_BYTES('48656c6c6f', 'hex'), 'utf8')": "Hello",
    "INITCAP('the quick FOX')": "The Quick Fox",
    "INSTR('corporate floor', 'or', 3, 2)": 14,
    "LCASE('AbC')": "abc",
    "LEN('four')": 4,
    "LPAD('7', 3, '0')": "007",
    "MASK('Ab-12')": "Xx-nn",
    "MASK_KEEP_LEFT('Ab-12', 2)": "Ab-nn",
    "MASK_KEEP_RIGHT('Ab-12', 2)": "Xx-12",
    "MASK_LEFT('Ab-12', 2)": "Xx-12",
    "MASK_RIGHT('Ab-12', 2)": "Ab-nn",
    "MD5('a')": "0cc175b9c0f1b6a831c399e269772661",
    "REPLACE('banana', 'an', 'o')": "booa",
    "RPAD('7', 3, '0')": "700",
    "SPLIT('a.b.', '.')": ["a", "b", ""],
    "SPLIT_TO_MAP('a=1&b=2', '&', '=')": {"a": "1", "b": "2"},
    "SUBSTRING('stream', -3, 2)": "ea",
    "TO_BYTES('hi', 'ascii')": b"hi",
    "TRIM('  x ')": "x",
    "UCASE('aé')": "AÉ",
    "INT_FROM_BYTES(TO_BYTES('00000102', 'hex'))": 258,
    "BIGINT_FROM_BYTES(TO_BYTES('0201000000000000', 'hex'), 'LITTLE_ENDIAN')": 258,
    "DOUBLE_FROM_BYTES(TO_BYTES('3ff8000000000000', 'hex'))": 1.5,
    r"REGEXP_EXTRACT('(\w+)@(\w+)', 'me@home', 2)": "home",
    "REGEXP_EXTRACT_ALL('[0-9]+', 'a1b22')": ["1", "22"],
    "REGEXP_REPLACE('a1b22', '[0-9]+', '#')": "a#b#",
    "REGEXP_SPLIT_TO_ARRAY('a1b22c', '[0-9]+')": ["a", "b", "c"],
    "ARRAY_CONCAT(ARRAY[1], ARRAY[2, 1])": [1, 2, 1],
    "ARRAY_CONTAINS(ARRAY['a', 'b'], 'b')": True,
    "ARRAY_DISTINCT(ARRAY[1, 2, 1])": [1, 2],
    "ARRAY_EXCEPT(ARRAY[1, 2, 1, 3], ARRAY[2])": [1, 3],
    "ARRAY_INTERSECT(ARRAY[1, 2, 1], ARRAY[1, 3])": [1],
    "ARRAY_JOIN(ARRAY['a', NULL, 'b'], '+')": "a+null+b",
    "ARRAY_LENGTH(ARRAY[1, NULL])": 2,
    "ARRAY_MAX(ARRAY[1, 3, NULL])": 3,
    "ARRAY_MIN(ARRAY['b', 'a'])": "a",
    "ARRAY_REMOVE(ARRAY[1, 2, 1], 1)": [2],
    "ARRAY_SORT(ARRAY[2, NULL, 3, 1], 'DESC')": [3, 2, 1, None],
    "ARRAY_UNION(ARRAY[1, 2], ARRAY[2, 3])": [1, 2, 3],
    "GENERATE_SERIES(5, 1, -2)": [5, 3, 1],
    "SLICE(ARRAY[1, 2, 3, 4], 2, 3)": [2, 3],
    "AS_MAP(ARRAY['a', 'b'], ARRAY[1, 2])": {"a": 1, "b": 2},
    "ENTRIES(MAP('b' := 2, 'a' := 1), TRUE)": [{"K": "a", "V": 1}, {"K": "b", "V": 2}],
    "MAP_KEYS(MAP('a' := 1))": ["a"],
    "MAP_UNION(MAP('a' := 1, 'b' := 2), MAP('b' := 3))": {"a": 1, "b": 3},
    "MAP_VALUES(MAP('a' := 1))": [1],
    "EXTRACTJSONFIELD('{\"a\":{\"b\":[1,2]}}', '$.a.b[1]')": "2",
    "IS_JSON_STRING('[1')": False,
    "JSON_ARRAY_CONTAINS('[1, \"x\"]', 'x')": True,
    "JSON_ARRAY_LENGTH('[1, [2, 3]]')": 2,
    "JSON_CONCAT('{\"a\":1}', '{\"b\":2}')": '{"a":1,"b":2}',
    "JSON_ITEMS('[1, {\"a\": 2}]')": ["1", '{"a":2}'],
    'JSON_KEYS(\'{"a":1,"b":2}\')': ["a", "b"],
    'JSON_RECORDS(\'{"a":1,"b":"x"}\')': {"a": "1", "b": "x"},
    "TO_JSON_STRING(ARRAY[1, NULL])": "[1,null]",
    "CONVERT_TZ(FROM_UNIXTIME(0), 'UTC', 'Asia/Kolkata')": 19800000,
    "DATEADD(DAYS, 3, FROM_DAYS(0))": 3,
    "DATESUB(DAYS, 1, FROM_DAYS(31))": 30,
    "DATETOSTRING(0, 'yyyy-MM-dd')": "1970-01-01",
    "FORMAT_DATE(FROM_DAYS(365), 'dd.MM.yy')": "01.01.71",
    "FORMAT_TIME(PARSE_TIME('10:11', 'HH:mm'), 'HHmm')": "1011",
    "FORMAT_TIMESTAMP(FROM_UNIXTIME(1500), 'ss.SSS', 'UTC')": "01.500",
    "FROM_DAYS(10)": 10,
    "FROM_UNIXTIME(1000)": 1000,
    "PARSE_DATE('1970-01-11', 'yyyy-MM-dd')": 10,
    "PARSE_TIME('00:00:01', 'HH:mm:ss')": 1000,
    "PARSE_TIMESTAMP('1970-01-02 00', 'yyyy-MM-dd HH', 'UTC')": 86400000,
    "STRINGTODATE('1970-02-01', 'yyyy-MM-dd')": 31,
    "STRINGTOTIMESTAMP('1970-01-01 01', 'yyyy-MM-dd HH', 'Europe/Berlin')": 0,
    "TIMEADD(SECONDS, 5, PARSE_TIME('23:59:58', 'HH:mm:ss'))": 3000,
    "TIMESUB(MINUTES, 1, PARSE_TIME('00:00:30', 'HH:mm:ss'))": 86370000,
    "TIMESTAMPADD(HOURS, 2, FROM_UNIXTIME(0))": 7200000,
    "TIMESTAMPSUB(MILLISECONDS, 1, FROM_UNIXTIME(0))": -1,
    "TIMESTAMPTOSTRING(0, 'yyyy-MM-dd HH:mm', 'Asia/Tokyo')": "1970-01-01 09:00",
    "UNIX_DATE(FROM_DAYS(7))": 7,
    "UNIX_TIMESTAMP(FROM_UNIXTIME(7))": 7,
    "URL_DECODE_PARAM('a%20b%2Bc')": "a b+c",
    "URL_ENCODE_PARAM('a b+c')": "a+b%2Bc",
    "URL_EXTRACT_FRAGMENT('http://h/p#part')": "part",
    "URL_EXTRACT_HOST('https://u@h.org:8080/p')": "h.org",
    "URL_EXTRACT_PARAMETER('http://h/?a=1&b=x%20y', 'b')": "x y",
    "URL_EXTRACT_PATH('http://h/p/q?a=1')": "/p/q",
    "URL_EXTRACT_PORT('http://h:8080/')": 8080,
    "URL_EXTRACT_PROTOCOL('ftp://h/')": "ftp",
    "URL_EXTRACT_QUERY('http://h/?a=1&b=2')": "a=1&b=2",
    "COALESCE(CAST(NULL AS INT), 2)": 2,
    "IFNULL(CAST(NULL AS INT), 5)": 5,
    "NULLIF(5, 5)": None,
    "AS_VALUE('x')": "x",
    "GEO_DISTANCE(0.0, 0.0, 0.0, 180.0)": 20015.086796020572,
    "FILTER(ARRAY[1, 2, 3], x => x > 1)": [2, 3],
    "REDUCE(ARRAY[1, 2, 3], 10, (s, x) => s + x)": 16,
    "TRANSFORM(ARRAY[1, 2], x => x * x)": [1, 4],
}
TABLES: dict[str, list[Any]] = {
    "EXPLODE(ARRAY[1, NULL])": [1, None],
    "EXPLODE(ARRAY[1.5])": [Decimal("1.5")],
    "CUBE_EXPLODE(ARRAY[1, 2])": [[None, None], [None, 2], [1, None], [1, 2]],
}
BY_CHANCE = {"RANDOM": r"0\.[0-9]+(e-[0-9]+)?", "UUID": "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"}

AGGREGATES: dict[str, tuple[tuple[SqlType, ...], list[tuple[Any, ...]], tuple[Any, ...], Any]] = {
    "ATTR": ((INTEGER,), [(1,), (1,)], (), 1),
    "AVG": ((INTEGER,), [(1,), (2,), (None,)], (), 1.5),
    "COLLECT_LIST": ((INTEGER,), [(1,), (None,), (1,)], (10,), [1, None, 1]),
    "COLLECT_SET": ((INTEGER,), [(1,), (2,), (1,)], (10,), [1, 2]),
    "CORRELATION": ((DOUBLE, DOUBLE), [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)], (), 1.0),
    "COUNT": ((STRING,), [("a",), (None,), ("a",)], (), 2),
    "COUNT_DISTINCT": ((STRING,), [("a",), ("b",), ("a",)], (), 2),
    "EARLIEST_BY_OFFSET": ((STRING,), [(None,), ("a",), ("b",)], (), "a"),
    "HISTOGRAM": ((STRING,), [("a",), ("b",), ("a",)], (), {"a": 2, "b": 1}),
    "LATEST_BY_OFFSET": ((STRING,), [("a",), ("b",), (None,)], (), "b"),
    "MAX": ((BIGINT,), [(3,), (7,), (None,)], (), 7),
    "MIN": ((BIGINT,), [(3,), (7,), (None,)], (), 3),
    "STDDEV_SAMP": ((INTEGER,), [(2,), (4,)], (), 2.0),
    "STDDEV_SAMPLE": ((INTEGER,), [(2,), (4,)], (), math.sqrt(2)),
    "SUM": ((INTEGER,), [(2,), (None,), (4,)], (), 6),
    "SUM_LIST": ((Array(INTEGER),), [([1, 2],), ([3, None],)], (), 6),
    "TOPK": ((INTEGER, INTEGER), [(1,), (3,), (3,), (2,)], (2,), [3, 3]),
    "TOPKDISTINCT": ((INTEGER, INTEGER), [(1,), (3,), (3,), (2,)], (2,), [3, 2]),
}


def call_of(text: str) -> FunctionCall:
    query = parse_statement(f"SELECT {text} FROM s")
    assert isinstance(query, Query)
    (item,) = query.select
    assert isinstance(item, SelectColumn)
    assert isinstance(item.expression, FunctionCall)
    return item.expression


def test_every_function_has_an_example() -> None:
    assert {call_of(text).name for text in SCALARS} | set(BY_CHANCE) == set(LIBRARY.scalars)
    assert {call_of(text).name for text in TABLES} == set(LIBRARY.tables)
    assert set(AGGREGATES) == set(LIBRARY.aggregates)


@pytest.mark.parametrize(("text", "value"), SCALARS.items(), ids=SCALARS)
def test_a_scalar_function(text: str, value: Any) -> None:
    found = compile_expression(TypeInference({}, scalar_call).of(call_of(text)), ())(())
    assert found == pytest.approx(value) if isinstance(value, float) else found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(("text", "rows"), TABLES.items(), ids=TABLES)
def test_a_table_function(text: str, rows: list[Any]) -> None:
    call = call_of(text)
    typed = typed_call(TypeInference({}, scalar_call), call, LIBRARY.tables[call.name])
    assert compile_expression(typed, ())(()) == rows


@pytest.mark.parametrize(("name", "pattern"), BY_CHANCE.items())
def test_a_function_that_gives_what_it_likes(name: str, pattern: str) -> None:
    give = compile_expression(TypeInference({}, scalar_call).of(call_of(f"{name}()")), ())
    assert re.fullmatch(pattern, str(give(())))
    assert give(()) != give(())


@pytest.mark.parametrize("name", AGGREGATES)
def test_an_aggregate(name: str) -> None:
    types, rows, constants, value = AGGREGATES[name]
    resolved = resolve_aggregate(LIBRARY.aggregates[name], types)
    accumulator = resolved.overload.new_accumulator(resolved.result, constants)
    state = accumulator.start()
    for row in rows:
        state = accumulator.add(state, *row)
    found = accumulator.result(state)
    assert found == pytest.approx(value) if isinstance(value, float) else found == value
