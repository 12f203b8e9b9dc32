"""Rows that are put together before Spark sees them: what goes on adds up to what was there."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streams_sql.plan.nodes import Aggregate
from streams_sql.plan.records import Problem
from streams_sql.sources import ROWTIME, Column
from streams_sql.spark.jobs.combining import CombiningTail, parts_of
from streams_sql.spark.jobs.stages import PROBLEM, Problems
from streams_sql.sql_types import BIGINT, DOUBLE, STRING
from tests.streams_sql.analysis.catalogues import planned, sources

STREAM = (
    "CREATE STREAM s (k STRING KEY, n INT, b BIGINT, d DOUBLE, t STRING, a ARRAY<INT>) "
    "WITH (kafka_topic='s', value_format='JSON')"
)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]),
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.text(max_size=2),
        st.integers(0, 50),
        st.sampled_from([(False, 0, 0), (True, 0, 1)]),
    ),
    max_size=30,
)


def aggregate(select: str, group: str = "k") -> Aggregate:
    plan = planned(
        f"CREATE TABLE made WITH (format='JSON') AS SELECT {group}, {select} FROM s GROUP BY {group}", sources(STREAM)
    )
    node = plan.node
    while not isinstance(node, Aggregate):
        node = node.input  # type: ignore[union-attr]
    return node


def combined(tail: CombiningTail, batches: list[list[Any]], problems: Problems) -> list[dict[str, Any]]:
    return [row for batch in tail.write(iter(batches), problems) for row in batch.to_pylist()]


def tail_of() -> CombiningTail:
    parts = parts_of(aggregate("COUNT(*) AS c, COUNT(b) AS cb, SUM(b) AS s, MIN(t) AS low, MAX(b) AS high"))
    assert parts is not None
    return CombiningTail((Column("K", STRING),), parts, (None, 1, 1, 2, 1), 3)


def test_what_goes_on_one_by_one() -> None:
    assert parts_of(aggregate("SUM(n) AS x, MAX(d) AS y")) is None
    assert parts_of(aggregate("AVG(n) AS x")) is None
    assert parts_of(aggregate("LATEST_BY_OFFSET(n) AS x, COUNT(*) AS y")) is None
    assert parts_of(aggregate("COUNT(*) AS y", group="a")) is None


def test_parts_have_the_types_that_hold_them() -> None:
    parts = parts_of(aggregate("SUM(n) AS x, SUM(d) AS y, COUNT(d) AS z, MIN(t) AS w"))
    assert parts is not None
    assert [part.type for part in parts] == [BIGINT, DOUBLE, BIGINT, STRING]


@given(st.lists(ROWS, max_size=3))
def test_parts_add_up(batches: list[list[Any]]) -> None:
    found = combined(tail_of(), batches, Problems(is_fatal=False))
    groups: dict[Any, list[Any]] = defaultdict(list)
    for key, number, text, time, origin in (row for rows in batches for row in rows):
        if not origin[0]:
            groups[key].append((number, text, time))
    expected = []
    for key, rows in groups.items():
        numbers = [number for number, _, _ in rows if number is not None]
        texts = [text for _, text, _ in rows if text is not None]
        total = (sum(numbers) + 2**63) % 2**64 - 2**63 if numbers else None
        parts = (len(rows), len(numbers), total, min(texts, default=None), max(numbers, default=None))
        expected.append((key, *parts, max(time for _, _, time in rows)))
    assert sorted(map(repr, expected)) == sorted(repr(tuple(row.values())[:-1]) for row in found)


def test_problems_go_along() -> None:
    problems = Problems(is_fatal=False)
    problems.add(Problem("s", 0, 7, "bad"))
    told = combined(tail_of(), [[("a", 1, "x", 5, (False, 0, 0))]], problems)
    assert [(row["K"], row[ROWTIME], row[PROBLEM] and row[PROBLEM]["offset"]) for row in told] == [
        ("a", 5, None),
        (None, None, 7),
    ]
