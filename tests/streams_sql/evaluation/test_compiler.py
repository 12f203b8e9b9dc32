"""Typed expressions, compiled and worked out over rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.evaluation.compiler import compile_column, compile_expression
from streams_sql.evaluation.expression_error import ExpressionError
from streams_sql.function_declaration import Overload
from streams_sql.functions.library import LIBRARY
from streams_sql.functions.resolution import resolve
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, INTEGER, STRING, Array, Field, Map, SqlType, Struct
from streams_sql.sql_types import Decimal as DecimalType
from streams_sql.typed import (
    Call,
    Case,
    Cast,
    Column,
    Lambda,
    Like,
    Literal,
    MakeArray,
    MakeMap,
    MakeStruct,
    Operation,
    Operator,
    Parameter,
    StructField,
    Subscript,
    Typed,
)

INTEGER_BOUNDS = st.integers(-(2**31), 2**31 - 1)
A_STRUCT = Struct((Field("X", INTEGER),))


def value(typed: Typed, **row: Any) -> Any:
    return compile_expression(typed, tuple(row))(tuple(row.values()))


def unexpected(error: Exception) -> None:
    raise AssertionError("there is nothing that can fail") from error


def literal(held: Any, type_: SqlType | None = INTEGER) -> Literal:
    return Literal(held, type_)


def operation(operator: Operator, *arguments: Any, type_: SqlType = INTEGER) -> Operation:
    """Of columns, so that nothing is worked out beforehand."""
    return Operation(operator, tuple(Column(f"C{index}", type_) for index in range(len(arguments))), type_)


def calculated(operator: Operator, *arguments: Any, type_: SqlType = INTEGER) -> Any:
    row = {f"C{index}": argument for index, argument in enumerate(arguments)}
    return value(operation(operator, *arguments, type_=type_), **row)


def called(name: str, *arguments: Typed) -> Call:
    resolved = resolve(LIBRARY.scalars[name], [argument.type for argument in arguments])
    return Call(name, resolved.overload, arguments, resolved.result)


@pytest.mark.parametrize(
    ("operator", "left", "right", "type_", "expected"),
    [
        (Operator.ADD, 2**31 - 1, 1, INTEGER, -(2**31)),
        (Operator.ADD, 2**31 - 1, 1, BIGINT, 2**31),
        (Operator.SUBTRACT, -(2**63), 1, BIGINT, 2**63 - 1),
        (Operator.MULTIPLY, 65536, 65536, INTEGER, 0),
        (Operator.DIVIDE, -7, 2, INTEGER, -3),
        (Operator.DIVIDE, -(2**31), -1, INTEGER, -(2**31)),
        (Operator.MODULO, -7, 2, INTEGER, -1),
        (Operator.MODULO, 7, -2, INTEGER, 1),
        (Operator.ADD, 0.5, 0.25, DOUBLE, 0.75),
        (Operator.DIVIDE, 1.0, 0.0, DOUBLE, math.inf),
        (Operator.DIVIDE, -1.0, 0.0, DOUBLE, -math.inf),
        (Operator.DIVIDE, 1.0, -0.0, DOUBLE, -math.inf),
        (Operator.DIVIDE, 0.0, 0.0, DOUBLE, math.nan),
        (Operator.MODULO, -5.5, 2.0, DOUBLE, -1.5),
        (Operator.MODULO, 5.5, 0.0, DOUBLE, math.nan),
        (Operator.MULTIPLY, 1e200, 1e200, DOUBLE, math.inf),
        (Operator.ADD, Decimal("1.10"), Decimal("2.2"), DecimalType(5, 2), Decimal("3.30")),
        (Operator.SUBTRACT, Decimal("1.10"), Decimal("2.2"), DecimalType(5, 2), Decimal("-1.10")),
        (Operator.MULTIPLY, Decimal("1.10"), Decimal("2.2"), DecimalType(6, 3), Decimal("2.420")),
        (Operator.DIVIDE, Decimal("1.00"), Decimal("3.0"), DecimalType(9, 6), Decimal("0.333333")),
        (Operator.MODULO, Decimal("-5.50"), Decimal("2.0"), DecimalType(5, 2), Decimal("-1.50")),
        (Operator.ADD, "a", "b", STRING, "ab"),
        (Operator.ADD, None, 1, INTEGER, None),
        (Operator.ADD, 1, None, INTEGER, None),
    ],
)
def test_arithmetic(operator: Operator, left: Any, right: Any, type_: SqlType, expected: Any) -> None:
    found = calculated(operator, left, right, type_=type_)
    assert repr(found) == repr(expected)


@given(INTEGER_BOUNDS, INTEGER_BOUNDS.filter(bool))
def test_quotient_and_remainder_fit_together(left: int, right: int) -> None:
    quotient = calculated(Operator.DIVIDE, left, right, type_=BIGINT)
    remainder = calculated(Operator.MODULO, left, right, type_=BIGINT)
    assert quotient * right + remainder == left
    assert abs(remainder) < abs(right)


@pytest.mark.parametrize(
    ("operator", "left", "right", "type_"),
    [
        (Operator.DIVIDE, 1, 0, INTEGER),
        (Operator.MODULO, 1, 0, BIGINT),
        (Operator.DIVIDE, Decimal(1), Decimal(0), DecimalType(4, 2)),
        (Operator.ADD, Decimal("99.00"), Decimal("1.00"), DecimalType(4, 2)),
    ],
)
def test_arithmetic_that_fails(operator: Operator, left: Any, right: Any, type_: SqlType) -> None:
    with pytest.raises(ArithmeticError if right == 0 else ValueError):
        calculated(operator, left, right, type_=type_)


@pytest.mark.parametrize(
    ("operand", "type_", "expected"),
    [(5, INTEGER, -5), (-(2**31), INTEGER, -(2**31)), (2.5, DOUBLE, -2.5), (None, INTEGER, None)],
)
def test_negative(operand: Any, type_: SqlType, expected: Any) -> None:
    assert calculated(Operator.NEGATE, operand, type_=type_) == expected


@pytest.mark.parametrize(
    ("operator", "arguments", "expected"),
    [
        (Operator.EQUAL, (1, 1), True),
        (Operator.EQUAL, (None, None), False),
        (Operator.NOT_EQUAL, (None, 1), False),
        (Operator.NOT_EQUAL, (1, None), False),
        (Operator.NOT_EQUAL, (2, 1), True),
        (Operator.LESS, ("a", "b"), True),
        (Operator.LESS_OR_EQUAL, (b"b", b"a"), False),
        (Operator.GREATER, (2, 1), True),
        (Operator.GREATER_OR_EQUAL, (1, 1), True),
        (Operator.EQUAL, ([1, None], [1, None]), True),
        (Operator.EQUAL, ({"a": 1, "b": 2}, {"b": 2, "a": 1}), True),
        (Operator.DISTINCT, (None, None), False),
        (Operator.DISTINCT, (1, None), True),
        (Operator.NOT_DISTINCT, (1, 1), True),
        (Operator.NOT_DISTINCT, (None, 1), False),
        (Operator.IS_NULL, (None,), True),
        (Operator.IS_NOT_NULL, (None,), False),
        (Operator.IN, (1, 2, None, 1), True),
        (Operator.IN, (3, 2, None, 1), False),
        (Operator.IN, (None, None), False),
        (Operator.NOT, (True,), False),
        (Operator.NOT, (None,), None),
        (Operator.AND, (True, True), True),
        (Operator.AND, (True, None), None),
        (Operator.AND, (False, None), False),
        (Operator.AND, (None, False), None),
        (Operator.OR, (False, True), True),
        (Operator.OR, (True, None), True),
        (Operator.OR, (None, True), None),
        (Operator.OR, (False, None), None),
    ],
)
def test_comparisons_and_logic(operator: Operator, arguments: tuple[Any, ...], expected: bool | None) -> None:
    assert calculated(operator, *arguments, type_=BOOLEAN) is expected
    constants = Operation(operator, tuple(literal(held) for held in arguments), BOOLEAN)
    assert value(constants) is expected
    if len(arguments) == 2:
        half = Operation(operator, (Column("C0", INTEGER), literal(arguments[1])), BOOLEAN)
        assert value(half, C0=arguments[0]) is expected


FAILS = Operation(Operator.DIVIDE, (Column("N", INTEGER), literal(0)), INTEGER)
FAILING_TEST = Operation(Operator.EQUAL, (FAILS, literal(1)), BOOLEAN)


@pytest.mark.parametrize(("operator", "left", "expected"), [(Operator.AND, False, False), (Operator.OR, True, True)])
def test_the_right_side_is_left_alone_where_the_left_one_decides(
    operator: Operator, left: bool, expected: bool
) -> None:
    assert value(Operation(operator, (Column("B", BOOLEAN), FAILING_TEST), BOOLEAN), B=left, N=1) is expected


@pytest.mark.parametrize(
    ("text", "pattern", "escape", "expected"),
    [
        ("hello", "hello", None, True),
        ("hello", "hel%", None, True),
        ("hello", "%llo", None, True),
        ("hello", "%ell%", None, True),
        ("hello", "%", None, True),
        ("", "%", None, True),
        ("", "", None, True),
        ("x", "", None, False),
        ("hello", "h_llo", None, True),
        ("hello", "h%l_", None, True),
        ("hello", "ell", None, False),
        ("a.c", "a.c", None, True),
        ("abc", "a.c_", None, False),
        ("ab\nc", "a_%c", None, True),
        ("😀!", "_!", None, True),
        ("50%", "50!%", "!", True),
        ("501", "50!%", "!", False),
        ("a_b", "a!_b", "!", True),
        ("a!b", "a!!b", "!", True),
        (None, "%", None, False),
        ("x", None, None, False),
    ],
)
def test_like(text: str | None, pattern: str | None, escape: str | None, expected: bool) -> None:
    of_column = Like(Column("A", STRING), literal(pattern, STRING), escape, BOOLEAN)
    assert value(of_column, A=text) is expected
    both = Like(Column("A", STRING), Column("B", STRING), escape, BOOLEAN)
    assert value(both, A=text, B=pattern) is expected


def test_a_pattern_must_not_end_with_its_escape_character() -> None:
    typed = Like(Column("A", STRING), literal("a!", STRING), "!", BOOLEAN)
    with pytest.raises(ValueError, match="must not end"):
        value(typed, A="a")


@given(st.text("ab%_\n", max_size=8), st.text("ab\n", max_size=8))
def test_like_agrees_with_its_definition(pattern: str, text: str) -> None:
    def like(rest: str, left: str) -> bool:
        if not rest:
            return not left
        if rest[0] == "%":
            return any(like(rest[1:], left[index:]) for index in range(len(left) + 1))
        return bool(left) and rest[0] in ("_", left[0]) and like(rest[1:], left[1:])

    assert value(Like(Column("A", STRING), literal(pattern, STRING), None, BOOLEAN), A=text) is like(pattern, text)


@pytest.mark.parametrize(
    ("typed", "row", "expected"),
    [
        (Cast(Column("A", STRING), INTEGER), {"A": "12"}, 12),
        (Cast(Column("A", STRING), INTEGER), {"A": None}, None),
        (Cast(Column("A", STRING), STRING), {"A": "x"}, "x"),
        (Cast(literal(None, None), STRING), {}, None),
        (Subscript(Column("A", Array(INTEGER)), literal(1), INTEGER), {"A": [5, 6]}, 5),
        (Subscript(Column("A", Array(INTEGER)), literal(-1), INTEGER), {"A": [5, 6]}, 6),
        (Subscript(Column("A", Array(INTEGER)), literal(0), INTEGER), {"A": [5, 6]}, None),
        (Subscript(Column("A", Array(INTEGER)), literal(3), INTEGER), {"A": [5, 6]}, None),
        (Subscript(Column("A", Array(INTEGER)), literal(-3), INTEGER), {"A": [5, 6]}, None),
        (Subscript(Column("A", Array(INTEGER)), literal(1), INTEGER), {"A": None}, None),
        (Subscript(Column("A", Map(STRING, INTEGER)), literal("k", STRING), INTEGER), {"A": {"k": 1}}, 1),
        (Subscript(Column("A", Map(STRING, INTEGER)), literal("m", STRING), INTEGER), {"A": {"k": 1}}, None),
        (StructField(Column("A", A_STRUCT), "X", INTEGER), {"A": {"X": 4}}, 4),
        (StructField(Column("A", A_STRUCT), "X", INTEGER), {"A": None}, None),
        (MakeArray((Column("A", INTEGER), literal(2), literal(None)), Array(INTEGER)), {"A": 1}, [1, 2, None]),
        (MakeMap(((literal("k", STRING), Column("A", INTEGER)),), Map(STRING, INTEGER)), {"A": 1}, {"k": 1}),
        (MakeStruct((("X", Column("A", INTEGER)),), A_STRUCT), {"A": 1}, {"X": 1}),
    ],
)
def test_parts_of_values(typed: Typed, row: dict[str, Any], expected: Any) -> None:
    assert value(typed, **row) == expected


@pytest.mark.parametrize(("found", "expected"), [(1, "one"), (2, "two"), (None, "other")])
def test_case_takes_the_first_that_is_true(found: int | None, expected: str) -> None:
    def when(number: int, text: str) -> tuple[Typed, Typed]:
        return Operation(Operator.EQUAL, (Column("A", INTEGER), literal(number)), BOOLEAN), literal(text, STRING)

    typed = Case((when(1, "one"), when(2, "two")), literal("other", STRING), STRING)
    assert value(typed, A=found) == expected
    assert value(Case(typed.whens, None, STRING), A=3) is None


def test_calls_skip_null_unless_the_function_takes_it() -> None:
    column = Column("A", STRING)
    assert value(called("LEN", column), A="abc") == 3
    assert value(called("LEN", column), A=None) is None
    assert value(called("REPLACE", column, column, column), A=None) is None
    assert value(called("CONCAT", column, literal("x", STRING)), A=None) == "x"


def test_what_is_constant_is_worked_out_once() -> None:
    typed = called("SPLIT", literal("a,b", STRING), literal(",", STRING))
    compiled = compile_column(typed, (), unexpected)
    assert compiled(()) == ["a", "b"]
    assert compiled(()) is compiled(())


def test_what_is_random_is_not_constant() -> None:
    compiled = compile_expression(called("RANDOM"), ())
    assert compiled(()) != compiled(())


def test_an_error_in_a_column_gives_null_and_is_told() -> None:
    told: list[Exception] = []
    compiled = compile_column(FAILS, ("N",), told.append)
    assert compiled((1,)) is None
    (error,) = told
    assert isinstance(error, ExpressionError)
    assert (type(error.cause), error.expression, error.row) == (ZeroDivisionError, FAILS, (1,))


def test_a_constant_that_fails_does_so_for_each_row_only() -> None:
    told: list[Exception] = []
    compiled = compile_column(Cast(literal("x", STRING), INTEGER), (), told.append)
    assert told == []
    assert compiled(()) is None
    assert len(told) == 1


def every(values: list[Any], test: Callable[[Any], Any]) -> list[Any]:
    return [test(held) for held in values]


def test_lambdas_see_the_row_and_the_lambdas_around_them() -> None:
    overload = Overload((), STRING, (), "", every)
    inner = Operation(
        Operator.ADD,
        (
            Operation(Operator.MULTIPLY, (Parameter("X", INTEGER), Column("A", INTEGER)), INTEGER),
            Parameter("Y", INTEGER),
        ),
        INTEGER,
    )
    numbers = MakeArray((literal(1), literal(2)), Array(INTEGER))
    nested = Call("EVERY", overload, (numbers, Lambda((Parameter("Y", INTEGER),), inner)), Array(INTEGER))
    typed = Call("EVERY", overload, (numbers, Lambda((Parameter("X", INTEGER),), nested)), Array(Array(INTEGER)))
    assert value(typed, Z=0, A=10) == [[11, 12], [21, 22]]
