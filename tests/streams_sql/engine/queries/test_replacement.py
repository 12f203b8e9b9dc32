"""What CREATE OR REPLACE may change of a query that has read and knows something."""

from __future__ import annotations

import pytest

from streams_sql.problem import SqlProblem
from tests.streams_sql.engine.catalogues import Statements

COUNT = "CREATE {}TABLE N AS SELECT B, COUNT(*) AS C FROM S WINDOW TUMBLING (SIZE 1 MINUTE) WHERE A > 1 GROUP BY B;"
JOIN = "CREATE {}STREAM J AS SELECT S.K AS K, S.A AS A, R.C AS C FROM S JOIN R WITHIN 1 MINUTE GRACE PERIOD 1 MINUTE ON S.K = R.K;"
LOOKUP = "CREATE {}STREAM L AS SELECT S.K AS K, S.A AS A, T.D AS D FROM S JOIN T ON S.K = T.K;"
PLAIN = "CREATE {}STREAM X AS SELECT K, A FROM S WHERE A > 1;"


def replaced(text: str, *changes: tuple[str, str]) -> None:
    """Make the query, then replace it with the same under changes."""
    statements = Statements()
    first = statements.apply(text.format(""), query_id="Q")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    second = statements.apply(text.format("OR REPLACE "), query_id="Q")
    assert first.started is not None
    assert second.started is not None
    assert list(statements.catalogue.queries) == ["Q"]
    assert statements.catalogue.queries["Q"] == second.started
    assert second.ended == ()


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (PLAIN, "A > 1", "A > 2"),
        (PLAIN, " WHERE A > 1", ""),
        (PLAIN, "A FROM", "A, B, A + 1 AS A1 FROM"),
        (PLAIN, "K, A FROM", "K, A, EXPLODE(ARRAY[A, A]) AS E FROM"),
        (COUNT, "COUNT(*) AS C FROM", "COUNT(*) AS C, COUNT(*) * 2 AS C2 FROM"),
        (COUNT, "1 MINUTE)", "1 MINUTE, RETENTION 2 DAYS)"),
        (JOIN, "R.C AS C", "R.C AS C, S.A + R.C AS AC"),
        (JOIN, "R.K;", "R.K WHERE S.A > 5;"),
        (LOOKUP, "T.D AS D", "T.D AS D, UCASE(T.D) AS UD"),
        (LOOKUP, "T.K;", "T.K WHERE S.A > 5;"),
    ],
)
def test_what_is_done_with_results_may_change(text: str, before: str, after: str) -> None:
    replaced(text, (before, after))


@pytest.mark.parametrize(
    ("text", "before", "after", "reason"),
    [
        (PLAIN, "K, A FROM S WHERE A > 1", "K, C AS A FROM R", "it has read s, and would go on in r"),
        (COUNT, "A > 1", "A > 2", r"what is grouped would change from WHERE .*1.* to WHERE .*2"),
        (COUNT, " WHERE A > 1", "", "what is grouped would change from .* to all rows"),
        (COUNT, "COUNT(*) AS C", "SUM(A) AS C", r"the aggregates would change from COUNT\(\) to SUM\(`A`\)"),
        (COUNT, "COUNT(*) AS C", "COUNT(*) AS C, MAX(A) AS M", "the aggregates would change"),
        (COUNT, "1 MINUTE)", "1 MINUTE, GRACE PERIOD 1 HOUR)", "the window would change"),
        (COUNT, "GROUP BY B;", "GROUP BY B EMIT FINAL;", "EMIT would change from CHANGES to FINAL"),
        (JOIN, "1 MINUTE ON", "2 MINUTES ON", "the join would change"),
        (JOIN, "JOIN R", "LEFT JOIN R", "the join would change"),
    ],
)
def test_what_state_was_made_with_may_not_change(text: str, before: str, after: str, reason: str) -> None:
    with pytest.raises(SqlProblem, match=reason) as problem:
        replaced(text, (before, after))
    assert "terminate the query, drop it and create it anew" in problem.value.message


def test_a_refused_replacement_leaves_the_query_as_it_was() -> None:
    statements = Statements(COUNT.format(""))
    before = dict(statements.catalogue.queries)
    with pytest.raises(SqlProblem, match="what is grouped"):
        statements.apply(COUNT.format("OR REPLACE ").replace("A > 1", "A > 2"))
    assert dict(statements.catalogue.queries) == before


def test_columns_added_to_a_source_do_not_hinder() -> None:
    statements = Statements()
    statements.apply(COUNT.format(""), query_id="Q")
    statements.apply(
        "CREATE OR REPLACE STREAM S (K STRING KEY, A BIGINT, B STRING, MORE INT) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');"
    )
    again = COUNT.format("OR REPLACE ").replace("COUNT(*) AS C", "COUNT(*) AS C, LEN(B) AS L")
    assert statements.apply(again, query_id="Q").is_done


SINK = "CREATE {}STREAM X WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON') AS SELECT K, A, B FROM S;"


@pytest.mark.parametrize(
    ("added", "reason"),
    [
        ("TIMESTAMP='A'", "the timestamp column would change from none to A."),
        (
            "TIMESTAMP='B', TIMESTAMP_FORMAT='yyyy-MM-dd'",
            "the timestamp column would change from none to B (format 'yyyy-MM-dd').",
        ),
        ("KEY_FORMAT='JSON'", "the key format would change from KAFKA to JSON (not wrapped)."),
        ("VALUE_DELIMITER='|'", "the value format would change from JSON to DELIMITED (delimiter '|')."),
    ],
)
def test_messages_have_the_words_of_statements(added: str, reason: str) -> None:
    changed = SINK.replace("JSON", "DELIMITED") if "DELIMITER" in added else SINK
    with pytest.raises(SqlProblem) as raised:
        replaced(SINK, (SINK, changed.replace("',", f"', {added},", 1)))
    assert raised.value.message == f"Cannot replace stream X: {reason} Drop it and create it again."


def test_a_join_within_other_bounds_is_shown_as_it_is_written() -> None:
    with pytest.raises(
        SqlProblem, match=r"from INNER WITHIN \(60000 MILLISECONDS, .*\) GRACE PERIOD 60000 MILLISECONDS to"
    ):
        replaced(JOIN, ("WITHIN 1 MINUTE", "WITHIN 2 MINUTES"))
