"""Rows that are committed behind others that were read already."""

from __future__ import annotations

import random
import threading
from datetime import UTC, datetime

import pytest

from connect.connectors.jdbc import lookback
from connect.connectors.jdbc.lookback import Lookback, Window
from connect.connectors.jdbc.positions import Position
from tests.connect.connectors.jdbc.reading import Task, jdbc_source, offsets_after, read_once, records_of
from tests.connect.connectors.jdbc.sample_database import BEGINNING, SampleDatabase, insert_event
from tests.waiting import wait_for

WINDOWS: dict[str, dict[str, object]] = {
    "incrementing": {"incrementing_column_name": "id", "incrementing_lookback": 1000},
    "timestamp": {"timestamp_column_name": "at", "timestamp_lookback_ms": 600_000},
    "timestamp+incrementing": {
        "incrementing_column_name": "id",
        "timestamp_column_name": "at",
        "timestamp_lookback_ms": 600_000,
    },
}


@pytest.mark.parametrize("mode", WINDOWS)
def test_a_late_row_is_read_and_no_other_twice(database: SampleDatabase, mode: str) -> None:
    database.create_events()
    database.insert_events([(1, 10), (3, 30)])
    task = Task(jdbc_source(database, mode, batch_max_rows=2, **WINDOWS[mode]))
    assert task.values("id") == [1, 3]
    database.insert_events([(2, 20)])
    assert task.values("id") == [2]
    assert task.poll() == []
    database.insert_events([(4, 40)])
    assert task.values("id") == [4]
    task.close()


def test_without_a_window_a_late_row_is_missed(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events([(1, 10), (3, 30)])
    task = Task(jdbc_source(database, "incrementing"))
    assert task.values("id") == [1, 3]
    database.insert_events([(2, 20)])
    assert task.values("id") == []
    task.close()


def test_a_window_longer_than_a_turn_is_read_to_its_end(sqlite: SampleDatabase) -> None:
    sqlite.create_events()
    sqlite.insert_events([(number, number) for number in range(1, 301)])
    task = Task(jdbc_source(sqlite, "incrementing", batch_max_rows=1, incrementing_lookback=1000))
    assert len(task.records()) == 300
    sqlite.insert_events([(301, 301)])
    assert task.values("id") == [301]
    task.close()


def test_equal_rows_count_one_by_one(sqlite: SampleDatabase) -> None:
    sqlite.execute("CREATE TABLE t (at TIMESTAMP NOT NULL)")
    insert = "INSERT INTO t VALUES ('2024-05-31 12:00:00')"
    sqlite.execute(insert, insert)
    task = Task(jdbc_source(sqlite, "timestamp", timestamp_column_name="at", timestamp_lookback_ms=60_000))
    assert len(task.records()) == 2
    sqlite.execute(insert)
    assert len(task.records()) == 1
    assert task.records() == []
    task.close()


def test_after_a_restart_the_window_comes_again(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events([(1, 0), (2, 3600), (4, 3660)])
    source = jdbc_source(database, "timestamp+incrementing", **WINDOWS["timestamp+incrementing"])
    batches = read_once(source)
    database.insert_events([(3, 3630)])
    again = records_of(read_once(source, offsets_after(batches)))
    assert [record.value["id"] for record in again] == [2, 3, 4]
    assert not source.is_exactly_once


WRITERS = 4
ROWS_OF_WRITER = 40


def test_no_row_of_concurrent_writers_is_lost(postgresql: SampleDatabase) -> None:
    """Each takes its number first and commits later, so that commits are out of order."""
    postgresql.create_events()
    postgresql.execute("CREATE SEQUENCE numbers")

    def write(seed: int) -> None:
        chance = random.Random(seed)
        with postgresql.connect() as connection:
            for _ in range(ROWS_OF_WRITER):
                number = connection.exec_driver_sql("SELECT nextval('numbers')").scalar_one()
                insert_event(connection, number, number)
                connection.exec_driver_sql(f"SELECT pg_sleep({chance.random() * 0.01})")
                connection.commit()

    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(WRITERS)]
    for writer in writers:
        writer.start()
    task = Task(jdbc_source(postgresql, "incrementing", incrementing_lookback=WRITERS * ROWS_OF_WRITER))
    found: list[int] = []

    def all_read() -> bool:
        found.extend(task.values("id"))
        return len(found) >= WRITERS * ROWS_OF_WRITER

    wait_for(all_read, "all rows")
    for writer in writers:
        writer.join()
    assert task.records() == []
    task.close()
    assert sorted(found) == list(range(1, WRITERS * ROWS_OF_WRITER + 1))


def test_a_window_with_too_many_rows_is_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookback, "ROWS_MAX", 100)
    window = Lookback(Window(numbers=1_000_000))
    rows = [(number,) for number in range(150)]
    assert all(window.unread(rows, [Position(None, number) for number in range(150)]))
    start = window.begin(Position(None, 149))
    assert start == Position(None, 75)
    later = rows[76:]
    assert not any(window.unread(later, [Position(None, number) for (number,) in later]))


@pytest.mark.parametrize(
    ("window", "position", "start"),
    [
        (Window(numbers=10), Position(None, 100), Position(None, 90)),
        (Window(numbers=10), Position(), Position()),
        (
            Window(time=BEGINNING - BEGINNING.replace(hour=0)),
            Position(BEGINNING, 7),
            Position(BEGINNING.replace(hour=0)),
        ),
        (
            Window(time=BEGINNING - datetime(1, 1, 1, tzinfo=UTC)),
            Position(datetime(2, 1, 1, tzinfo=UTC)),
            Position(datetime(1, 1, 1, tzinfo=UTC)),
        ),
    ],
)
def test_a_poll_starts_before_the_last_row(window: Window, position: Position, start: Position) -> None:
    assert window.start(position) == start
