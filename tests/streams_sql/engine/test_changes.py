"""What commands do to the catalogue."""

from __future__ import annotations

import pytest

from streams_sql.engine.catalogue import Catalogue
from streams_sql.language.problem import SqlProblem
from tests.streams_sql.engine.catalogues import Statements

CSAS = "CREATE STREAM X AS SELECT K, A FROM S;"
CTAS = "CREATE TABLE N AS SELECT B, COUNT(*) AS C FROM S GROUP BY B;"


@pytest.fixture
def statements() -> Statements:
    made = Statements()
    made.apply(CSAS, query_id="Q1")
    made.apply(CTAS, query_id="Q2")
    return made


def paused(catalogue: Catalogue) -> dict[str, bool]:
    return {query.id: query.is_paused for query in catalogue.queries.values()}


def test_one_query_or_all_are_paused_and_resumed(statements: Statements) -> None:
    statements.apply("PAUSE Q1;")
    assert paused(statements.catalogue) == {"Q1": True, "Q2": False}
    statements.apply("PAUSE ALL;")
    assert paused(statements.catalogue) == {"Q1": True, "Q2": True}
    outcome = statements.apply("RESUME ALL;")
    assert (paused(statements.catalogue), outcome.message) == ({"Q1": False, "Q2": False}, "Query resumed.")


def test_one_query_or_all_are_terminated_and_their_sources_stay(statements: Statements) -> None:
    one = statements.apply("TERMINATE Q1;")
    assert [query.id for query in one.ended] == ["Q1"]
    rest = statements.apply("TERMINATE ALL;")
    assert [query.id for query in rest.ended] == ["Q2"]
    assert (statements.catalogue.queries, {"X", "N"} <= set(statements.catalogue.sources)) == ({}, True)


@pytest.mark.parametrize("action", ["PAUSE", "RESUME", "TERMINATE"])
def test_a_query_that_does_not_run_cannot_be_changed(statements: Statements, action: str) -> None:
    with pytest.raises(SqlProblem, match="Unknown queryId: NOWHERE"):
        statements.apply(f"{action} NOWHERE;")


def test_a_source_goes_with_the_query_that_made_it_unless_others_use_it(statements: Statements) -> None:
    statements.apply("CREATE STREAM Y AS SELECT * FROM X;", query_id="Q3")
    with pytest.raises(SqlProblem, match=r"The following queries read from this source: \[Q3\]"):
        statements.apply("DROP STREAM X;")
    assert "Q1" in statements.catalogue.queries
    statements.apply("DROP STREAM Y;")
    dropped = statements.apply("DROP STREAM X;")
    assert [query.id for query in dropped.ended] == ["Q1"]
    assert list(statements.catalogue.queries) == ["Q2"]


def test_what_was_found_out_stays_with_the_query(statements: Statements) -> None:
    query = statements.catalogue.queries["Q1"]
    assert (query.reads, query.writes, query.is_real_time) == (frozenset({"S"}), "X", False)


def test_a_query_in_place_of_one_that_was_terminated_is_a_new_one(statements: Statements) -> None:
    statements.apply("TERMINATE Q1;")
    outcome = statements.apply(CSAS.replace("CREATE", "CREATE OR REPLACE").replace("K, A", "K, A, B"), query_id="Q9")
    assert outcome.started is not None
    assert (outcome.started.id, statements.catalogue.made_by("X")) == ("Q9", outcome.started)
