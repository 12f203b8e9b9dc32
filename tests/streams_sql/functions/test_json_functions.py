from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from streams_sql.functions import json_functions
from streams_sql.functions.json_texts import JsonProblem
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Field,
    Map,
    SqlType,
    Struct,
)
from streams_sql.sql_types import Decimal as DecimalType

DOCUMENT = (
    '{"name": "Ada", "n": [1, 2.50, {"x y": null}], "big": 12345678901234567890123, "e": 1e3, "t": true, "@k": "v"}'
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.name", "Ada"),
        ("$.n[0]", "1"),
        ("$.n[1]", "2.50"),
        ('$.n[2]["x y"]', "null"),
        ("$.n", '[1,2.50,{"x y":null}]'),
        ("$.big", "12345678901234567890123"),
        ("$.e", "1E+3"),
        ("$.t", "true"),
        ("$.@k", "v"),
        ("$.missing", None),
        ("$.missing.deeper", None),
        ("$.n[9]", None),
        ("$.n.x", None),
        ("$.name[0]", None),
    ],
)
def test_fields_are_extracted(path: str, expected: str | None) -> None:
    assert json_functions.extract_json_field(DOCUMENT, path) == expected


@pytest.mark.parametrize("path", ["", "name", "$.", "$x", "$[", "$[0", '$["a', '$["a"', '$["\\b"]', "$.a-b", "$[-1]"])
def test_bad_paths_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="Invalid JSON path"):
        json_functions.extract_json_field("{}", path)


def test_half_a_character_does_not_get_into_a_text() -> None:
    assert json_functions.extract_json_field('{"a": "\\ud83dx"}', "$.a") == "?x"
    assert json_functions.json_items('["\\ud83d\\ude00\\ude00"]') == ['"😀?"']


def test_quotes_in_paths_are_escaped() -> None:
    assert json_functions.extract_json_field('{"a\\"b\\\\": "x"}', '$["a\\"b\\\\"]') == "x"


def test_what_follows_the_first_value_does_not_matter() -> None:
    assert json_functions.extract_json_field('{"a": "b"}} and more', "$.a") == "b"
    assert json_functions.json_array_length("[1, 2] x") == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", True),
        (" [1, 2] ", True),
        ('"abc"', True),
        ("null", True),
        ("1 x", True),
        ("", False),
        ("   ", False),
        (None, False),
        ("abc", False),
        ("1x", False),
        ("nullx", False),
        ("01", False),
        ("NaN", False),
        ("[1,]", False),
        ('"a\nb"', False),
        ("[" * 100_000, False),
    ],
)
def test_json_is_recognised(text: str | None, expected: bool) -> None:
    assert json_functions.is_json_string(text) is expected


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ('["Pink", null]', "Pink", True),
        ('["Pink", null]', None, True),
        ("[1, [2], true]", 1, True),
        ("[1, [2], true]", 2, False),
        ("[1, [2], true]", True, True),
        ("[1]", True, False),
        ("[1]", 1.0, False),
        ("[1.0]", 1.0, True),
        ("[1.0]", 1, False),
        ("[]", None, False),
        ("[1, 2", 1, True),
        ("[1, 2", 3, False),
        ("[1 2]", 2, False),
        ("{}", 1, False),
        ("", 1, False),
        (None, 1, None),
    ],
)
def test_arrays_contain_values_of_the_same_type(text: str | None, value: Any, expected: bool | None) -> None:
    assert json_functions.json_array_contains(text, value) is expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (['{"a": 1}', '{"b": 2}', '{"a": {"c": 3}}'], '{"a":{"c":3},"b":2}'),
        (["[1, 2]", "[3, [4]]"], "[1,2,3,[4]]"),
        (["null", "null"], "[null,null]"),
        (["[1]", '{"a": 1}', "1.50", "1e3"], '[1,{"a":1},1.50,1000]'),
        (["1"], "1"),
        (["1", ""], None),
    ],
)
def test_json_is_concatenated(texts: list[str], expected: str | None) -> None:
    assert json_functions.json_concat(*texts) == expected


def test_a_short_number_does_not_become_a_long_text() -> None:
    with pytest.raises(JsonProblem, match="more than 9999 digits"):
        json_functions.json_concat("[1e100000]", "[]")


def test_parts_of_arrays_and_objects() -> None:
    assert json_functions.json_items('[1, "a", null, {"b": 1.0}]') == ["1", '"a"', "null", '{"b":1.0}']
    assert json_functions.json_keys('{"b": 1, "a": 2, "b": 3}') == ["b", "a"]
    assert json_functions.json_records('{"a": "x", "b": [1, 2]}') == {"a": "x", "b": "[1,2]"}
    assert json_functions.json_keys("[]") is None
    assert json_functions.json_records("1") is None
    assert json_functions.json_array_length("{}") is json_functions.json_array_length("") is None
    with pytest.raises(JsonProblem):
        json_functions.json_items("{}")


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (STRING, 'a"\\\n\x1f ä', '"a\\"\\\\\\n\\u001F ä"'),
        (BIGINT, 2**63 - 1, "9223372036854775807"),
        (DOUBLE, 1e10, "1.0E10"),
        (DOUBLE, float("nan"), '"NaN"'),
        (BOOLEAN, True, "true"),
        (DecimalType(5, 2), Decimal("1E+2"), "100"),
        (BYTES, b"abc", '"YWJj"'),
        (DATE, -1, '"1969-12-31"'),
        (TIME, 60_000, '"00:01"'),
        (TIMESTAMP, 1, '"1970-01-01T00:00:00.001"'),
        (Array(DATE), [0, None], '["1970-01-01",null]'),
        (Map(STRING, TIME), {"b": 1000, "a": None}, '{"a":null,"b":"00:00:01"}'),
        (Struct((Field("B", STRING), Field("A", DATE))), {"B": "x", "A": 0}, '{"A":"1970-01-01","B":"x"}'),
        (STRING, None, "null"),
        (None, None, "null"),
    ],
)
def test_values_become_json(type_: SqlType | None, value: Any, expected: str) -> None:
    assert json_functions.to_json_string([type_], STRING)(value) == expected
