"""What is kept in mind of errors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from streams_sql.engine.queries.error_log import ERRORS_MAX, QUERIES_MAX, QUERY_FAILED, ErrorLog, QueryError
from streams_sql.plan.records import Problem, ProblemKind
from streams_sql.spark.driver.messages import BadRecord

BAD = Problem("t", 1, 7, "no JSON", ProblemKind.DESERIALIZATION, "value", "ew==")
FAILED = Problem("t", 1, 8, "CAST(V AS INTEGER) gave NULL: x", ProblemKind.PROCESSING, times=3)


@pytest.fixture
def heard() -> list[QueryError]:
    return []


@pytest.fixture
def log(heard: list[QueryError]) -> ErrorLog:
    seconds: Iterator[int] = iter(range(1, 10_000))
    return ErrorLog(heard.append, clock=lambda: next(seconds))


def test_the_newest_come_first_and_each_is_handed_on(log: ErrorLog, heard: list[QueryError]) -> None:
    log.note("Q1", BAD)
    log.note("Q2", FAILED)
    log.note_failure("Q1", "it broke", BadRecord("t", 0, 3, "it broke"))
    assert [(error.query_id, error.kind, error.time_ms) for error in log.newest()] == [
        ("Q1", QUERY_FAILED, 3000),
        ("Q2", ProblemKind.PROCESSING, 2000),
        ("Q1", ProblemKind.DESERIALIZATION, 1000),
    ]
    assert log.newest()[::-1] == heard
    assert [error.offset for error in log.newest("Q1", limit=1)] == [3]
    assert log.newest("UNKNOWN") == []


def test_each_counts_as_many_as_it_stands_for(log: ErrorLog) -> None:
    for problem in (BAD, FAILED, FAILED):
        log.note("Q", problem)
    assert log.counts() == {"Q": {"DESERIALIZATION_ERROR": 1, "RECORD_PROCESSING_ERROR": 6}}
    log.forget("Q")
    assert log.counts() == {}


def test_data_are_kept_only_where_that_is_wanted(heard: list[QueryError]) -> None:
    for has_rows in (False, True):
        ErrorLog(heard.append, has_rows=has_rows).note("Q", BAD)
    assert [error.raw for error in heard] == [None, "ew=="]


def test_a_query_with_many_errors_does_not_hide_those_of_others(log: ErrorLog) -> None:
    log.note("QUIET", BAD)
    for _ in range(ERRORS_MAX + 5):
        log.note("LOUD", BAD)
    assert len(log.newest("LOUD", limit=1000)) == ERRORS_MAX
    assert log.counts()["LOUD"]["DESERIALIZATION_ERROR"] == ERRORS_MAX + 5
    assert len(log.newest("QUIET")) == 1


def test_queries_without_errors_for_long_are_forgotten(log: ErrorLog) -> None:
    for number in range(QUERIES_MAX + 1):
        log.note(f"Q{number}", BAD)
    assert (len(log.counts()), "Q0" in log.counts()) == (QUERIES_MAX, False)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (QueryError(0, "Q", "K", "bad", "t", 1, 7), "t, partition 1, offset 7: bad"),
        (QueryError(0, "Q", "K", "bad", "t"), "a row for t: bad"),
        (QueryError(0, "Q", "K", "bad"), "bad"),
    ],
)
def test_the_text_tells_what_is_known(error: QueryError, text: str) -> None:
    assert error.text == text
