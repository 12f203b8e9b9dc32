"""Times in SQLite, where they are text or numbers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect.connectors.jdbc.loose_times import LooseShape, loose_datetime
from tests.connect.connectors.jdbc.reading import Task, jdbc_source, offsets_after, read_once, records_of
from tests.connect.connectors.jdbc.sample_database import SampleDatabase

MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - the zone follows


def ways(moment: datetime) -> list[str]:
    """The texts that mean a moment."""
    fraction = f"{moment.microsecond:06}"
    digits = [count for count in (0, 3, 6, 9) if count >= 6 or not fraction[count:].strip("0")]
    whole = moment.strftime("%Y-%m-%d %H:%M:%S")
    return [whole + (f".{fraction:0<9}"[: count + 1] if count else "") for count in digits]


@given(MOMENTS, MOMENTS)
def test_bounds_stand_where_the_moment_does(moment: datetime, other: datetime) -> None:
    at_least, more_than = LooseShape().bounds(moment, UTC)
    assert all(at_least <= text <= more_than for text in ways(moment))
    for text in ways(other):
        if other > moment:
            assert text > more_than
        if other < moment:
            assert text < at_least


@pytest.mark.parametrize(
    ("sample", "value"),
    [
        ("2024-05-31 12:00:00", "2024-05-31 12:00:00"),
        ("2024-05-31T12:00:00", "2024-05-31T12:00:00"),
        ("2024-05-31T12:00:00Z", "2024-05-31T12:00:00Z"),
        ("2024-05-31T12:00:00.250Z", "2024-05-31T12:00:00.000Z"),
        ("2024-05-31T14:00:00+02:00", "2024-05-31T14:00:00+02:00"),
        (1717156800, 1717156800),
        (1717156800000, 1717156800000),
    ],
)
def test_a_bound_is_written_as_the_column_writes(sample: Any, value: Any) -> None:
    moment = datetime(2024, 5, 31, 12, tzinfo=UTC)
    assert LooseShape.of(sample).bounds(moment, UTC)[0] == value
    assert loose_datetime(value, UTC) == moment


def test_text_without_a_zone_is_in_the_zone_of_the_database() -> None:
    zone = timezone(timedelta(hours=2))
    assert loose_datetime("2024-05-31 14:00:00", zone) == datetime(2024, 5, 31, 12, tzinfo=UTC)
    assert LooseShape().bounds(datetime(2024, 5, 31, 12, tzinfo=UTC), zone)[0] == "2024-05-31 14:00:00"


STORED: dict[str, list[Any]] = {
    "seconds": [f"'2024-05-31 12:00:0{at}'" for at in range(5)],
    "mixed digits": [
        "'2024-05-31 12:00:00'",
        "'2024-05-31 12:00:00.000'",
        "'2024-05-31 12:00:00.5'",
        "'2024-05-31 12:00:00.500001'",
        "'2024-05-31 12:00:01'",
    ],
    "T and Z": [f"'2024-05-31T12:00:0{at}.000Z'" for at in range(5)],
    "milliseconds": [1717156800000 + at for at in range(5)],
    "whole seconds": [1717156800 + at for at in range(5)],
}


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("mode", ["timestamp", "timestamp+incrementing"])
def test_rows_are_found_however_their_times_are_written(sqlite: SampleDatabase, mode: str, stored: str) -> None:
    sqlite.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at TIMESTAMP NOT NULL)")
    for number, value in enumerate(STORED[stored], start=1):
        sqlite.execute(f"INSERT INTO t VALUES ({number}, {value})")
    source = jdbc_source(sqlite, mode, timestamp_column_name="at", batch_max_rows=1)
    batches = read_once(source)
    assert [record.value["id"] for record in records_of(batches)] == [1, 2, 3, 4, 5]
    for taken in range(6):
        rest = records_of(read_once(source, offsets_after(batches[:taken])))
        ids = [record.value["id"] for record in rest]
        assert ids[-(5 - taken) :] == list(range(taken + 1, 6)) if taken < 5 else ids == []


def test_an_empty_table_is_looked_at_again(sqlite: SampleDatabase) -> None:
    sqlite.execute("CREATE TABLE t (at TIMESTAMP NOT NULL)")
    task = Task(jdbc_source(sqlite, "timestamp", timestamp_column_name="at"))
    assert task.records() == []
    sqlite.execute("INSERT INTO t VALUES (1717156800000)")
    assert len(task.records()) == 1
    assert task.records() == []
    task.close()
