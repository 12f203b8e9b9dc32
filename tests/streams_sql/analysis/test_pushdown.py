"""What a condition says about the places of records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streams_sql.analysis.pull import plan_pull
from streams_sql.analysis.pushdown import pushed_down
from streams_sql.plan.nodes import PullPlan
from streams_sql.plan.spans import ALL, Span
from tests.streams_sql.analysis.catalogues import query_of, sources


def span_of(condition: str, columns: str = "k BIGINT KEY, a INT", *, is_ours: bool = True, also: str = "") -> Span:
    catalogue = sources(f"CREATE STREAM s ({columns}) WITH (kafka_topic='s', value_format='JSON'{also})")
    plan = plan_pull(query_of(f"SELECT a FROM s WHERE {condition};"), catalogue)
    assert isinstance(plan, PullPlan)
    return pushed_down(plan.condition, replace(plan.source, query_id="CSAS_S_1" if is_ours else None))


@pytest.mark.parametrize(
    ("condition", "span"),
    [
        ("k = 7", Span(key=b"\0" * 7 + b"\7")),
        ("k = 7 AND ROWPARTITION = 1", Span(partitions=frozenset({1}), key=b"\0" * 7 + b"\7")),
        ("k = 7 OR a = 1", ALL),
        ("k > 7", ALL),
        ("ROWPARTITION IN (0, 2) AND ROWPARTITION IN (2, 3)", Span(partitions=frozenset({2}))),
        ("ROWPARTITION > 1", ALL),
        ("ROWOFFSET > 4 AND 10 >= ROWOFFSET", Span(from_offset=5, to_offset=11)),
        ("ROWOFFSET = 3", Span(from_offset=3, to_offset=4)),
        ("ROWOFFSET > -5", Span(from_offset=0)),
        ("ROWOFFSET > a", ALL),
        ("NOT ROWOFFSET > 3", ALL),
        ("ROWTIME >= '1970-01-01T00:00:01'", Span(from_time_ms=1_000)),
        ("ROWTIME BETWEEN 5 AND 9", Span(from_time_ms=5)),
        ("ROWTIME < 9", ALL),
        ("ROWTIME > 60 * 1000", Span(from_time_ms=60_001)),
    ],
)
def test_a_condition_narrows(condition: str, span: Span) -> None:
    assert span_of(condition) == span


def test_the_time_of_the_query_is_known_before_records_are() -> None:
    found = span_of("ROWTIME > UNIX_TIMESTAMP() - 1000").from_time_ms
    assert found is not None
    assert found > 1_700_000_000_000


def test_a_key_says_nothing_where_others_write() -> None:
    assert span_of("k = 7", is_ours=False) == ALL
    assert span_of("k = 7", also=", key_format='JSON'") == ALL


def test_times_that_come_from_a_column_are_nowhere_in_the_log() -> None:
    assert span_of("ROWTIME > 5", "k BIGINT KEY, a INT, t BIGINT", also=", timestamp='t'") == ALL
