"""Objects back to back, however the stream is cut."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rest_proxy.v3.json_objects import JsonObjects, Oversize

MAX_BYTES = 10_000

VALUES = st.recursive(
    st.none() | st.integers(0, 9) | st.text('a"\\{}[] \né', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('k"\\{}', max_size=2), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.tuples(st.dictionaries(st.just("v"), VALUES), st.sampled_from(["", "\n", " \r\n", "\n\n"])))


def read(stream: JsonObjects, *pieces: bytes) -> list[dict[str, Any] | Oversize]:
    objects = [each for piece in pieces for each in stream.feed(piece)]
    stream.finish()
    return objects


@given(OBJECTS, st.sampled_from([None, 1]), st.booleans(), st.lists(st.integers(0, 400)))
def test_all_objects_are_found(
    objects: list[tuple[dict[str, Any], str]], indent: int | None, ascii_only: bool, cuts: list[int]
) -> None:
    text = "".join(json.dumps(each, indent=indent, ensure_ascii=ascii_only) + end for each, end in objects).encode()
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    stream = JsonObjects(MAX_BYTES)
    assert read(stream, *(text[start:end] for start, end in pairwise(edges))) == [each for each, _ in objects]
    assert stream.problem is None


def test_an_object_is_there_with_its_last_byte() -> None:
    stream = JsonObjects(MAX_BYTES)
    assert stream.feed(b'{"a":{}') == []
    assert stream.feed(b'}{"b"') == [{"a": {}}]
    assert stream.feed(b":1}\n") == [{"b": 1}]


def test_long_numbers_keep_their_digits() -> None:
    number = 123456789012345678901234567890
    text = b'{"n":%d}' % number
    assert read(JsonObjects(MAX_BYTES), text + b"\n", text[:15], text[15:]) == [{"n": number}] * 2


@pytest.mark.parametrize("cut", [1, 50, 200])
def test_an_object_that_is_too_large_is_passed_over(cut: int) -> None:
    large = b'{"a":"%s"}' % (b"x}{" * 100)
    text = b'{"b":1}' + large + b'{"c":2}\n' + large + b'\n{"d":3}\n'
    pieces = [text[start : start + cut] for start in range(0, len(text), cut)]
    stream = JsonObjects(100)
    assert read(stream, *pieces) == [{"b": 1}, Oversize(100), {"c": 2}, Oversize(100), {"d": 3}]
    assert stream.problem is None


@pytest.mark.parametrize(
    ("text", "count", "problem"),
    [
        (b'{"a":1}garbage{"b":2}', 1, "should begin at byte 7"),
        (b'{"a":1}\n[{"b":2}]', 1, "should begin at byte 8"),
        (b'{"a":1}\n{"a":tru}\n{"b":2}\n', 1, "that ends at byte 17 is not valid JSON"),
        (b'{"a":1}{"a', 1, "in the middle of a record, after 10 bytes"),
        (b"1\n", 0, "should begin at byte 0"),
        (b'{"a":"\n"}', 0, "not valid JSON"),
        (b'{"a":' * 2000 + b"1" + b"}" * 2000, 0, "not valid JSON"),
    ],
)
@pytest.mark.parametrize("cut", [1, 1_000_000])
def test_what_is_no_object_ends_the_stream(text: bytes, count: int, problem: str, cut: int) -> None:
    stream = JsonObjects(1_000_000)
    objects = read(stream, *(text[start : start + cut] for start in range(0, len(text), cut)))
    assert len(objects) == count
    assert stream.problem is not None
    assert problem in stream.problem
    assert stream.feed(b'{"late":1}') == []
