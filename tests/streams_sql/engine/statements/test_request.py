"""Requests are split and parsed once, with the variables that their own statements define."""

from __future__ import annotations

import pytest

from streams_sql.engine.failures import StatementFailed
from streams_sql.engine.statements.request import STATEMENTS_MAX, SqlRequest, parse_request
from streams_sql.language.statements import DefineVariable, Print, SetProperty
from streams_sql.problem import Position


def test_variables_hold_for_the_statements_after_their_definition() -> None:
    text = "DEFINE a = 'x';\nSET 'p' = '${a}${b}'; UNDEFINE a; SET 'p' = '${a}';"
    parsed = parse_request(SqlRequest(text, variables={"b": "y"}))
    first, second, _, last = parsed.statements
    assert first.statement == DefineVariable("a", "x")
    assert second.statement == SetProperty("p", "xy")
    assert (second.start, second.written, second.text) == (16, "SET 'p' = '${a}${b}';", "SET 'p' = 'xy';")
    assert last.statement == SetProperty("p", "${a}")
    parsed.check()


def test_statements_before_one_that_cannot_be_read_are_parsed() -> None:
    parsed = parse_request(SqlRequest("PRINT t;\nSHOW NOTHING; PRINT u;"))
    assert [each.statement for each in parsed.statements] == [Print("t")]
    with pytest.raises(StatementFailed) as caught:
        parsed.check()
    assert (caught.value.text, caught.value.problem.position) == ("SHOW NOTHING;", Position(1, 6, 7))


@pytest.mark.parametrize(("text", "count"), [("", 0), ("PRINT t; PRINT u;", 2), ("PRINT t; SHOW NOTHING;", 2)])
def test_a_query_is_the_only_statement(text: str, count: int) -> None:
    with pytest.raises(StatementFailed, match=f"Expected exactly one KSQL statement; found {count} instead."):
        parse_request(SqlRequest(text)).only()


@pytest.mark.parametrize("text", ["PRINT 't", "PRINT t;" * (STATEMENTS_MAX + 1)], ids=["unfinished", "too many"])
def test_requests_that_cannot_be_split_are_rejected(text: str) -> None:
    with pytest.raises(StatementFailed) as caught:
        parse_request(SqlRequest(text))
    assert caught.value.text == text
