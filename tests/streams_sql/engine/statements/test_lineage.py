"""Where columns come from."""

from __future__ import annotations

import pytest

from streams_sql.analysis.pull import plan_pull
from streams_sql.analysis.scan import plan_scan
from streams_sql.engine.statements.lineage import Lineage
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import Query
from streams_sql.plan.bounded import BoundedPlan
from streams_sql.plan.bounded_lineage import bounded_origins
from streams_sql.plan.lineage import origins
from tests.streams_sql.engine.catalogues import Statements


def told(statements: Statements, text: str) -> dict[str, tuple[str, str]]:
    """For each column of what a statement makes: the columns that its query reads, and those that were declared."""
    query = statements.query(text)
    schema = query.plan.sink.schema
    names = [column.name for column in (*schema.key, *schema.value)]
    return {
        each.column: (
            " ".join(f"{origin.source}.{origin.column}" for origin in each.sources),
            " ".join(f"{origin.source}.{origin.column}" for origin in each.declared),
        )
        for each in Lineage(statements.catalogue).of_columns(names, origins(query.plan.node))
    }


@pytest.fixture
def statements() -> Statements:
    return Statements()


def direct(statements: Statements, text: str) -> dict[str, str]:
    return {name: sources for name, (sources, _) in told(statements, text).items()}


def test_expressions_and_conditions(statements: Statements) -> None:
    assert direct(
        statements, "CREATE STREAM X AS SELECT K, A + LEN(B) AS N, ROWTIME AS T, 'x' AS C FROM S WHERE B = 'b';"
    ) == {"K": "S.K", "N": "S.A S.B", "T": "S.ROWTIME", "C": ""}


def test_groups_and_new_keys(statements: Statements) -> None:
    assert direct(
        statements,
        "CREATE TABLE X AS SELECT UCASE(B) AS U, COUNT(*) AS N, SUM(A) + MIN(A) AS M, WINDOWSTART AS W FROM S "
        "WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY UCASE(B) HAVING MAX(A) > 1;",
    ) == {"U": "S.B", "N": "", "M": "S.A", "W": "S.ROWTIME"}
    assert direct(statements, "CREATE STREAM Y AS SELECT * FROM S PARTITION BY B || 'x';")["KSQL_COL_0"] == "S.B"
    assert direct(statements, "CREATE STREAM Z AS SELECT K, EXPLODE(SPLIT(B, ',')) AS E FROM S;") == {
        "K": "S.K",
        "E": "S.B",
    }


def test_joins(statements: Statements) -> None:
    assert direct(
        statements, "CREATE STREAM X AS SELECT S.K, A, D, S.B || T.D AS BD FROM S LEFT JOIN T ON S.K = T.K;"
    ) == {
        "S_K": "S.K",
        "A": "S.A",
        "D": "T.D",
        "BD": "S.B T.D",
    }
    assert direct(
        statements,
        "CREATE STREAM Y AS SELECT ROWKEY, A, C FROM S FULL JOIN R WITHIN 1 HOUR ON S.K = R.K;",
    ) == {"ROWKEY": "R.K S.K", "A": "S.A", "C": "R.C"}


def test_unions(statements: Statements) -> None:
    assert direct(
        statements, "CREATE STREAM X AS SELECT K, A FROM S UNION ALL SELECT K, C + 1 AS A FROM R EMIT CHANGES;"
    ) == {
        "K": "R.K S.K",
        "A": "R.C S.A",
    }


def test_back_to_what_was_declared(statements: Statements) -> None:
    statements.apply("CREATE STREAM X AS SELECT K, A * 2 AS AA, B FROM S;", query_id="Q1")
    statements.apply("INSERT INTO X SELECT K, C AS AA, 'r' AS B FROM R;", query_id="Q2")
    assert told(statements, "CREATE STREAM Y AS SELECT K, AA + 1 AS N FROM X;") == {
        "K": ("X.K", "R.K S.K"),
        "N": ("X.AA", "R.C S.A"),
    }
    statements.apply("TERMINATE ALL;")
    assert told(statements, "CREATE STREAM Z AS SELECT K, AA FROM X;")["AA"] == ("X.AA", "X.AA")


def test_a_query_that_reads_what_it_writes(statements: Statements) -> None:
    statements.apply("INSERT INTO S SELECT K, A + 1 AS A, B FROM S;", query_id="Q1")
    assert told(statements, "CREATE STREAM X AS SELECT K, A FROM S;")["A"] == ("S.A", "S.A")


def test_of_a_source(statements: Statements) -> None:
    lineage = Lineage(statements.catalogue)
    assert lineage.of_source(statements.catalogue.sources["S"]) == ()
    statements.apply("CREATE TABLE N AS SELECT B, COUNT(A) AS C FROM S GROUP BY B;", query_id="Q1")
    found = lineage.of_source(statements.catalogue.sources["N"])
    assert [(each.column, [origin.column for origin in each.declared]) for each in found] == [
        ("B", ["B"]),
        ("C", ["A"]),
    ]


def test_of_queries_that_come_to_an_end(statements: Statements) -> None:
    """Pull queries that order, group and join, and looks at streams."""
    statements.apply("CREATE TABLE N AS SELECT B, COUNT(A) AS C, MAX(A) AS M FROM S GROUP BY B;", query_id="Q1")
    lineage = Lineage(statements.catalogue)

    def found(text: str) -> dict[str, str]:
        query = parse_statement(text)
        assert isinstance(query, Query)
        plan = plan_scan(query, statements.catalogue, now_ms=0).plan
        assert isinstance(plan, BoundedPlan)
        names = [column.name for column in plan.columns]
        told = lineage.of_columns(names, bounded_origins(plan.node))
        return {each.column: " ".join(f"{origin.source}.{origin.column}" for origin in each.sources) for each in told}

    assert found("SELECT B, A + 1 AS N FROM S ORDER BY A LIMIT 3;") == {"B": "S.B", "N": "S.A"}
    assert found("SELECT B, COUNT(*) AS N, SUM(A) + 1 AS M FROM S GROUP BY B HAVING MAX(A) > 1;") == {
        "B": "S.B",
        "N": "",
        "M": "S.A",
    }
    assert found("SELECT DISTINCT K FROM S UNION ALL SELECT B FROM S;") == {"K": "S.B S.K"}
    assert found("SELECT S.A, T.D, S.B || T.D AS BD FROM S LEFT JOIN T ON S.K = T.K;") == {
        "A": "S.A",
        "D": "T.D",
        "BD": "S.B T.D",
    }
    joined = parse_statement("SELECT X.M + Y.C AS Z FROM N X JOIN N Y ON X.B = Y.B ORDER BY Z;")
    assert isinstance(joined, Query)
    pull = plan_pull(joined, statements.catalogue)
    assert isinstance(pull, BoundedPlan)
    (z,) = lineage.of_columns(["Z"], bounded_origins(pull.node))
    assert ([str(each.column) for each in z.sources], [each.column for each in z.declared]) == (["C", "M"], ["A"])
