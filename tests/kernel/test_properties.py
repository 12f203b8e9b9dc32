from __future__ import annotations

import pytest

from barnabas.kernel.properties import PropertiesError, Property, parse


def pairs(content: str) -> list[tuple[str, str]]:
    return [(item.name, item.text) for item in parse(content.encode())]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a=b", [("a", "b")]),
        ("a = b ", [("a", "b ")]),
        ("a:b", [("a", "b")]),
        ("a b", [("a", "b")]),
        ("a \t= \tb c", [("a", "b c")]),
        ("a==b", [("a", "=b")]),
        ("a", [("a", "")]),
        ("a=", [("a", "")]),
        ("=b", [("", "b")]),
        ("# note\n! note\n\n  \ta=b", [("a", "b")]),
        ("a=b # no comment", [("a", "b # no comment")]),
        ("a=1,\\\n   2,\\\n   3\nb=4", [("a", "1,2,3"), ("b", "4")]),
        ("a=1\\\n# no comment\nb=2", [("a", "1# no comment"), ("b", "2")]),
        ("a=end\\\\\nb=2", [("a", "end\\"), ("b", "2")]),
        ("a=cut\\", [("a", "cut")]),
        ("\\\na=b", [("a", "b")]),
        ("\\\n# a comment", []),
        ("a\\ b\\:c\\=d=e", [("a b:c=d", "e")]),
        ("a=\\t\\n\\r\\f\\q", [("a", "\t\n\r\fq")]),
        ("a=\\u00e9\\ud83d\\ude00", [("a", "é😀")]),
        ("a=é", [("a", "é")]),
        ("\ufeffa=b", [("a", "b")]),
        ("a=1\r\nb=2\rc=3", [("a", "1"), ("b", "2"), ("c", "3")]),
        ("a=1\na=2", [("a", "1"), ("a", "2")]),
        ("", []),
        ("\\", []),
    ],
)
def test_entries_are_read_as_java_reads_them(content: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(content) == expected


def test_an_entry_knows_the_line_on_which_it_begins() -> None:
    assert parse(b"# first\na=1,\\\n  2\n\nb=3") == [Property("a", "1,2", 2), Property("b", "3", 5)]


def test_what_is_no_utf8_is_latin1() -> None:
    assert parse(b"a=caf\xe9") == [Property("a", "café", 1)]


@pytest.mark.parametrize("escape", [b"\\u12", b"\\u12zz", b"\\u1_23"])
def test_a_broken_unicode_escape_is_refused_with_its_line(escape: bytes) -> None:
    with pytest.raises(PropertiesError, match="line 2"):
        parse(b"a=1\nb=" + escape)
