"""A query in a query gives what both give as statements one behind the other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.streams_sql.local.chains import Chained, Fed

SOURCES = (
    "CREATE STREAM s (k STRING KEY, a INT, b STRING) WITH (kafka_topic='s')",
    "CREATE STREAM t (k STRING KEY, a INT, b STRING) WITH (kafka_topic='t')",
    "CREATE TABLE u (k STRING PRIMARY KEY, a INT, b STRING) WITH (kafka_topic='u')",
    "CREATE TABLE v (k STRING PRIMARY KEY, a INT, b STRING) WITH (kafka_topic='v')",
)

STREAMS = [
    (
        "CREATE STREAM x AS SELECT k, c + 1 AS d FROM (SELECT k, a * 2 AS c FROM s WHERE a > 1) y WHERE c < 9",
        [
            "CREATE STREAM y AS SELECT k, a * 2 AS c FROM s WHERE a > 1",
            "CREATE STREAM x AS SELECT k, c + 1 AS d FROM y WHERE c < 9",
        ],
    ),
    (
        "CREATE STREAM x AS SELECT k, a, b FROM s UNION ALL SELECT k, a, 'from t' FROM t WHERE a > 1",
        [
            "CREATE STREAM x1 WITH (kafka_topic='x') AS SELECT k, a, b FROM s",
            "CREATE STREAM x2 WITH (kafka_topic='x') AS SELECT k, a, 'from t' AS b FROM t WHERE a > 1",
            "CREATE STREAM x AS SELECT * FROM x1",
        ],
    ),
    (
        "CREATE STREAM x AS WITH y AS (SELECT b, a FROM s PARTITION BY b) SELECT y.b, y.a, u.a FROM y LEFT JOIN u ON y.b = u.k",
        [
            "CREATE STREAM y AS SELECT b, a FROM s PARTITION BY b",
            "CREATE STREAM x AS SELECT y.b, y.a, u.a FROM y LEFT JOIN u ON y.b = u.k",
        ],
    ),
    (
        "CREATE STREAM x AS SELECT s.k, s.a, y.n FROM s JOIN (SELECT k, COUNT(*) AS n FROM t GROUP BY k HAVING COUNT(*) < 3) y ON s.k = y.k",
        [
            "CREATE TABLE y AS SELECT k, COUNT(*) AS n FROM t GROUP BY k HAVING COUNT(*) < 3",
            "CREATE STREAM x AS SELECT s.k, s.a, y.n FROM s JOIN y ON s.k = y.k",
        ],
    ),
    (
        (
            "CREATE STREAM x AS SELECT y.k, y.a, z.c FROM (SELECT * FROM s WHERE a > 0) y"
            " JOIN (SELECT k, a + 10 AS c FROM t) z WITHIN 5 SECONDS ON y.k = z.k"
        ),
        [
            "CREATE STREAM y AS SELECT * FROM s WHERE a > 0",
            "CREATE STREAM z AS SELECT k, a + 10 AS c FROM t",
            "CREATE STREAM x AS SELECT y.k, y.a, z.c FROM y JOIN z WITHIN 5 SECONDS ON y.k = z.k",
        ],
    ),
]

TABLES = [
    (
        "CREATE TABLE x AS SELECT * FROM (SELECT k, COUNT(*) AS n, SUM(a) AS m FROM s GROUP BY k) y WHERE n > 1 AND m < 9",
        [
            "CREATE TABLE y AS SELECT k, COUNT(*) AS n, SUM(a) AS m FROM s GROUP BY k",
            "CREATE TABLE x AS SELECT * FROM y WHERE n > 1 AND m < 9",
        ],
    ),
    (
        ("CREATE TABLE x AS SELECT n, COUNT(*) AS groups, SUM(m) AS sums FROM"
        " (SELECT COUNT(*) AS n, SUM(a) AS m FROM s GROUP BY k HAVING SUM(a) > 2) y GROUP BY n"),
        [
            "CREATE TABLE y AS SELECT k, COUNT(*) AS n, SUM(a) AS m FROM s GROUP BY k HAVING SUM(a) > 2",
            "CREATE TABLE x AS SELECT n, COUNT(*) AS groups, SUM(m) AS sums FROM y GROUP BY n",
        ],
    ),
    (
        "CREATE TABLE x AS SELECT n % 2 AS odd, COUNT(*) AS groups FROM (SELECT k, COUNT(*) AS n FROM s GROUP BY k) y GROUP BY n % 2",
        [
            "CREATE TABLE y AS SELECT k, COUNT(*) AS n FROM s GROUP BY k",
            "CREATE TABLE x AS SELECT n % 2 AS odd, COUNT(*) AS groups FROM y GROUP BY n % 2",
        ],
    ),
    (
        "CREATE TABLE x AS SELECT b, SUM(a) AS m FROM (SELECT * FROM u WHERE a > 1) y GROUP BY b",
        ["CREATE TABLE y AS SELECT * FROM u WHERE a > 1", "CREATE TABLE x AS SELECT b, SUM(a) AS m FROM y GROUP BY b"],
    ),
    (
        "CREATE TABLE x AS SELECT * FROM (SELECT k, a + 1 AS c, b FROM (SELECT * FROM u WHERE a > 1) y) z WHERE b = 'p'",
        [
            "CREATE TABLE y AS SELECT * FROM u WHERE a > 1",
            "CREATE TABLE z AS SELECT k, a + 1 AS c, b FROM y",
            "CREATE TABLE x AS SELECT * FROM z WHERE b = 'p'",
        ],
    ),
    (
        ("CREATE TABLE x AS WITH y AS (SELECT k, COUNT(*) AS n FROM s GROUP BY k), z AS (SELECT k, a FROM u WHERE a > 1)"
        " SELECT y.k, y.n, z.a FROM y LEFT JOIN z ON y.k = z.k"),
        [
            "CREATE TABLE y AS SELECT k, COUNT(*) AS n FROM s GROUP BY k",
            "CREATE TABLE z AS SELECT k, a FROM u WHERE a > 1",
            "CREATE TABLE x AS SELECT y.k, y.n, z.a FROM y LEFT JOIN z ON y.k = z.k",
        ],
    ),
    (
        ("CREATE TABLE x AS SELECT rowkey, y.a, z.a FROM (SELECT k, a FROM u WHERE a > 1) y"
        " FULL JOIN (SELECT k, a FROM v WHERE a > 1) z ON y.k = z.k WHERE y.a IS NULL OR y.a < 4"),
        [
            "CREATE TABLE y AS SELECT k, a FROM u WHERE a > 1",
            "CREATE TABLE z AS SELECT k, a FROM v WHERE a > 1",
            "CREATE TABLE x AS SELECT rowkey, y.a, z.a FROM y FULL JOIN z ON y.k = z.k WHERE y.a IS NULL OR y.a < 4",
        ],
    ),
    (
        "CREATE TABLE x AS SELECT y.k, y.a, z.a FROM (SELECT * FROM u WHERE a > 1) y JOIN (SELECT * FROM v WHERE a > 1) z ON y.b = z.k",
        [
            "CREATE TABLE y AS SELECT * FROM u WHERE a > 1",
            "CREATE TABLE z AS SELECT * FROM v WHERE a > 1",
            "CREATE TABLE x AS SELECT y.k, y.a, z.a FROM y JOIN z ON y.b = z.k",
        ],
    ),
    (
        "CREATE TABLE x AS SELECT k, COUNT(*) AS n, SUM(a) AS m FROM (SELECT k, a FROM s UNION ALL SELECT k, a FROM t) y GROUP BY k",
        [
            "CREATE STREAM y1 WITH (kafka_topic='y') AS SELECT k, a FROM s",
            "CREATE STREAM y2 WITH (kafka_topic='y') AS SELECT k, a FROM t",
            "CREATE TABLE x AS SELECT k, COUNT(*) AS n, SUM(a) AS m FROM y1 GROUP BY k",
        ],
    ),
]  # fmt: skip

KEYS = st.sampled_from(["p", "q", "r"])
RECORDS = st.lists(
    st.tuples(st.sampled_from("stuv"), KEYS, st.integers(0, 5), KEYS, st.integers(0, 3), st.booleans()), max_size=25
)


def fed(records: list[tuple[str, str, int, str, int, bool]]) -> list[Fed]:
    """Times go on by the last number but one; a record of a table may delete."""
    time, found = 0, []
    for topic, key, a, b, step, is_gone in records:
        time += step * 1_000
        is_there = topic in "st" or not is_gone
        found.append(Fed(topic, time, {"K": key, "A": a, "B": b} if is_there else {"K": key}, is_there))
    return found


def run(statements: list[str], records: list[Fed]) -> Chained:
    chained = Chained(*SOURCES, *statements)
    for record in records:
        chained.feed(record)
    assert not chained.errors
    return chained


@pytest.mark.parametrize(("nested", "statements"), STREAMS)
@given(RECORDS)
@settings(max_examples=25, deadline=None)
def test_a_nested_stream_is_that_of_the_statements(
    nested: str, statements: list[str], records: list[tuple[str, str, int, str, int, bool]]
) -> None:
    rows = fed(records)
    assert run([nested], rows).rows == run(statements, rows).rows


@pytest.mark.parametrize(("nested", "statements"), TABLES)
@given(RECORDS)
@settings(max_examples=30, deadline=None)
def test_a_nested_table_is_that_of_the_statements(
    nested: str, statements: list[str], records: list[tuple[str, str, int, str, int, bool]]
) -> None:
    rows = fed(records)
    one, other = run([nested], rows).table, run(statements, rows).table
    assert _without_times(one) == _without_times(other)


def _without_times(table: dict[tuple[Any, ...], Any]) -> dict[tuple[Any, ...], Any]:
    return {key: {name: value for name, value in row.items() if name != "ROWTIME"} for key, row in table.items()}


def at(seconds: int, topic: str, key: str, a: int = 0) -> Fed:
    return Fed(topic, seconds * 1_000, {"K": key, "A": a, "B": "b"})


COUNTED = "(SELECT k, COUNT(*) AS n FROM {} WINDOW TUMBLING (SIZE 10 SECONDS) GROUP BY k)"


def test_windows_of_a_query_are_in_the_keys_of_what_reads_it() -> None:
    nested = f"CREATE TABLE x AS SELECT k, n * 10 AS m FROM {COUNTED.format('s')} y WHERE n > 1"
    found = run([nested], [at(1, "s", "p"), at(2, "s", "p"), at(11, "s", "p"), at(12, "s", "q"), at(13, "s", "q")])
    assert {key: row["M"] for key, row in found.table.items()} == {("p", 0, 10_000): 20, ("q", 10_000, 20_000): 20}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("JOIN", {("p", 0): (2, 1), ("q", 10_000): (1, 1)}),
        ("LEFT JOIN", {("p", 0): (2, 1), ("p", 10_000): (1, None), ("q", 10_000): (1, 1)}),
    ],
)
def test_windowed_tables_are_joined_window_by_window(kind: str, expected: dict[Any, Any]) -> None:
    nested = (
        f"CREATE TABLE x AS SELECT y.k AS k, y.n AS yn, z.n AS zn"
        f" FROM {COUNTED.format('s')} y {kind} {COUNTED.format('t')} z ON y.k = z.k"
    )
    times = [
        (1, "s", "p"),
        (2, "t", "p"),
        (3, "s", "p"),
        (11, "s", "p"),
        (12, "t", "q"),
        (13, "s", "q"),
        (14, "t", "r"),
    ]
    found = run([nested], [at(*each) for each in times])
    assert {key[:2]: (row["YN"], row["ZN"]) for key, row in found.table.items()} == expected


def test_three_windowed_tables_are_joined_window_by_window() -> None:
    counted = COUNTED.format("s")
    nested = (
        f"CREATE TABLE x AS SELECT a.k AS k, a.n AS one, b.n AS two, c.n AS three"
        f" FROM {counted} a JOIN {counted} b ON a.k = b.k LEFT JOIN {COUNTED.format('t')} c ON a.k = c.k"
    )
    found = run([nested], [at(1, "s", "p"), at(2, "t", "p"), at(3, "s", "p"), at(11, "s", "p")])
    rows = {key[:2]: (row["ONE"], row["TWO"], row["THREE"]) for key, row in found.table.items()}
    assert rows == {("p", 0): (2, 2, 1), ("p", 10_000): (1, 1, None)}


def test_a_full_join_of_windowed_tables_has_the_window_of_the_side_that_is_there() -> None:
    nested = (
        f"CREATE TABLE x AS SELECT rowkey, y.n AS yn, z.n AS zn"
        f" FROM {COUNTED.format('s')} y FULL JOIN {COUNTED.format('t')} z ON y.k = z.k"
    )
    found = run([nested], [at(1, "s", "p"), at(12, "t", "p"), at(13, "t", "q")])
    assert {key[:2]: (row["YN"], row["ZN"]) for key, row in found.table.items()} == {
        ("p", 0): (1, None), ("p", 10_000): (None, 1), ("q", 10_000): (None, 1)
    }  # fmt: skip


def test_groups_of_windows_hold_each_window_once() -> None:
    nested = f"CREATE TABLE x AS SELECT k, COUNT(*) AS windows, MAX(n) AS most FROM {COUNTED.format('s')} y GROUP BY k"
    found = run([nested], [at(1, "s", "p"), at(2, "s", "p"), at(3, "s", "p"), at(11, "s", "p"), at(12, "s", "q")])
    assert {key: (row["WINDOWS"], row["MOST"]) for key, row in found.table.items()} == {("p",): (2, 3), ("q",): (1, 1)}


def test_sessions_that_become_one_are_one_in_what_reads_them() -> None:
    sessions = "(SELECT k, COUNT(*) AS n FROM s WINDOW SESSION (5 SECONDS) GROUP BY k)"
    nested = f"CREATE TABLE x AS SELECT k, COUNT(*) AS sessions, SUM(n) AS records FROM {sessions} y GROUP BY k"
    found = run([nested], [at(1, "s", "p"), at(9, "s", "p"), at(5, "s", "p"), at(30, "s", "p")])
    assert {key: (row["SESSIONS"], row["RECORDS"]) for key, row in found.table.items()} == {("p",): (2, 4)}


def test_final_windows_alone_can_be_read() -> None:
    final = (
        COUNTED.format("s")
        .replace("GROUP BY k", "GROUP BY k EMIT FINAL")
        .replace("SECONDS)", "SECONDS, GRACE PERIOD 0 SECONDS)")
    )
    nested = f"CREATE TABLE x AS SELECT n, COUNT(*) AS windows FROM {final} y GROUP BY n"
    found = run([nested], [at(1, "s", "p"), at(2, "s", "p"), at(3, "s", "q"), at(12, "s", "q"), at(31, "s", "q")])
    assert {key: row["WINDOWS"] for key, row in found.table.items()} == {(2,): 1, (1,): 2}


def test_a_name_that_is_used_twice_is_joined_with_itself() -> None:
    nested = (
        "CREATE STREAM x AS WITH y AS (SELECT * FROM s WHERE a > 0)"
        " SELECT one.k AS k, one.a AS a, other.a AS b FROM y one JOIN y other WITHIN 5 SECONDS ON one.k = other.k"
    )
    found = run([nested], [at(1, "s", "p", 1), at(2, "s", "q", 0), at(3, "s", "p", 2), at(60, "s", "p", 3)])
    pairs = sorted((row["A"], row["B"]) for row, _ in found.rows)
    assert pairs == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3)]
