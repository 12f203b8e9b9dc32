"""Queries in queries: FROM (SELECT …), WITH and UNION ALL."""

from __future__ import annotations

import pytest

from streams_sql.language.parsing import parse_statement
from streams_sql.language.queries import READS_MAX
from streams_sql.language.statements import (
    CreateAsSelect,
    Emit,
    Explain,
    InsertSelect,
    Query,
    Relation,
    SelectAll,
    Statement,
    UnionAll,
)
from streams_sql.problem import SyntaxProblem


def everything(source: Relation | str, **clauses: object) -> Query:
    relation = Relation(source, source) if isinstance(source, str) else source
    return Query((SelectAll(),), relation, **clauses)  # type: ignore[arg-type]


def query_of(text: str) -> Query:
    statement: Statement = parse_statement(text)
    assert isinstance(statement, Query)
    return statement


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("SELECT * FROM (SELECT * FROM s) x", everything(Relation("X", "X", query=everything("S")))),
        (
            "SELECT * FROM (SELECT * FROM s) AS `x` LIMIT 2",
            everything(Relation("x", "x", query=everything("S")), limit=2),
        ),
        ("SELECT * FROM (SELECT * FROM s)", everything(Relation("SUBQUERY", "SUBQUERY", query=everything("S")))),
        (
            "SELECT * FROM s UNION ALL SELECT * FROM t EMIT CHANGES",
            everything(
                Relation("SUBQUERY", "SUBQUERY", query=UnionAll((everything("S"), everything("T")))), emit=Emit.CHANGES
            ),
        ),
        (
            "SELECT * FROM (SELECT * FROM s UNION ALL SELECT * FROM t) u",
            everything(
                Relation(
                    "U",
                    "U",
                    query=everything(
                        Relation("SUBQUERY", "SUBQUERY", query=UnionAll((everything("S"), everything("T"))))
                    ),
                )
            ),
        ),
    ],
)
def test_a_query_in_a_query(text: str, query: Query) -> None:
    assert query_of(text) == query


def test_a_name_of_with_stands_for_its_query() -> None:
    query = query_of("WITH x AS (SELECT * FROM s), y AS (SELECT * FROM x) SELECT * FROM y z")
    x = Relation("X", "X", query=everything("S"))
    y = Relation("Y", "Y", query=everything(x))
    assert query == everything(Relation("Y", "Z", query=everything(x)), common=(x, y))


def test_a_name_of_with_hides_one_of_the_catalogue_but_for_its_own_query() -> None:
    query = query_of("WITH s AS (SELECT * FROM s) SELECT * FROM s")
    assert query.source.query == everything("S")


def test_names_of_with_are_known_further_in_and_not_further_out() -> None:
    inside = query_of("WITH x AS (SELECT * FROM s) SELECT * FROM (SELECT * FROM x) y").source.query
    assert isinstance(inside, Query)
    assert inside.source.query == everything("S")
    outside = query_of("SELECT * FROM (WITH x AS (SELECT * FROM s) SELECT * FROM x) y JOIN x ON y.a = x.a")
    assert outside.joins[0].right == Relation("X", "X")


def test_with_may_stand_in_all_that_has_a_query() -> None:
    with_ = "WITH x AS (SELECT * FROM s) SELECT * FROM x"
    query = query_of(with_)
    created = parse_statement(f"CREATE STREAM y WITH (partitions=1) AS {with_}")
    inserted = parse_statement(f"INSERT INTO y {with_}")
    named = parse_statement(f"INSERT INTO y WITH (query_id='q') {with_}")
    assert isinstance(created, CreateAsSelect)
    assert isinstance(inserted, InsertSelect)
    assert isinstance(named, InsertSelect)
    assert created.query == inserted.query == named.query == query
    assert named.properties
    assert parse_statement(f"EXPLAIN {with_}") == Explain(statement=query)


def test_union_is_a_name_where_nothing_is_put_together() -> None:
    assert query_of("SELECT * FROM s union") == everything(Relation("S", "UNION"))


def test_uses_of_names_are_counted() -> None:
    """A name that is used twice by another one, and so on, would come to more places than anybody can run."""
    steps = ["x0 AS (SELECT * FROM s)"]
    steps += [f"x{n} AS (SELECT * FROM x{n - 1} a JOIN x{n - 1} b ON a.k = b.k)" for n in range(1, 10)]
    with pytest.raises(SyntaxProblem, match=f"would read {2 * READS_MAX} streams and tables") as caught:
        parse_statement(f"WITH {', '.join(steps)} SELECT * FROM x9")
    assert caught.value.position is not None
