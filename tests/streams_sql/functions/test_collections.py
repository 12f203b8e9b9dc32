"""Arrays, maps and lambdas."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from streams_sql.evaluation.calls import bound_reference
from streams_sql.functions.arrays import SERIES_LENGTH_MAX
from streams_sql.functions.library import LIBRARY
from streams_sql.functions.resolution import LambdaArgument, resolve
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import BIGINT, BOOLEAN, DATE, INTEGER, STRING, Array, Map, SqlType
from tests.streams_sql.functions.calling import call, type_of

NUMBERS = Array(INTEGER)
COUNTS = Map(STRING, INTEGER)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("ARRAY_CONCAT", ([1], [2, 3]), [1, 2, 3]),
        ("ARRAY_CONTAINS", ([1, None], 1), True),
        ("ARRAY_CONTAINS", ([1, None], 2), False),
        ("ARRAY_DISTINCT", ([2, None, 1, 2, None],), [2, None, 1]),
        ("ARRAY_DISTINCT", ([[1], [2], [1]],), [[1], [2]]),
        ("ARRAY_DISTINCT", ([{"a": [1]}, {"a": [1]}],), [{"a": [1]}]),
        ("ARRAY_EXCEPT", ([1, 2, 2, 3], [3]), [1, 2]),
        ("ARRAY_INTERSECT", ([3, 2, 2, None], [2, None]), [2, None]),
        ("ARRAY_UNION", ([1, 1], [2, 1]), [1, 2]),
        ("ARRAY_JOIN", ([1, None, 3],), "1,null,3"),
        ("ARRAY_JOIN", ([1e10, 0.5], ";"), "1.0E10;0.5"),
        ("ARRAY_JOIN", ([Decimal("1.50")], ";"), "1.50"),
        ("ARRAY_JOIN", ([True, False], "-"), "true-false"),
        ("ARRAY_LENGTH", ([1, None],), 2),
        ("ARRAY_MAX", ([1, None, 3],), 3),
        ("ARRAY_MIN", (["b", "a"],), "a"),
        ("ARRAY_REMOVE", ([1, 2, None, 1], 1), [2, None]),
        ("ARRAY_SORT", ([3, None, 1],), [1, 3, None]),
        ("ARRAY_SORT", ([3, None, 1], "Desc"), [3, 1, None]),
        ("ARRAY_SORT", ([3, 1], "sideways"), None),
        ("GENERATE_SERIES", (1, 4), [1, 2, 3, 4]),
        ("GENERATE_SERIES", (3, 1), [3, 2, 1]),
        ("GENERATE_SERIES", (3, 3), [3]),
        ("GENERATE_SERIES", (1, 8, 3), [1, 4, 7]),
        ("SLICE", ([1, 2, 3], 2, 3), [2, 3]),
        ("SLICE", ([1, 2, 3], 1, 4), None),
        ("AS_MAP", (["a", "b"], [1]), {"a": 1, "b": None}),
        ("ENTRIES", ({"b": 1, "a": 2}, True), [{"K": "a", "V": 2}, {"K": "b", "V": 1}]),
        ("ENTRIES", ({"b": 1, "a": 2}, False), [{"K": "b", "V": 1}, {"K": "a", "V": 2}]),
        ("MAP_KEYS", ({"a": 1},), ["a"]),
        ("MAP_VALUES", ({"a": 1},), [1]),
        ("MAP_UNION", ({"a": 1, "b": 1}, {"b": 2}), {"a": 1, "b": 2}),
    ],
)
def test_result(name: str, arguments: tuple[Any, ...], expected: Any) -> None:
    assert call(name, *arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "types", "expected"),
    [
        ("ARRAY_CONCAT", (None, [1]), (NUMBERS, NUMBERS), [1]),
        ("ARRAY_CONCAT", (None, None), (NUMBERS, NUMBERS), None),
        ("ARRAY_CONTAINS", (None, 1), (NUMBERS, INTEGER), False),
        ("ARRAY_JOIN", (["a", "b"], None), (Array(STRING), STRING), "ab"),
        ("ARRAY_JOIN", (None,), (NUMBERS,), None),
        ("ARRAY_LENGTH", (None,), (NUMBERS,), None),
        ("ARRAY_MAX", ([None],), (NUMBERS,), None),
        ("ARRAY_REMOVE", (None, 1), (NUMBERS, INTEGER), None),
        ("SLICE", ([1, 2], None, None), (NUMBERS, INTEGER, INTEGER), [1, 2]),
        ("SLICE", (None, 1, 1), (NUMBERS, INTEGER, INTEGER), None),
        ("MAP_UNION", (None, {"a": 1}), (COUNTS, COUNTS), {"a": 1}),
        ("MAP_UNION", (None, None), (COUNTS, COUNTS), None),
        ("GENERATE_SERIES", (2**40, 2**40 + 1), (BIGINT, BIGINT), [2**40, 2**40 + 1]),
    ],
)
def test_null_and_types(name: str, arguments: tuple[Any, ...], types: tuple[SqlType, ...], expected: Any) -> None:
    assert call(name, *arguments, types=types) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "types", "words"),
    [
        ("GENERATE_SERIES", (1, 2, 0), (INTEGER,) * 3, "step 0"),
        ("GENERATE_SERIES", (1, 2, -1), (INTEGER,) * 3, "step -1"),
        ("GENERATE_SERIES", (0, SERIES_LENGTH_MAX), (INTEGER,) * 2, str(SERIES_LENGTH_MAX)),
        ("ARRAY_JOIN", ([1],), (Array(DATE),), "DATE"),
    ],
)
def test_errors(name: str, arguments: tuple[Any, ...], types: tuple[SqlType, ...], words: str) -> None:
    with pytest.raises((ValueError, SqlProblem), match=words):
        call(name, *arguments, types=types)


def test_the_longest_series() -> None:
    assert len(call("GENERATE_SERIES", 1, SERIES_LENGTH_MAX)) == SERIES_LENGTH_MAX


def apply(name: str, *arguments: Any, types: tuple[SqlType, ...]) -> Any:
    """Call a function whose lambdas are given as Python functions; their bodies have the types given, in order."""
    remaining = iter(types)
    shown = [
        LambdaArgument("…", argument.__code__.co_argcount, lambda _: next(remaining))
        if callable(argument)
        else type_of(argument)
        for argument in arguments
    ]
    resolved = resolve(LIBRARY.scalars[name], shown)
    return bound_reference(resolved.overload, [None] * len(arguments), resolved.result)(*arguments), resolved.result


@pytest.mark.parametrize(
    ("name", "arguments", "types", "expected"),
    [
        ("FILTER", ([1, 2, 3], lambda x: x > 1), (BOOLEAN,), ([2, 3], NUMBERS)),
        ("FILTER", ({"a": 1, "b": 2}, lambda k, v: v > 1), (BOOLEAN,), ({"b": 2}, COUNTS)),
        ("REDUCE", ([1, 2, 3], 10, lambda s, x: s + x), (INTEGER,), (16, INTEGER)),
        ("REDUCE", ({"a": 1}, 10, lambda s, k, v: s + v), (INTEGER,), (11, INTEGER)),
        ("TRANSFORM", ([1, 2], lambda x: f"{x}"), (STRING,), (["1", "2"], Array(STRING))),
        (
            "TRANSFORM",
            ({"a": 1}, lambda k, v: k + k, lambda k, v: v * 2),
            (STRING, INTEGER),
            ({"aa": 2}, COUNTS),
        ),
    ],
)
def test_lambdas(name: str, arguments: tuple[Any, ...], types: tuple[SqlType, ...], expected: Any) -> None:
    assert apply(name, *arguments, types=types) == expected


def test_reduce_without_a_state_is_null_and_without_an_array_is_the_state() -> None:
    overload = LIBRARY.scalars["REDUCE"].overloads[0]
    reduce = bound_reference(overload, [NUMBERS, INTEGER, None], INTEGER)
    assert reduce([1], None, max) is None
    assert reduce(None, 5, max) == 5


def test_transform_must_not_make_one_key_of_two() -> None:
    with pytest.raises(ValueError, match="same key"):
        apply("TRANSFORM", {"a": 1, "b": 1}, lambda k, v: "k", lambda k, v: v, types=(STRING, INTEGER))
