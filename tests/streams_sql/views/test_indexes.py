"""Indexes of views: built in steps while rows come and go, and used where they help."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streams_sql.bounded.pages import Account, Budget
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.plan.bounded import looks_of
from streams_sql.plan.nodes import PullPlan
from streams_sql.sources import Source
from streams_sql.sql_types import DOUBLE, INTEGER, STRING
from streams_sql.views import index_building
from streams_sql.views.access_path import access_path
from streams_sql.views.bounded_pull import look_plan, table_pull
from streams_sql.views.index_building import COPY, FORMER
from streams_sql.views.layout import TABLE, Places, ViewLayout
from streams_sql.views.pull import TablePull, TableScan
from streams_sql.views.store import Store
from tests.streams_sql.views.stored_tables import StoredTable, StoredTables
from tests.streams_sql.views.tables import plan_of, table

SOURCE = table("topic", {"A": INTEGER, "S": STRING, "F": DOUBLE})
A: Places = (1,)
S: Places = (2,)
STEP = 100


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_building, "STEP_ROWS", STEP)
    monkeypatch.setattr(index_building, "SMALL_ROWS", STEP)


def rows_of(count: int) -> list[tuple[Any, ...]]:
    chosen = random.Random(5)
    return [(f"{number:05}", chosen.choice([None, *range(50)]), str(number % 7), number / 2) for number in range(count)]


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[StoredTable]:
    stored = StoredTable(SOURCE, tmp_path)
    yield stored
    stored.store.close()


def names(store: Store) -> set[str]:
    reader = store.reader()
    try:
        return {name for (name,) in reader.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    finally:
        reader.close()


def content(store: Store) -> list[tuple[Any, ...]]:
    reader = store.reader()
    try:
        return reader.execute(f"SELECT c0, c1, c2, c3 FROM {TABLE} ORDER BY c0").fetchall()
    finally:
        reader.close()


def test_a_small_table_has_its_index_at_once(stored: StoredTable) -> None:
    stored.put(rows_of(50))
    stored.store.want_indexes([A])
    assert stored.tended() == 1
    assert stored.store.ready_indexes == {A}
    stored.store.want_indexes([S])
    stored.tended()
    assert stored.store.ready_indexes == {S}


@pytest.mark.usefixtures("small_steps")
def test_rows_that_change_while_an_index_is_built_are_in_it(stored: StoredTable) -> None:
    stored.put(rows_of(1_000))
    expected = {row[0]: row for row in rows_of(1_000)}
    stored.store.want_indexes([A, S])
    steps = 0
    chosen = random.Random(3)
    while stored.store.tend():
        steps += 1
        changed = (f"{chosen.randrange(1_100):05}", steps, "changed", 0.0)
        stored.put([changed])
        expected[changed[0]] = changed
        gone = f"{chosen.randrange(1_000):05}"
        stored.store.apply([(gone, None, None, None, 1_000, 0, 0, (True, 0, 0))], {0: 1}, [])
        expected.pop(gone, None)
        assert content(stored.store) == [row for _, row in sorted(expected.items())]
    assert steps >= 1_000 // STEP
    assert stored.store.ready_indexes == {A, S}
    assert not {COPY, FORMER} & names(stored.store)
    reader = stored.store.reader()
    assert reader.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    reader.close()


@pytest.mark.usefixtures("small_steps")
def test_what_a_crash_left_is_cleared_away_and_built_anew(stored: StoredTable, tmp_path: Path) -> None:
    stored.put(rows_of(500))
    stored.store.want_indexes([A])
    for _ in range(3):
        assert stored.store.tend()
    stored.store.close()
    again = StoredTable(SOURCE, tmp_path)
    assert COPY in names(again.store)
    assert again.store.ready_indexes == frozenset()
    again.store.want_indexes([A])
    again.tended()
    assert again.store.ready_indexes == {A}
    assert not {COPY, FORMER} & names(again.store)
    assert content(again.store) == rows_of(500)
    again.store.close()


@pytest.mark.usefixtures("small_steps")
def test_another_wish_in_the_meantime_begins_anew(stored: StoredTable) -> None:
    stored.put(rows_of(300))
    stored.store.want_indexes([A])
    assert stored.store.tend()
    stored.store.want_indexes([S])
    stored.tended()
    assert stored.store.ready_indexes == {S}
    stored.store.want_indexes([])
    stored.tended()
    assert stored.store.ready_indexes == frozenset()
    assert content(stored.store) == rows_of(300)


def test_a_database_that_is_begun_anew_has_the_same_indexes(stored: StoredTable) -> None:
    stored.store.want_indexes([A])
    stored.tended()
    stored.store.begin_anew("other")
    stored.tended()
    assert stored.store.ready_indexes == {A}


INDEXES = {A: "BY_A", S: "BY_S"}


@pytest.mark.parametrize(
    ("where", "path"),
    [
        ("K = '00005'", "by key (K=?)"),
        ("A = 5", "by index BY_A (A=?)"),
        ("A > 5 AND A < 9", "by index BY_A (A>? AND A<?)"),
        ("A IN (1, 2)", "by index BY_A (A=?)"),
        ("S = '3' AND A > 5", "by index BY_S (S=?)"),
        ("F > 3", "all rows, in the order of the key"),
        ("LEN(S) = 3", "all rows, in the order of the key, part of the condition is looked at row by row"),
    ],
)
def test_the_index_is_used(stored: StoredTable, where: str, path: str) -> None:
    stored.put(rows_of(200))
    stored.store.want_indexes([A, S])
    stored.tended()
    tables = {"T": SOURCE}
    pull = TablePull(plain(f"SELECT K FROM T WHERE {where};", tables), indexed=frozenset({"A", "S"}))
    reader = stored.store.reader()
    try:
        found = access_path(reader, pull.bound(), ViewLayout.of(SOURCE), INDEXES)
    finally:
        reader.close()
    assert found.replace("A=? AND rowid>?", "A=?").startswith(path)


def plain(text: str, tables: dict[str, Source]) -> PullPlan:
    return plan_of(text, Catalogue(tables))


def test_pages_in_the_order_of_an_index_have_all_rows_once(
    stored: StoredTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streams_sql.views.pull.PAGE_ROWS", 7)
    stored.put(rows_of(300))
    stored.store.want_indexes([A])
    stored.tended()
    for where in (
        "A > 20",
        "A >= 3 AND A <= 30 AND F > 10",
        "A IN (1, 2, 3, 49)",
        "A < 45 AND S <> '3' AND LEN(K) = 5",
    ):
        plan = plain(f"SELECT K FROM T WHERE {where};", {"T": SOURCE})
        found = []
        for indexed in (frozenset({"A"}), frozenset[str]()):
            scan = TableScan(stored.store.reader(), TablePull(plan, indexed=indexed).bound(), Account(Budget()))
            rows: list[tuple[Any, ...]] = []
            while (page := scan.page()) is not None:
                rows += page
            scan.close()
            found.append(rows)
        assert sorted(found[0]) == found[1], where
        assert found[1]


def test_the_first_rows_by_an_index_need_no_sorting(tmp_path: Path) -> None:
    tables = StoredTables(tmp_path, {"T": SOURCE})
    stored = tables.tables["T"]
    stored.put(rows_of(200))
    stored.store.want_indexes([A])
    stored.tended()
    (look,) = looks_of(tables.plan("SELECT K FROM T ORDER BY A DESC LIMIT 3").node)
    reader = stored.store.reader()
    pull = table_pull(look, look_plan(look)).bound()
    assert access_path(reader, pull, ViewLayout.of(SOURCE), INDEXES) == "all rows, in the order of index BY_A"
    reader.close()
    (other,) = looks_of(tables.plan("SELECT K FROM T ORDER BY F DESC LIMIT 3").node)
    reader = stored.store.reader()
    pull = table_pull(other, look_plan(other)).bound()
    assert "sorted by SQLite" in access_path(reader, pull, ViewLayout.of(SOURCE), INDEXES)
    reader.close()
    tables.close()


def test_readers_go_on_while_the_tables_change_places(stored: StoredTable, small_steps: None) -> None:
    stored.put(rows_of(300))
    reader = stored.store.reader()
    cursor: sqlite3.Cursor = reader.execute(f"SELECT c0 FROM {TABLE} ORDER BY c0")
    assert cursor.fetchone() == ("00000",)
    stored.store.want_indexes([A])
    stored.tended()
    assert len(cursor.fetchall()) == 299
    assert reader.execute(f"SELECT count(*) FROM {TABLE} WHERE c1 = 5").fetchone()[0] > 0
    reader.close()
