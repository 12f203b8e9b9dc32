"""JSON is read with places in its errors and printed to the byte as Jackson prints it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from schema_registry.formats.json_text import Dialect, JsonValue, parse, print_compact, print_double
from schema_registry.formats.parsed_schema import NESTING_MAX_LEVELS, InvalidSchema

LIKE_JAVA = Dialect(comments=True, non_numbers=True, exact_decimals=False)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (' { "b" : [ 1 , true , null ] , "a" : { } , "c" : [ ] } ', '{"b":[1,true,null],"a":{},"c":[]}'),
        ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("[-0,1.10,1e2,1E-7,-0.0]", "[0,1.10,1E+2,1E-7,0.0]"),
        (
            '"\\u00e9\\u000b\\u001F\\/\\"\\\\\\b\\f\\n\\r\\t\\u007f\\u2028"',
            '"é\\u000B\\u001F/\\"\\\\\\b\\f\\n\\r\\t\x7f\u2028"',
        ),
        ('"\\ud83d\\ude00"', '"😀"'),
    ],
)
def test_a_value_keeps_its_order_its_numbers_and_its_characters(text: str, printed: str) -> None:
    assert print_compact(parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.10", 1.1),
        ("1e400", float("inf")),
        ('/* a " */ {"k": "/* no comment */"} ', {"k": "/* no comment */"}),
        ("[1, // one\n2 /* two */]", [1, 2]),
        ("-Infinity", float("-inf")),
    ],
)
def test_a_dialect_takes_more_and_makes_doubles(text: str, value: JsonValue) -> None:
    assert parse(text, LIKE_JAVA) == value


def test_without_a_dialect_decimals_are_exact() -> None:
    assert parse("0.1000000000000000000001") == Decimal("0.1000000000000000000001")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not valid JSON at line 1, column 1: expecting value, found the end"),
        ('{\n "a": }', "not valid JSON at line 2, column 7: expecting value, found '}'"),
        ('{"a":1} x', "not valid JSON at line 1, column 9: extra data, found 'x'"),
        ('["a\nb"]', "not valid JSON at line 1, column 4: invalid control character"),
        ("// x\n1", "not valid JSON at line 1, column 1"),
        ("[NaN]", "NaN is no number of JSON"),
        ('"\\ud800"', "half of a surrogate pair"),
        ("1" * 1001, "has 1001 characters; at most 1000 are allowed"),
        (
            "\n[" + "[" * NESTING_MAX_LEVELS,
            f"line 2, column {NESTING_MAX_LEVELS + 1}: nested more than {NESTING_MAX_LEVELS} levels deep",
        ),
    ],
)
def test_an_error_says_what_is_wrong_and_where(text: str, complaint: str) -> None:
    with pytest.raises(InvalidSchema) as error:
        parse(text)
    assert complaint in str(error.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1 // one", "line 1, column 2: dangling content after end of schema: // one"),
        ("[1 /* never closed", "not valid JSON at line 1, column 4"),
        (f'/* " */{"[" * 100_000}', f"column {NESTING_MAX_LEVELS + 8}: nested more than"),
        ("/* a */ [1,\n/* b */ }", "not valid JSON at line 2, column 9"),
    ],
)
def test_comments_do_not_move_places(text: str, complaint: str) -> None:
    with pytest.raises(InvalidSchema) as error:
        parse(text, LIKE_JAVA)
    assert complaint in str(error.value)


def test_brackets_in_texts_are_no_levels() -> None:
    text = "[" * (NESTING_MAX_LEVELS + 1)
    assert parse(f'["{text}\\"{text}"]') == [f'{text}"{text}']


@pytest.mark.parametrize(
    ("number", "printed"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (100.0, "100.0"),
        (-12.5, "-12.5"),
        (0.001, "0.001"),
        (0.000999, "9.99E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (1.5e300, "1.5E300"),
        (5e-324, "4.9E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (2.0**70, "1.1805916207174113E21"),
        (float("nan"), '"NaN"'),
        (float("inf"), '"Infinity"'),
        (float("-inf"), '"-Infinity"'),
    ],
)
def test_doubles_look_as_in_java(number: float, printed: str) -> None:
    assert print_double(number) == printed
