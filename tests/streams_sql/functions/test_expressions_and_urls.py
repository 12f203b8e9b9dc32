"""Regular expressions and URLs."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.streams_sql.functions.calling import call

PAGE = "https://jane@docs.example.com:8080/a%20b/guide.html?x=1&Y=a%26b&flag&z=1=2#top%21"
A_MOMENT_S = 5.0


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("REGEXP_EXTRACT", ("(.*) (.*)", "hello there"), "hello there"),
        ("REGEXP_EXTRACT", ("(.*) (.*)", "hello there", 2), "there"),
        ("REGEXP_EXTRACT", ("(.*) (.*)", "hello there", 3), None),
        ("REGEXP_EXTRACT", ("x", "hello"), None),
        ("REGEXP_EXTRACT_ALL", ("[a-z]([0-9])", "a1b2", 1), ["1", "2"]),
        ("REGEXP_EXTRACT_ALL", ("x", "abc"), []),
        ("REGEXP_EXTRACT_ALL", ("x", "abc", 1), None),
        ("REGEXP_REPLACE", ("foobar", "(o)(o)", "$2-$1\\$"), "fo-o$bar"),
        ("REGEXP_REPLACE", ("abc", "(?P<n>b)", "<${n}>"), "a<b>c"),
        ("REGEXP_REPLACE", ("ab", "(a)|(b)", "$1"), "a"),
        ("REGEXP_SPLIT_TO_ARRAY", ("a1b22c", "[0-9]"), ["a", "b", "", "c"]),
        ("REGEXP_SPLIT_TO_ARRAY", ("abc", ""), ["a", "b", "c"]),
        ("REGEXP_SPLIT_TO_ARRAY", ("xay", "a*"), ["x", "", "y"]),
        ("REGEXP_SPLIT_TO_ARRAY", ("abc", "x"), ["abc"]),
        ("REGEXP_SPLIT_TO_ARRAY", ("-a-", "-"), ["", "a", ""]),
        ("URL_DECODE_PARAM", ("url%20encoded+x%C3%A4",), "url encoded xä"),
        ("URL_ENCODE_PARAM", ("a b&ä~*-_.",), "a+b%26%C3%A4%7E*-_."),
        ("URL_EXTRACT_FRAGMENT", (PAGE,), "top!"),
        ("URL_EXTRACT_HOST", (PAGE,), "docs.example.com"),
        ("URL_EXTRACT_HOST", ("http://[::1]:80/",), "[::1]"),
        ("URL_EXTRACT_HOST", ("mailto:jane@example.com",), None),
        ("URL_EXTRACT_PARAMETER", (PAGE, "x"), "1"),
        ("URL_EXTRACT_PARAMETER", (PAGE, "z"), "1=2"),
        ("URL_EXTRACT_PARAMETER", (PAGE, "flag"), ""),
        ("URL_EXTRACT_PARAMETER", (PAGE, "none"), None),
        ("URL_EXTRACT_PATH", (PAGE,), "/a b/guide.html"),
        ("URL_EXTRACT_PATH", ("mailto:jane@example.com",), None),
        ("URL_EXTRACT_PORT", (PAGE,), 8080),
        ("URL_EXTRACT_PORT", ("http://example.com",), None),
        ("URL_EXTRACT_PROTOCOL", (PAGE,), "https"),
        ("URL_EXTRACT_QUERY", ("http://e.com?a=1#b",), "a=1"),
        ("URL_EXTRACT_QUERY", ("http://e.com",), None),
    ],
)
def test_result(name: str, arguments: tuple[Any, ...], expected: Any) -> None:
    assert call(name, *arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("REGEXP_EXTRACT", ("(", "x"), "Invalid regular expression"),
        ("REGEXP_EXTRACT_ALL", ("(a)\\1", "x"), "Invalid regular expression"),
        ("REGEXP_REPLACE", ("a", "a", "$"), "group"),
        ("URL_DECODE_PARAM", ("%zz",), "%zz"),
        ("URL_EXTRACT_PATH", ("http://a b",), "invalid syntax"),
    ],
)
def test_errors(name: str, arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call(name, *arguments)


def test_a_hostile_expression_takes_linear_time() -> None:
    began = time.process_time()
    assert call("REGEXP_EXTRACT", "(a+)+$", "a" * 10_000 + "b") is None
    assert time.process_time() - began < A_MOMENT_S
