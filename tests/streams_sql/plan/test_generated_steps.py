"""Generated code does what the closures do, row by row."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from streams_sql.language.statements import Kind
from streams_sql.plan.column_batch import ColumnBatch
from streams_sql.plan.nodes import Filter, Named, Project, Read, Shape
from streams_sql.plan.pipeline import Operator as PlanOperator
from streams_sql.plan.pipeline import Row, compile_batches, compile_steps, reference_steps, run_steps
from streams_sql.sources import Column, FormatUse, Schema, Source
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, INTEGER, STRING, SqlType
from streams_sql.typed import Case, Cast, Literal, Operation, Operator, Typed
from streams_sql.typed import Column as ColumnOf

VALUES: dict[SqlType, st.SearchStrategy[Any]] = {
    INTEGER: st.integers(-(2**31), 2**31 - 1),
    BIGINT: st.integers(-(2**63), 2**63 - 1),
    DOUBLE: st.floats(),
    STRING: st.text(max_size=3),
    BOOLEAN: st.booleans(),
}
TYPES = tuple(VALUES)
COLUMNS = tuple(Column(f"{type_}{number}", type_) for type_ in TYPES for number in (0, 1))
COMPARISONS = (
    *(Operator.EQUAL, Operator.NOT_EQUAL, Operator.LESS, Operator.LESS_OR_EQUAL, Operator.GREATER),
    *(Operator.GREATER_OR_EQUAL, Operator.DISTINCT, Operator.NOT_DISTINCT),
)
ARITHMETIC = (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.DIVIDE, Operator.MODULO)
ROWS = st.lists(
    st.tuples(*(st.none() | VALUES[column.type] for column in COLUMNS), st.just((False, 0, 0)) | st.just((True, 0, 1))),
    max_size=8,
)


def leaves(type_: SqlType) -> st.SearchStrategy[Typed]:
    columns = [ColumnOf(column.name, column.type) for column in COLUMNS if column.type == type_]
    return st.sampled_from(columns) | (st.none() | VALUES[type_]).map(lambda value: Literal(value, type_))


@st.composite
def expressions(draw: st.DrawFn, type_: SqlType, depth: int = 3) -> Typed:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(leaves(type_))
    below = depth - 1
    if draw(st.integers(0, 4)) == 0:
        cases = [(draw(expressions(BOOLEAN, below)), draw(expressions(type_, below))) for _ in range(2)]
        return Case(tuple(cases), draw(st.none() | expressions(type_, below)), type_)
    if type_ is BOOLEAN:
        return draw(conditions(below))
    if type_ is STRING:
        return Operation(Operator.ADD, (draw(expressions(STRING, below)), draw(expressions(STRING, below))), STRING)
    if type_ in (BIGINT, DOUBLE) and draw(st.booleans()):
        source = draw(st.sampled_from((INTEGER, BIGINT, DOUBLE, STRING)))
        return Cast(draw(expressions(source, below)), type_)
    if draw(st.integers(0, 5)) == 0:
        return Operation(Operator.NEGATE, (draw(expressions(type_, below)),), type_)
    parts = (draw(expressions(type_, below)), draw(expressions(type_, below)))
    return Operation(draw(st.sampled_from(ARITHMETIC)), parts, type_)


@st.composite
def conditions(draw: st.DrawFn, below: int) -> Typed:
    compared = draw(st.sampled_from(TYPES))
    match draw(st.integers(0, 4)):
        case 0:
            operator = draw(st.sampled_from((Operator.AND, Operator.OR)))
            return Operation(operator, (draw(expressions(BOOLEAN, below)), draw(expressions(BOOLEAN, below))), BOOLEAN)
        case 1:
            return Operation(Operator.NOT, (draw(expressions(BOOLEAN, below)),), BOOLEAN)
        case 2:
            operator = draw(st.sampled_from((Operator.IS_NULL, Operator.IS_NOT_NULL)))
            return Operation(operator, (draw(expressions(compared, below)),), BOOLEAN)
        case 3:
            others = draw(st.lists(leaves(compared), min_size=1, max_size=3))
            return Operation(Operator.IN, (draw(expressions(compared, below)), *others), BOOLEAN)
    parts = (draw(expressions(compared, below)), draw(expressions(compared, below)))
    return Operation(draw(st.sampled_from(COMPARISONS)), parts, BOOLEAN)


def read() -> Read:
    source = Source("S", Kind.STREAM, Schema((), COLUMNS), "s", FormatUse("KAFKA"), FormatUse("JSON"), "")
    return Read(source, "", Shape(COLUMNS, ()))


def told(rows: list[Row]) -> list[tuple[Any, ...]]:
    """NaN is itself here, and the type of a value counts."""
    return [tuple((type(value), "NaN" if _is_nan(value) else value) for value in row) for row in rows]


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def compare(operators: list[PlanOperator], rows: list[Row]) -> None:
    errors: list[Exception] = []
    expected = run_steps(reference_steps(operators, errors.append), rows)
    assert told(run_steps(compile_steps(operators, errors.append), rows)) == told(expected)
    compare_columns(operators, [row for row in rows if not row[-1][0]])


def compare_columns(operators: list[PlanOperator], rows: list[Row]) -> None:
    columns = [[row[place] for row in rows] for place in range(len(COLUMNS))]
    _, partitions, offsets = zip(*(row[-1] for row in rows), strict=True) if rows else ((), (), ())
    batch = ColumnBatch(columns, partitions, offsets)
    errors: list[Exception] = []
    expected = run_steps(reference_steps(operators, errors.append), rows)
    assert told(batch.rows()) == told(rows)
    assert told(compile_batches(operators, errors.append)(batch)) == told(expected)
    assert told(compile_batches(operators, errors.append)(rows)) == told(expected)


@settings(max_examples=100)
@given(expressions(BOOLEAN), expressions(BOOLEAN), st.lists(expressions(DOUBLE) | expressions(BIGINT)), ROWS)
def test_filters_and_a_projection(first: Typed, second: Typed, made: list[Typed], rows: list[Row]) -> None:
    below = Filter(read(), first, Shape(COLUMNS, ()))
    above = Filter(below, second, Shape(COLUMNS, ()))
    named = tuple(Named(f"MADE{place}", expression) for place, expression in enumerate(made))
    columns = tuple(Column(each.name, each.expression.type or BIGINT) for each in named)
    project = Project(above, named, Shape((*columns, COLUMNS[0]), ()))
    compare([below, above], rows)
    compare([below, above, project], rows)


@given(st.lists(expressions(INTEGER) | expressions(STRING) | expressions(BOOLEAN), min_size=1), ROWS)
def test_a_projection_keeps_rows_that_are_gone(made: list[Typed], rows: list[Row]) -> None:
    named = tuple(Named(f"MADE{place}", expression) for place, expression in enumerate(made))
    columns = tuple(Column(each.name, each.expression.type or STRING) for each in named)
    compare([Project(read(), named, Shape(columns, ()))], rows)


def test_a_value_that_is_not_of_its_type_is_null_in_its_own_row_alone() -> None:
    twice = Operation(Operator.SUBTRACT, (ColumnOf("DOUBLE0", DOUBLE), ColumnOf("DOUBLE1", DOUBLE)), DOUBLE)
    project = Project(read(), (Named("MADE", twice),), Shape((Column("MADE", DOUBLE),), ()))
    rows = [tuple([1.0] * len(COLUMNS) + [(False, 0, 0)]), tuple(["text"] * len(COLUMNS) + [(False, 0, 1)])]
    errors: list[Exception] = []
    assert run_steps(compile_steps([project], errors.append), rows) == [(0.0, (False, 0, 0)), (None, (False, 0, 1))]
    assert len(errors) == 1
    compare_columns([project], rows)


def test_columns_that_are_chosen_or_left_as_they_are() -> None:
    rows: list[Row] = [(number, *([None] * (len(COLUMNS) - 1)), (False, 1, number)) for number in range(3)]
    chosen = (Named("B", ColumnOf("INTEGER0", INTEGER)), Named("A", ColumnOf("DOUBLE1", DOUBLE)))
    project = Project(read(), chosen, Shape((Column("B", INTEGER), Column("A", DOUBLE)), ()))
    compare_columns([project], rows)
    compare_columns([], rows)
