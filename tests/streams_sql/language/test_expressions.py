"""Expressions: which tree a text gives, and that the text of a tree gives that tree again."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.language.expressions import (
    Between,
    Binary,
    Case,
    Cast,
    ColumnName,
    CustomType,
    Dereference,
    Expression,
    FunctionCall,
    In,
    IsNull,
    Lambda,
    Like,
    Literal,
    MakeArray,
    MakeMap,
    MakeStruct,
    Subscript,
    TypeName,
    Unary,
)
from streams_sql.language.formatting import format_expression
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import CreateSource, Query, SelectColumn
from streams_sql.sql_types import BIGINT, BOOLEAN, BYTES, DOUBLE, INTEGER, STRING, TIMESTAMP, Array, Field, Map, Struct
from streams_sql.sql_types import Decimal as DecimalType

A, B, C = ColumnName("A"), ColumnName("B"), ColumnName("C")
ONE, TWO = Literal(1), Literal(2)


def parsed(text: str) -> Expression:
    query = parse_statement(f"SELECT {text} FROM s")
    assert isinstance(query, Query)
    (item,) = query.select
    assert isinstance(item, SelectColumn)
    return item.expression


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        # literals
        ("1", ONE),
        ("-1", Literal(-1)),
        ("- 1", Literal(-1)),
        ("- -1", Unary("-", Literal(-1))),
        ("+1", Unary("+", ONE)),
        ("-(1)", Unary("-", ONE)),
        ("000009223372036854775807", Literal(9223372036854775807)),
        ("0" * 5000 + "7", Literal(7)),
        ("00", Literal(0)),
        ("-9223372036854775808", Literal(-9223372036854775808)),
        ("1.50", Literal(Decimal("1.50"))),
        ("5.", Literal(Decimal("5"))),
        (".5", Literal(Decimal("0.5"))),
        ("-.5", Literal(Decimal("-0.5"))),
        ("1e3", Literal(1000.0)),
        (".5E-1", Literal(0.05)),
        ("true", Literal(True)),
        ("FALSE", Literal(False)),
        ("null", Literal(None)),
        ("'it''s -- not; a comment'", Literal("it's -- not; a comment")),
        ("''", Literal("")),
        # names
        ("a", A),
        ("`a`", ColumnName("a")),
        ('"a""b"', ColumnName('a"b')),
        ("`a``b`", ColumnName("a`b")),
        ('`a"`', ColumnName('a"')),
        ("s.a", ColumnName("A", "S")),
        ("`s`.a", ColumnName("A", "s")),
        ("a@b", ColumnName("A@B")),
        ("1a", ColumnName("1A")),
        ("key", ColumnName("KEY")),
        ("emit", ColumnName("EMIT")),
        ("date", ColumnName("DATE")),
        # operators
        ("a + b * c", Binary("+", A, Binary("*", B, C))),
        ("a - b - c", Binary("-", Binary("-", A, B), C)),
        ("a -1", Binary("-", A, ONE)),
        ("(a + b) % c", Binary("%", Binary("+", A, B), C)),
        ("-a / b", Binary("/", Unary("-", A), B)),
        ("a || b + c", Binary("||", A, Binary("+", B, C))),
        ("a OR b AND NOT c", Binary("OR", A, Binary("AND", B, Unary("NOT", C)))),
        ("NOT a = b", Unary("NOT", Binary("=", A, B))),
        ("a != 1", Binary("<>", A, ONE)),
        ("a <> 1", Binary("<>", A, ONE)),
        ("a<=1", Binary("<=", A, ONE)),
        ("a >= 1", Binary(">=", A, ONE)),
        ("(a = b) = c", Binary("=", Binary("=", A, B), C)),
        ("a IS DISTINCT FROM b", Binary("IS DISTINCT FROM", A, B)),
        ("a is not distinct from b", Binary("IS NOT DISTINCT FROM", A, B)),
        # predicates
        ("a IS NULL", IsNull(A)),
        ("a IS NOT NULL", IsNull(A, is_negated=True)),
        ("NOT a IS NULL", Unary("NOT", IsNull(A))),
        ("a BETWEEN 1 AND 2 AND b", Binary("AND", Between(A, ONE, TWO), B)),
        ("a NOT BETWEEN 1 AND 2", Between(A, ONE, TWO, is_negated=True)),
        ("a IN (1, b = c)", In(A, (ONE, Binary("=", B, C)))),
        ("a NOT IN (1)", In(A, (ONE,), is_negated=True)),
        ("a LIKE 'x%'", Like(A, Literal("x%"))),
        ("a LIKE 'x!%' ESCAPE '!'", Like(A, Literal("x!%"), "!")),
        ("a NOT LIKE b || 'x'", Like(A, Binary("||", B, Literal("x")), is_negated=True)),
        ("NOT a LIKE 'x' ESCAPE ''''", Unary("NOT", Like(A, Literal("x"), "'"))),
        # parts
        ("a[1]", Subscript(A, ONE)),
        ("a[-1]['k']", Subscript(Subscript(A, Literal(-1)), Literal("k"))),
        ("s.a->b->`c`[1]", Subscript(Dereference(Dereference(ColumnName("A", "S"), "B"), "c"), ONE)),
        ("-a->b", Unary("-", Dereference(A, "B"))),
        # words and makers
        ("CASE WHEN a THEN 1 ELSE 2 END", Case(((A, ONE),), TWO)),
        ("CASE a WHEN 1 THEN b WHEN 2 THEN c END", Case(((ONE, B), (TWO, C)), operand=A)),
        ("CAST(a AS BIGINT)", Cast(A, BIGINT)),
        ("ARRAY[]", MakeArray(())),
        ("ARRAY[1, a][1]", Subscript(MakeArray((ONE, A)), ONE)),
        ("MAP()", MakeMap(())),
        ("MAP('k' := 1, b:=a)", MakeMap(((Literal("k"), ONE), (B, A)))),
        ("STRUCT(a := 1, `b` := b)->a", Dereference(MakeStruct((("A", ONE), ("b", B))), "A")),
        ("COUNT(*)", FunctionCall("COUNT", (), is_star=True)),
        ("pi()", FunctionCall("PI", ())),
        ("f(a, g(1))", FunctionCall("F", (A, FunctionCall("G", (ONE,))))),
        ("map(a := 1)", MakeMap(((A, ONE),))),
        ("array", ColumnName("ARRAY")),
        ("DATEADD(days, 1, a)", FunctionCall("DATEADD", (ColumnName("DAYS"), ONE, A))),
        ("FILTER(a, x => x > 1)", FunctionCall("FILTER", (A, Lambda(("X",), Binary(">", ColumnName("X"), ONE))))),
        ("REDUCE(a, 1, (s, `x`) => s)", FunctionCall("REDUCE", (A, ONE, Lambda(("S", "x"), ColumnName("S"))))),
        ("a /* here */ + -- there\n b", Binary("+", A, B)),
    ],
)
def test_a_text_gives_a_tree(text: str, expression: Expression) -> None:
    assert parsed(text) == expression
    assert parsed(format_expression(expression)) == expression


@pytest.mark.parametrize(
    ("text", "type_name"),
    [
        ("INT", INTEGER),
        ("integer", INTEGER),
        ("VARCHAR", STRING),
        ("VARCHAR(10)", STRING),
        ("VARCHAR(STRING)", STRING),
        ("BYTES", BYTES),
        ("DECIMAL(10, 2)", DecimalType(10, 2)),
        ("ARRAY<MAP<STRING, ARRAY<DOUBLE>>>", Array(Map(STRING, Array(DOUBLE)))),
        ("INT ARRAY", Array(INTEGER)),
        ("STRUCT<a BOOLEAN, `b` TIMESTAMP>", Struct((Field("A", BOOLEAN), Field("b", TIMESTAMP)))),
        ("STRUCT< >", Struct(())),
        ("address", CustomType("ADDRESS")),
        ("`date`", CustomType("date")),
        ("ARRAY<STRUCT<a address>>", Array(Struct((Field("A", CustomType("ADDRESS")),)))),  # type: ignore[arg-type]
    ],
)
def test_a_text_gives_a_type(text: str, type_name: TypeName) -> None:
    created = parse_statement(f"CREATE STREAM s (c {text} KEY)")
    assert isinstance(created, CreateSource)
    assert created.columns[0].type == type_name
    assert parsed(f"CAST(a AS {type_name})") == Cast(A, type_name)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a + s.`b`", "(A + S.`b`)"),
        ("`from`", "`from`"),
        ("`FROM`", "`FROM`"),
        ("- -1", "- -1"),
        ("1.5e10", "1.5E10"),
        ("0.0000001", "0.0000001"),
        ("NOT a LIKE 'x'", "(NOT (A LIKE 'x'))"),
        ("CASE WHEN a IS NULL THEN true END", "(CASE WHEN (A IS NULL) THEN true END)"),
        ("f(a, x => 1)", "F(A, (X) => 1)"),
        ("struct(a := map('k' := array[1]))->a", "STRUCT(A:=MAP('k':=ARRAY[1]))->A"),
        ("CAST(a AS STRUCT<b VARCHAR>)", "CAST(A AS STRUCT<`B` STRING>)"),
    ],
)
def test_a_tree_has_the_text_that_messages_show(text: str, shown: str) -> None:
    assert format_expression(parsed(text)) == shown


def test_a_column_is_shown_by_the_name_it_is_known_by() -> None:
    assert format_expression(Binary("+", A, B), {"A": "o.a"}) == "(o.a + B)"


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4) | st.sampled_from(
    ["FROM", "A", "a@", "KEY"]
)
NUMBERS = (
    st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False, places=3)
)
LITERALS = st.builds(Literal, st.none() | st.booleans() | st.text(max_size=5) | NUMBERS)
COLUMNS = st.builds(ColumnName, NAMES, st.none() | NAMES)
OPERATORS = st.sampled_from(
    ["+", "-", "/", "||", "=", "<>", "<=", "AND", "OR", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"]
)
TYPES: st.SearchStrategy[TypeName] = st.recursive(
    st.sampled_from([INTEGER, STRING, DecimalType(4, 2)]),
    lambda part: (
        st.builds(Array, part)
        | st.builds(Map, part, part)
        | st.dictionaries(NAMES, part, max_size=2).map(
            lambda fields: Struct(tuple(Field(name, each) for name, each in fields.items()))
        )
    ),
    max_leaves=4,
)


def deeper(part: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    some = st.lists(part, min_size=1, max_size=2).map(tuple)
    pairs = st.lists(st.tuples(part, part), min_size=1, max_size=2).map(tuple)
    lambdas = st.builds(Lambda, st.lists(NAMES, min_size=1, max_size=2).map(tuple), part)
    return st.one_of(
        st.builds(Unary, st.sampled_from(["-", "+", "NOT"]), part),
        st.builds(Binary, OPERATORS, part, part),
        st.builds(Between, part, part, part, st.booleans()),
        st.builds(In, part, some, st.booleans()),
        st.builds(Like, part, part, st.none() | st.characters(exclude_categories=["Cs"]), st.booleans()),
        st.builds(IsNull, part, st.booleans()),
        st.builds(Cast, part, TYPES),
        st.builds(Case, pairs, st.none() | part, st.none() | part),
        st.builds(
            lambda name, arguments, ending: FunctionCall(name, (*arguments, *ending)),
            NAMES,
            some,
            st.lists(lambdas, max_size=1),
        ),
        st.builds(Subscript, part, part),
        st.builds(Dereference, part, NAMES),
        st.builds(MakeArray, some),
        st.builds(MakeMap, pairs),
        st.builds(MakeStruct, st.lists(st.tuples(NAMES, part), max_size=2).map(tuple)),
    )


@given(st.recursive(LITERALS | COLUMNS, deeper, max_leaves=8))
def test_the_text_of_any_tree_gives_that_tree_again(expression: Expression) -> None:
    assert parsed(format_expression(expression)) == expression
