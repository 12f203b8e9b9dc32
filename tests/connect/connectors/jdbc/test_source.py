"""The modes of the source, on each kind of database."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from connect.api.source import Batch, Offsets, SourceOffset
from connect.data.schema import TIMESTAMP, Type
from connect.errors import ConnectError, InvalidOffsets
from tests.connect.connectors.jdbc.reading import Task, jdbc_source, offsets_after, read_once, records_of
from tests.connect.connectors.jdbc.sample_database import BEGINNING, SampleDatabase

INCREMENTAL: dict[str, dict[str, object]] = {
    "incrementing": {"incrementing_column_name": "id"},
    "timestamp": {"timestamp_column_name": "at"},
    "timestamp+incrementing": {"incrementing_column_name": "id", "timestamp_column_name": "at"},
}
EVENTS = [(1, 10), (2, 20), (3, 20), (4, 20), (5, 30), (6, 40), (7, 40)]


def ids(batches: list[Batch]) -> list[int]:
    return [record.value["id"] for record in records_of(batches)]


def test_bulk_reads_everything_each_time(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events(EVENTS)
    task = Task(jdbc_source(database, "bulk", batch_max_rows=2))
    assert sorted(task.values("id")) == [1, 2, 3, 4, 5, 6, 7]
    database.insert_events([(8, 50)])
    assert sorted(task.values("id")) == [1, 2, 3, 4, 5, 6, 7, 8]
    task.close()


@pytest.mark.parametrize("mode", INCREMENTAL)
def test_new_rows_are_read_once_and_in_order(database: SampleDatabase, mode: str) -> None:
    database.create_events()
    database.insert_events(EVENTS)
    task = Task(jdbc_source(database, mode, batch_max_rows=2, **INCREMENTAL[mode]))
    assert task.values("id") == [1, 2, 3, 4, 5, 6, 7]
    assert task.values("id") == []
    database.insert_events([(9, 60), (8, 50)])
    assert sorted(task.values("id")) == [8, 9]
    task.close()


def test_duckdb_is_read_in_all_modes(duckdb: SampleDatabase) -> None:
    duckdb.create_events()
    duckdb.insert_events(EVENTS)
    for mode in ("bulk", *INCREMENTAL):
        source = jdbc_source(duckdb, mode, batch_max_rows=2, **INCREMENTAL.get(mode, {}))
        batches = read_once(source)
        assert sorted(ids(batches)) == [1, 2, 3, 4, 5, 6, 7]
        assert ids(read_once(source, offsets_after(batches))) == ([] if mode != "bulk" else ids(batches))
    duckdb.insert_events([(8, 50)])
    query = jdbc_source(duckdb, "incrementing", query="SELECT id, note FROM events", incrementing_column_name="id")
    assert ids(read_once(query)) == [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("mode", ["timestamp", "timestamp+incrementing"])
def test_a_changed_row_is_read_again(database: SampleDatabase, mode: str) -> None:
    database.create_events()
    database.insert_events(EVENTS)
    task = Task(jdbc_source(database, mode, **INCREMENTAL[mode]))
    task.poll()
    database.execute("UPDATE events SET note = 'changed', at = '2024-05-31 13:00:00.000000' WHERE id = 2")
    (record,) = task.records()
    assert (record.value["id"], record.value["note"]) == (2, "changed")
    task.close()


@pytest.mark.parametrize("mode", INCREMENTAL)
def test_reading_goes_on_from_each_offset(database: SampleDatabase, mode: str) -> None:
    database.create_events()
    database.insert_events(EVENTS[:5])
    source = jdbc_source(database, mode, batch_max_rows=1, **INCREMENTAL[mode])
    batches = read_once(source)
    for taken in range(len(batches) + 1):
        before, after = batches[:taken], read_once(source, offsets_after(batches[:taken]))
        if mode == "timestamp":
            # Rows of one time come together: they are read again if not all of them were delivered.
            assert set(ids(before)) | set(ids(after)) == {1, 2, 3, 4, 5}
        else:
            assert ids(before) + ids(after) == [1, 2, 3, 4, 5]


def test_a_time_is_reached_with_its_last_row(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events(EVENTS)
    batches = read_once(jdbc_source(database, "timestamp", batch_max_rows=1, timestamp_column_name="at"))
    begin_ms = int(BEGINNING.timestamp() * 1000)
    reached = [(each.offsets[0].offset or {})["timestamp"] - begin_ms for each in batches]
    assert reached == [10_000, 10_000, 10_000, 20_000, 30_000, 30_000, 40_000]


def test_offsets_are_those_of_the_java_connector(database: SampleDatabase) -> None:
    database.create_events()
    database.execute("INSERT INTO events VALUES (41, '2024-05-31 12:00:00.123456', 'x')")
    (batch,) = read_once(jdbc_source(database, "timestamp+incrementing", **INCREMENTAL["timestamp+incrementing"]))
    (offset,) = batch.offsets
    (shard,) = jdbc_source(database, "bulk").shards()
    assert offset.partition == {"protocol": "1", "table": shard["table"]}
    assert shard["table"].rpartition(".")[2] == "events"
    assert offset.offset == {"incrementing": 41, "timestamp": 1717156800123, "timestamp_nanos": 123456000}


def test_the_older_form_of_a_partition_is_understood(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events(EVENTS)
    offsets = Offsets([SourceOffset({"table": "events"}, {"incrementing": 5})])
    assert ids(read_once(jdbc_source(database, "incrementing"), offsets)) == [6, 7]


def test_records_have_the_table_as_topic_and_schema(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events([(1, 10)])
    (record,) = records_of(read_once(jdbc_source(database, "incrementing")))
    assert record.topic == "db-events"
    assert record.key is None
    assert record.value == {"id": 1, "at": BEGINNING + timedelta(seconds=10), "note": "note 1"}
    assert record.value["at"].utcoffset() == timedelta(0)
    schema = record.value_schema
    assert schema is not None
    assert schema.name == "events"
    assert [(each.name, each.schema.type, each.schema.name, each.schema.optional) for each in schema.fields] == [
        ("id", Type.INT64, None, False),
        ("at", Type.INT64, TIMESTAMP, False),
        ("note", Type.STRING, None, True),
    ]


@pytest.mark.parametrize("mode", ["bulk", *INCREMENTAL])
def test_a_query_is_read(database: SampleDatabase, mode: str) -> None:
    database.create_events()
    database.insert_events(EVENTS)
    query = "SELECT id, at, note, 'fifty %' AS percent FROM events WHERE id <> 3;"
    source = jdbc_source(database, mode, query=query, batch_max_rows=2, **INCREMENTAL.get(mode, {}))
    task = Task(source)
    assert source.shards() == ({"query": "query"},)
    batches = task.poll()
    assert sorted(ids(batches)) == [1, 2, 4, 5, 6, 7]
    first = records_of(batches)[0]
    assert first.topic == "db-"
    assert first.value["percent"] == "fifty %"
    assert first.value["at"].tzinfo is not None
    assert {each.partition["query"] for batch in batches for each in batch.offsets} == (
        {"query"} if mode != "bulk" else set()
    )
    database.insert_events([(8, 50)])
    assert ids(task.poll())[-1] == 8
    task.close()


def test_rows_that_are_too_young_wait(database: SampleDatabase) -> None:
    database.create_events()
    now = (datetime.now(UTC) - BEGINNING).total_seconds()
    database.insert_events([(1, 10), (2, int(now) - 30)])
    assert ids(read_once(jdbc_source(database, "timestamp", timestamp_column_name="at"))) == [1, 2]
    delayed = jdbc_source(database, "timestamp", timestamp_column_name="at", timestamp_delay_interval_ms=60_000)
    assert ids(read_once(delayed)) == [1]


@pytest.mark.parametrize(("initial", "expected"), [("1717156830000", [6, 7]), ("-1", [])])
def test_a_table_is_begun_at_the_initial_timestamp(database: SampleDatabase, initial: str, expected: list[int]) -> None:
    database.create_events()
    database.insert_events(EVENTS)
    source = jdbc_source(database, "timestamp", timestamp_column_name="at", timestamp_initial=initial)
    batches = read_once(source)
    assert ids(batches) == expected
    assert ids(read_once(source, offsets_after(batches))) == []


def test_of_several_timestamps_the_first_that_is_not_null_counts(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events(EVENTS)
    database.execute(
        "ALTER TABLE events ADD COLUMN changed_at " + ("DATETIME(6)" if database.kind == "mariadb" else "TIMESTAMP")
    )
    task = Task(jdbc_source(database, "timestamp", timestamp_column_name="changed_at,at"))
    assert task.values("id") == [1, 2, 3, 4, 5, 6, 7]
    database.execute("UPDATE events SET changed_at = '2024-06-01 00:00:00.000000' WHERE id = 2")
    assert task.values("id") == [2]
    task.close()


def test_a_suffix_stands_behind_the_query(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events(EVENTS)
    task = Task(jdbc_source(database, "incrementing", query_suffix="LIMIT 3"))
    assert [task.values("id") for _ in range(4)] == [[1, 2, 3], [4, 5, 6], [7], []]
    task.close()


def test_an_isolation_level_is_taken(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events(EVENTS)
    task = Task(jdbc_source(database, "incrementing", transaction_isolation_mode="SERIALIZABLE"))
    assert task.values("id") == [1, 2, 3, 4, 5, 6, 7]
    database.insert_events([(8, 50)])
    assert task.values("id") == [8]
    task.close()


def test_names_stand_in_quotes(database: SampleDatabase) -> None:
    table, column = database.quoted("Odd 100% Name"), database.quoted("the Id")
    database.execute(
        f"CREATE TABLE {table} ({column} BIGINT NOT NULL PRIMARY KEY)", f"INSERT INTO {table} VALUES (1), (2)"
    )
    task = Task(jdbc_source(database, "incrementing", incrementing_column_name="the Id"))
    assert [record.topic for record in task.records()] == ["db-Odd 100% Name"] * 2
    database.execute(f"INSERT INTO {table} VALUES (3)")
    assert task.values("the Id") == [3]
    task.close()


def test_a_long_table_leaves_others_their_turn(database: SampleDatabase) -> None:
    for name in ("a", "b"):
        database.create_events(name)
        database.insert_events([(number, number) for number in range(1, 301)], name)
    task = Task(jdbc_source(database, "incrementing", batch_max_rows=1))
    topics = [record.topic for record in task.records()]
    task.close()
    assert sorted(topics) == ["db-a"] * 300 + ["db-b"] * 300
    # Ten pages of twenty batches, then the other table.
    assert topics[:400] == ["db-a"] * 200 + ["db-b"] * 200


def test_others_can_write_while_a_page_is_read(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events(EVENTS)
    task = Task(jdbc_source(database, "incrementing", batch_max_rows=1))
    task.batch()
    database.insert_events([(8, 50)])
    assert task.values("id")[:6] == [2, 3, 4, 5, 6, 7]
    task.close()


@pytest.mark.parametrize(
    ("mode", "settings", "ddl", "message"),
    [
        ("incrementing", {}, "t (a INT, b INT)", "0 columns that count up"),
        ("incrementing", {"incrementing_column_name": "x"}, "t (a INT NOT NULL)", "no column x: it has a"),
        ("incrementing", {"incrementing_column_name": "a"}, "t (a VARCHAR(9) NOT NULL)", "a column of whole numbers"),
        ("incrementing", {"incrementing_column_name": "a"}, "t (a INT)", "allows NULL in a"),
        ("timestamp", {"timestamp_column_name": "a"}, "t (a TIMESTAMP NULL)", "allows NULL in a"),
        ("timestamp", {"timestamp_columns_mapping": "x.*:[a]"}, "t (a TIMESTAMP)", "0 patterns"),
    ],
)
def test_columns_that_cannot_serve_are_told(
    sqlite: SampleDatabase, mode: str, settings: dict[str, Any], ddl: str, message: str
) -> None:
    sqlite.execute(f"CREATE TABLE {ddl}")
    source = jdbc_source(sqlite, mode, **settings)
    with pytest.raises(ConnectError, match=message):
        read_once(source)
    (problem,) = source.check()
    assert message in problem.message


@pytest.mark.parametrize(
    ("query", "message"), [("SELEKT 1", "(?i)syntax"), ("SELECT 1 AS a", "has no column id: it has a")]
)
def test_a_query_that_cannot_serve_is_a_problem(database: SampleDatabase, query: str, message: str) -> None:
    database.create_events()
    (problem,) = jdbc_source(database, "incrementing", query=query, incrementing_column_name="id").check()
    assert problem.name == "query"
    assert re.search(message, problem.message)


def test_columns_may_be_mapped_table_by_table(database: SampleDatabase) -> None:
    database.execute("CREATE TABLE one (a BIGINT NOT NULL)", "CREATE TABLE two (b BIGINT NOT NULL)")
    database.execute("INSERT INTO one VALUES (5)", "INSERT INTO two VALUES (6)")
    source = jdbc_source(database, "incrementing", incrementing_column_mapping=".*one:a,.*two:b")
    reached = {
        each.partition["table"].rpartition(".")[2]: each.offset for batch in read_once(source) for each in batch.offsets
    }
    assert reached == {"one": {"incrementing": 5}, "two": {"incrementing": 6}}


@pytest.mark.parametrize(
    ("partition", "offset", "message"),
    [
        ({"file": "x"}, {"incrementing": 1}, "names no table"),
        ({"table": "t", "protocol": "1"}, {"incrementing": "1"}, "whole number"),
        ({"table": "t", "protocol": "1"}, {"incrementing": 1, "timestamp_nanos": 1, "timestamp": "1"}, "whole number"),
        ({"table": "t", "protocol": "1"}, {"timestamp": 1, "timestamp_nanos": -1}, "nanoseconds of a second"),
        ({"table": "t", "protocol": "1"}, {"timestamp": 10**18}, "milliseconds since 1970"),
        ({"table": "t", "protocol": "1"}, {"incremnting": 1}, "no incremnting: expected incrementing, timestamp"),
        ({"table": "t", "protocol": "1"}, {"timestamp": 1}, "no incrementing, as mode=incrementing needs"),
        ({"table": "t", "protocol": "1"}, {}, "no incrementing, as mode=incrementing needs"),
        ({"table": "tt", "protocol": "1"}, {"incrementing": 1}, "reads: expected .*'table': 't'"),
        ({"table": "t", "protocol": "7"}, {"incrementing": 1}, "reads: expected .*'protocol': '1'"),
        ({"query": "query"}, {"incrementing": 1}, "reads: expected .*'table': 't'"),
    ],
)
def test_offsets_that_mean_nothing_are_refused(
    sqlite: SampleDatabase, partition: dict[str, str], offset: dict[str, Any], message: str
) -> None:
    sqlite.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    source = jdbc_source(sqlite, "incrementing")
    with pytest.raises(InvalidOffsets, match=message):
        source.check_offsets([SourceOffset(partition, offset)])
    source.check_offsets(
        [
            SourceOffset({"table": "t", "protocol": "1"}, {"incrementing": 1}),
            SourceOffset({"table": "t"}, {"incrementing": 1}),
            SourceOffset({"table": "gone"}, None),
        ]
    )


def test_offsets_of_a_query_are_those_of_its_one_part(sqlite: SampleDatabase) -> None:
    source = jdbc_source(sqlite, "incrementing", query="SELECT 1 AS id", incrementing_column_name="id")
    source.check_offsets([SourceOffset({"query": "query"}, {"incrementing": 1})])
    with pytest.raises(InvalidOffsets, match=r"expected \{'query': 'query'\}"):
        source.check_offsets([SourceOffset({"table": "t"}, {"incrementing": 1})])


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_file_that_is_not_there_is_told_and_not_made(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "none.db"
    source = jdbc_source(f"jdbc:{kind}:{file}", "incrementing")
    (problem,) = source.check()
    assert (problem.name, f"there is no file {file}" in problem.message) == ("connection.url", True)
    with pytest.raises(ConnectError, match="there is no file"):
        source.shards()
    # Whether offsets are right cannot be said then, but they can be moved.
    source.check_offsets([SourceOffset({"table": "t"}, {"incrementing": 1})])
    assert not file.exists()
