"""Functions of users: what they are given, what becomes of what they give, and what is asked of their code."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import pytest

from streams_sql.function_declaration import Merging, Undoing
from streams_sql.functions.python.code import PythonCode
from streams_sql.functions.python.functions import PythonAggregate, PythonScalar, PythonTable
from streams_sql.functions.python.values import from_python, to_python
from streams_sql.problem import SqlProblem
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
    Field,
    Map,
    SqlType,
    Struct,
)
from streams_sql.sql_types import Decimal as DecimalType

SAMPLES = "tests.streams_sql.functions.sample_functions"
POINT = Struct((Field("X", INTEGER), Field("at", DATE)))


def code(name: str, source: str = "") -> PythonCode:
    return PythonCode("" if source else SAMPLES, name, source)


def scalar(name: str, *parameters: SqlType, result: SqlType) -> Any:
    function = PythonScalar(code(name), parameters, result)
    function.check()
    return pickle.loads(pickle.dumps(function))(parameters, result)


def test_a_function_is_called_with_values_and_gives_one() -> None:
    assert scalar("taxed", DOUBLE, result=DOUBLE)(10.0) == 12.0
    assert scalar("or_nothing", STRING, result=STRING)(None) == "nothing"


def test_points_in_time_are_those_of_python() -> None:
    assert scalar("next_day", TIMESTAMP, DATE, result=DATE)(1_600_000_000_000, 364) == 365


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (BOOLEAN, True),
        (INTEGER, -(2**31)),
        (BIGINT, 2**63 - 1),
        (DOUBLE, 1.5),
        (DecimalType(4, 2), Decimal("12.30")),
        (STRING, "a"),
        (BYTES, b"a"),
        (TIME, 86_399_999),
        (DATE, -1),
        (TIMESTAMP, -1),
        (TIMESTAMP, 253_402_300_799_999),
        (Array(TIME), [1, None]),
        (Map(STRING, TIMESTAMP), {"a": 1, "b": None}),
        (POINT, {"X": 1, "at": 2}),
    ],
)
def test_every_type_goes_there_and_back(type_: SqlType, value: Any) -> None:
    convert = to_python(type_)
    given = value if convert is None else convert(value)
    assert from_python(type_)(given) == value
    assert from_python(type_)(None) is None


@pytest.mark.parametrize(
    ("type_", "given", "made"),
    [
        (INTEGER, 3.0, 3),
        (BIGINT, Decimal(7), 7),
        (DOUBLE, 3, 3.0),
        (DecimalType(4, 1), 2.25, Decimal("2.3")),
        (DecimalType(4, 1), 7, Decimal("7.0")),
        (
            DecimalType(38, 2),
            Decimal("123456789012345678901234567890123456.78"),
            Decimal("123456789012345678901234567890123456.78"),
        ),
        (BYTES, bytearray(b"a"), b"a"),
        (Array(INTEGER), (1, 2), [1, 2]),
        (POINT, {"x": 1}, {"X": 1, "at": None}),
    ],
)
def test_what_means_the_same_is_taken(type_: SqlType, given: Any, made: Any) -> None:
    found = from_python(type_)(given)
    assert (found, type(found)) == (made, type(made))


@pytest.mark.parametrize(
    ("type_", "given"),
    [
        (INTEGER, 1.5),
        (INTEGER, True),
        (INTEGER, "1"),
        (INTEGER, 2**31),
        (BIGINT, -(2**63) - 1),
        (DOUBLE, "1"),
        (DecimalType(3, 1), 100),
        (DecimalType(3, 1), float("nan")),
        (STRING, 1),
        (BOOLEAN, 1),
        (BYTES, "a"),
        (TIMESTAMP, 5),
        (DATE, 5),
        (TIME, 5),
        (Array(INTEGER), "12"),
        (Map(STRING, INTEGER), [1]),
        (POINT, {"z": 1}),
    ],
)
def test_what_is_of_another_type_is_refused(type_: SqlType, given: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        from_python(type_)(given)


def test_a_table_function_gives_rows() -> None:
    function = PythonTable(code("letters"), (STRING,), STRING)
    function.check()
    assert function((STRING,), STRING)("ab") == ["a", "b"]
    assert PythonTable(code("given_back"), (STRING,), STRING)((STRING,), STRING)(None) == []


def test_an_aggregate_can_do_what_its_class_can() -> None:
    made = PythonAggregate(code("Spread"), (INTEGER,), INTEGER)
    made.check()
    spread = pickle.loads(pickle.dumps(made))()
    state = spread.add(spread.add(spread.start(), 3), 8)
    assert isinstance(spread, Undoing)
    assert isinstance(spread, Merging)
    assert (spread.result(state), spread.result(spread.merge(state, [1])), spread.result(spread.undo(state, 3))) == (
        5,
        7,
        0,
    )
    longest = PythonAggregate(code("Longest"), (STRING,), STRING)()
    assert not isinstance(longest, Undoing | Merging)


INLINE = "\n    def TAXED(price):\n        return price * 2\n"


def test_code_that_came_with_the_statement() -> None:
    function = PythonScalar(code("taxed", INLINE), (DOUBLE,), DOUBLE)
    function.check()
    assert pickle.loads(pickle.dumps(function))((DOUBLE,), DOUBLE)(2.0) == 4.0


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (PythonScalar(PythonCode("no.such", "f"), (), STRING), "The module no.such cannot be imported: No module named 'no'"),
        (PythonScalar(code("nope"), (), STRING), f"The module {SAMPLES} has no nope."),
        (PythonScalar(code("NUMBER"), (), STRING), "cannot be called: it is a int."),
        (PythonScalar(code("taxed"), (DOUBLE,) * 3, DOUBLE), "cannot be called with 3 arguments: too many positional arguments."),
        (PythonScalar(code("f", "x ="), (), STRING), "The text of f cannot be run: SyntaxError"),
        (PythonScalar(code("f", "1 / 0"), (), STRING), "The text of f cannot be run: ZeroDivisionError"),
        (PythonScalar(code("f", "g = 1"), (), STRING), "The text of f must define f"),
        (PythonAggregate(code("taxed"), (DOUBLE,), DOUBLE), "is no class: an aggregate is one with initial, add, result."),
        (PythonAggregate(code("Half"), (DOUBLE,), DOUBLE), "has no add and no result"),
        (PythonAggregate(code("Spread"), (), INTEGER), "Spread.add(state, value) cannot be called with 1"),
    ],
)  # fmt: skip
def test_code_that_cannot_be_called_is_told(function: PythonScalar | PythonAggregate, told: str) -> None:
    with pytest.raises(SqlProblem) as refused:
        function.check()
    assert told in refused.value.message
