"""What SQLite is asked gives the same rows as the condition itself."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streams_sql.bounded.pages import Account, Budget
from streams_sql.evaluation.compiler import compile_column
from streams_sql.functions.library import LIBRARY
from streams_sql.plan.nodes import Named, PullPlan
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
from streams_sql.typed import Call, Cast, Column, Like, Literal, Operation, Operator, Typed
from streams_sql.views.codecs import Unstorable, codec_of
from streams_sql.views.conditions import translate
from streams_sql.views.layout import ViewLayout
from streams_sql.views.pull import TablePull, TableScan
from streams_sql.views.store import Store
from tests.streams_sql.views.tables import table

SMALL, WIDE = DecimalType(6, 2), DecimalType(38, 10)
COLUMNS: dict[str, SqlType] = {
    "I": INTEGER,
    "L": BIGINT,
    "F": DOUBLE,
    "D": SMALL,
    "W": WIDE,
    "S": STRING,
    "Y": BYTES,
    "B": BOOLEAN,
    "TS": TIMESTAMP,
}
SOURCE = table("topic", COLUMNS)
LAYOUT = ViewLayout.of(SOURCE)
NAMES = [column.name for column in LAYOUT.columns]
ROW_COUNT = 150
FINER = DecimalType(7, 3)
COMPARISONS = [
    Operator.EQUAL,
    Operator.NOT_EQUAL,
    Operator.LESS,
    Operator.LESS_OR_EQUAL,
    Operator.GREATER,
    Operator.GREATER_OR_EQUAL,
    Operator.DISTINCT,
    Operator.NOT_DISTINCT,
]


VALUES: dict[SqlType, list[Any]] = {
    INTEGER: [-2, 0, 3],
    BIGINT: [-2, 0, 2**63 - 1, -(2**63)],
    DOUBLE: [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.5, 1e300],
    SMALL: [Decimal("-9999.99"), Decimal("0.00"), Decimal("0.01"), Decimal("12.30")],
    WIDE: [Decimal(f"{sign}{digits}.0123456789") for sign in ("", "-") for digits in ("0", "9" * 28)],
    STRING: ["", "a", "A", "NaN", "nul\0", "\uffff", "\U0001f600", "%"],
    BYTES: [b"", b"\0", b"a", b"\xff"],
    BOOLEAN: [True, False],
    TIMESTAMP: [-1, 0, 7],
}
CONSTANTS = {**VALUES, FINER: [Decimal("0.010"), Decimal("0.011")]}


def random_rows() -> list[tuple[Any, ...]]:
    """Always the same, so many that each value meets each of most other columns."""
    chosen = random.Random(7)
    values = [[None, *VALUES[type_]] for type_ in COLUMNS.values()]
    return [(f"k{number:03}", *map(chosen.choice, values), 1_000, 0, number) for number in range(ROW_COUNT)]


@st.composite
def comparisons(draw: st.DrawFn) -> Typed:
    name = draw(st.sampled_from(sorted(COLUMNS)))
    type_ = COLUMNS[name]
    column: Typed = Column(name, type_)
    constant_type = type_
    if type_ == INTEGER and draw(st.booleans()):
        column, constant_type = Cast(column, BIGINT), BIGINT
    elif type_ == SMALL:
        constant_type = draw(st.sampled_from([SMALL, FINER]))
    constants = st.sampled_from([None, *CONSTANTS[constant_type]]).map(lambda value: Literal(value, constant_type))
    kind = draw(st.sampled_from(["compare", "mirrored", "in", "null", "bare"]))
    if kind == "null":
        return Operation(draw(st.sampled_from([Operator.IS_NULL, Operator.IS_NOT_NULL])), (column,), BOOLEAN)
    if kind == "in":
        return Operation(Operator.IN, (column, *draw(st.lists(constants, min_size=1, max_size=3))), BOOLEAN)
    if kind == "bare":
        return Column("B", BOOLEAN)
    operator = draw(st.sampled_from(COMPARISONS))
    constant = draw(constants)
    arguments = (constant, column) if kind == "mirrored" else (column, constant)
    return Operation(operator, arguments, BOOLEAN)


OTHERS: list[Typed] = [
    Like(Column("S", STRING), Literal("%a%", STRING), None, BOOLEAN),
    Operation(Operator.LESS, (Column("I", INTEGER), Column("L", BIGINT)), BOOLEAN),
    # An error wherever it is looked at.
    Operation(Operator.EQUAL, (Column("I", INTEGER), Cast(Literal("no number", STRING), INTEGER)), BOOLEAN),
]


def conditions() -> st.SearchStrategy[Typed]:
    def combined(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
        both = st.tuples(st.sampled_from([Operator.AND, Operator.OR]), inner, inner)
        return st.one_of(
            both.map(lambda parts: Operation(parts[0], parts[1:], BOOLEAN)),
            inner.map(lambda part: Operation(Operator.NOT, (part,), BOOLEAN)),
        )

    return st.recursive(st.one_of(comparisons(), comparisons(), st.sampled_from(OTHERS)), combined, max_leaves=6)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store(tmp_path_factory.mktemp("view"), LAYOUT)
    store.apply([(*row, (False, 0, row[-1])) for row in random_rows()], {0: ROW_COUNT}, [])
    yield store
    store.close()


def pulled(store: Store, condition: Typed | None, limit: int | None = None) -> list[tuple[Any, ...]]:
    columns = tuple(Named(column.name, Column(column.name, column.type)) for column in LAYOUT.columns)
    plan = PullPlan(SOURCE, condition, columns, (False,) * len(columns), limit)
    scan = TableScan(store.reader(), TablePull(plan).bound(), Account(Budget()))
    found: list[tuple[Any, ...]] = []
    while (page := scan.page()) is not None:
        found += page
    scan.close()
    return found


@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(condition=conditions())
def test_sqlite_and_python_choose_the_same_rows(store: Store, condition: Typed) -> None:
    evaluate = compile_column(condition, NAMES, lambda error: None)
    expected = [row for row in random_rows() if evaluate(row)]
    # Texts tell NaN from NULL, and are equal for NaN.
    assert repr(pulled(store, condition)) == repr(expected)
    assert len(pulled(store, condition, limit=1)) == min(1, len(expected))


@pytest.mark.parametrize(
    ("condition", "is_whole"),
    [
        (Operation(Operator.EQUAL, (Column("K", STRING), Literal("a", STRING)), BOOLEAN), True),
        (Operation(Operator.LESS, (Cast(Column("I", INTEGER), BIGINT), Literal(5, BIGINT)), BOOLEAN), True),
        (Operation(Operator.NOT, (Column("B", BOOLEAN),), BOOLEAN), True),
        (OTHERS[0], False),
        (OTHERS[1], False),
        (Operation(Operator.EQUAL, (Cast(Column("I", INTEGER), DOUBLE), Literal(5.0, DOUBLE)), BOOLEAN), False),
    ],
)
def test_what_sqlite_can_say_is_left_to_it(condition: Typed, is_whole: bool) -> None:
    assert (translate(condition, LAYOUT, ()).rest is None) is is_whole


def test_a_function_that_is_the_same_for_all_rows_is_called_once(store: Store) -> None:
    upper = next(each for each in LIBRARY.scalars["UCASE"].overloads)
    condition = Operation(
        Operator.EQUAL, (Column("S", STRING), Call("UCASE", upper, (Literal("a", STRING),), STRING)), BOOLEAN
    )
    translated = translate(condition, LAYOUT, ())
    assert translated.rest is None
    assert [bound.value(()) for bound in translated.bounds] == ["A"]
    changing = replace(upper, is_deterministic=False)
    other = Operation(
        Operator.EQUAL, (Column("S", STRING), Call("UCASE", changing, (Literal("a", STRING),), STRING)), BOOLEAN
    )
    assert translate(other, LAYOUT, ()).rest == other


def test_long_conditions_are_looked_at_here(store: Store) -> None:
    condition: Typed = Operation(Operator.EQUAL, (Column("I", INTEGER), Literal(3, INTEGER)), BOOLEAN)
    for _ in range(500):
        other = Operation(Operator.EQUAL, (Column("I", INTEGER), Literal(4, INTEGER)), BOOLEAN)
        condition = Operation(Operator.OR, (other, condition), BOOLEAN)
    assert translate(condition, LAYOUT, ()).rest == condition
    many = Operation(Operator.IN, (Column("I", INTEGER), *[Literal(3, INTEGER)] * 20_000), BOOLEAN)
    assert {row[1] for row in pulled(store, many)} == {3}


NESTED = Struct((Field("A", Array(SMALL)), Field("B", Map(BIGINT, BYTES)), Field("C", Map(STRING, DOUBLE))))


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (DATE, -1),
        (TIME, 5),
        (Array(STRING), ["a", None, "é"]),
        (Map(STRING, BIGINT), {"a": 2**63 - 1, "b": None}),
        (NESTED, {"A": [Decimal("1.50"), None], "B": {7: b"\xff", 8: None}, "C": {"x": math.inf, "y": 1.0}}),
        (NESTED, {"A": None, "B": None, "C": {}}),
        (Array(Struct((Field("a", DOUBLE),))), [{"a": -0.0}, {"a": None}, None]),
        (WIDE, Decimal("-1234567890123456789012345678.0123456789")),
    ],
    ids=str,
)
def test_values_come_back_as_they_were(type_: SqlType, value: Any) -> None:
    codec = codec_of(type_)
    kept = value if codec.encode is None else codec.encode(value)
    assert repr(kept if codec.decode is None else codec.decode(kept)) == repr(value)


@pytest.mark.parametrize("value", [Decimal("0.001"), Decimal("1e30"), Decimal("1e60")])
@pytest.mark.parametrize("type_", [SMALL, DecimalType(38, 2)], ids=str)
def test_a_decimal_that_a_column_cannot_hold_is_refused(type_: DecimalType, value: Decimal) -> None:
    encode = codec_of(type_).encode
    assert encode is not None
    if type_ == SMALL or value != Decimal("1e30"):
        with pytest.raises(Unstorable):
            encode(value)
    else:
        assert isinstance(encode(value), bytes)
