"""Tables that change, go and come while they are read."""

from __future__ import annotations

import pytest

from connect.connectors.jdbc.source import JdbcSource
from connect.data.schema import Type
from connect.errors import ConnectError
from tests.connect.connectors.jdbc.reading import Task, jdbc_source, read_once
from tests.connect.connectors.jdbc.sample_database import SampleDatabase


def test_a_new_column_is_read_from_the_next_poll_on(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events([(1, 10)])
    task = Task(jdbc_source(database, "incrementing"))
    (old,) = task.records()
    # More polls than it takes until a driver lets the server prepare a statement.
    assert [task.poll() for _ in range(8)] == [[]] * 8
    database.execute("ALTER TABLE events ADD COLUMN amount INT")
    database.execute("INSERT INTO events VALUES (2, '2024-05-31 12:00:20', 'x', 7)")
    (new,) = task.records()
    task.close()
    assert "amount" not in old.value
    assert (new.value["id"], new.value["amount"]) == (2, 7)
    assert old.value_schema != new.value_schema
    assert new.value_schema is not None
    assert new.value_schema.fields[-1].name == "amount"


def test_a_column_may_go_in_the_middle_of_a_table(database: SampleDatabase) -> None:
    database.create_events()
    database.insert_events([(number, number) for number in range(1, 61)])
    task = Task(jdbc_source(database, "incrementing", batch_max_rows=1))
    before = task.values("note")
    database.execute("ALTER TABLE events DROP COLUMN note")
    database.execute("INSERT INTO events VALUES (61, '2024-05-31 12:10:00')")
    (after,) = task.records()
    task.close()
    assert len(before) == 60
    assert list(after.value) == ["id", "at"]


def test_a_column_may_change_its_type(postgresql: SampleDatabase) -> None:
    postgresql.execute("CREATE TABLE t (id INT PRIMARY KEY, a INT)", "INSERT INTO t VALUES (1, 5)")
    task = Task(jdbc_source(postgresql, "incrementing"))
    task.poll()
    postgresql.execute("ALTER TABLE t ALTER a TYPE TEXT", "INSERT INTO t VALUES (2, 'x')")
    (record,) = task.records()
    task.close()
    assert record.value_schema is not None
    assert record.value_schema.fields[1].schema.type is Type.STRING


def test_a_dropped_table_is_told_and_the_others_go_on(
    database: SampleDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "b"):
        database.create_events(name)
        database.insert_events([(1, 10)], name)
    task = Task(jdbc_source(database, "incrementing"))
    assert len(task.records()) == 2
    database.execute("DROP TABLE a")
    database.insert_events([(2, 20)], "b")
    assert [record.topic for record in task.records()] == ["db-b"]
    task.poll()
    (message,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert message.startswith("there is no table ")
    assert "a: it was dropped or renamed" in message
    database.create_events("a")
    database.insert_events([(2, 20)], "a")
    assert [record.topic for record in task.records()] == ["db-a"]
    task.close()


def test_without_any_table_left_the_task_fails(database: SampleDatabase) -> None:
    database.create_events()
    task = Task(jdbc_source(database, "timestamp+incrementing", timestamp_column_name="at"))
    task.poll()
    database.execute("DROP TABLE events")
    with pytest.raises(ConnectError, match=r"there is no table .*events: it was dropped or renamed"):
        task.poll()


def names(source: JdbcSource) -> list[str]:
    return [shard["table"].rpartition(".")[2] for shard in source.shards()]


FOUND: list[tuple[dict[str, str], list[str]]] = [
    ({}, ["apple", "banana", "cherry"]),
    ({"table_whitelist": "cherry, apple"}, ["apple", "cherry"]),
    ({"table_blacklist": "cherry"}, ["apple", "banana"]),
    ({"table_include_list": ".*an.*,.*rry"}, ["banana", "cherry"]),
    ({"table_include_list": ".*", "table_exclude_list": "(.*[.])?a.*"}, ["banana", "cherry"]),
    ({"table_types": "VIEW"}, ["fruit"]),
    ({"table_types": "TABLE,VIEW"}, ["apple", "banana", "cherry", "fruit"]),
    ({"schema_pattern": "nowhere%"}, []),
]


def test_tables_are_found_as_settings_say(database: SampleDatabase) -> None:
    for name in ("banana", "apple", "cherry"):
        database.execute(f"CREATE TABLE {name} (id INT)")
    database.execute("CREATE VIEW fruit AS SELECT * FROM apple")
    for settings, expected in FOUND:
        source = jdbc_source(database, "bulk", **settings)
        assert names(source) == expected, settings
        assert source.rescan_s == 60


def test_a_pattern_chooses_schemas(postgresql: SampleDatabase, maria: SampleDatabase) -> None:
    postgresql.execute("CREATE SCHEMA sales", "CREATE TABLE sales.t (id INT)", "CREATE TABLE u (id INT)")
    assert names(jdbc_source(postgresql, "bulk", schema_pattern="s_l%")) == ["t"]
    maria.execute("CREATE TABLE t (id INT)")
    catalog = maria.url.partition("?")[0].rpartition("/")[2]
    assert names(jdbc_source(maria, "bulk", catalog_pattern=f"{catalog[:-1]}_")) == ["t"]


def test_tables_of_other_schemas_have_their_schema_in_the_name(postgresql: SampleDatabase) -> None:
    postgresql.execute("CREATE SCHEMA other", "CREATE TABLE other.t (id INT)", "CREATE TABLE t (id INT)")
    assert [shard["table"] for shard in jdbc_source(postgresql, "bulk").shards()] == ["other.t", "public.t"]
    only = jdbc_source(postgresql, "bulk", table_whitelist="other.t")
    assert [shard["table"] for shard in only.shards()] == ["other.t"]
    assert read_once(only) == []


def test_a_wanted_table_that_is_not_there_is_a_problem(database: SampleDatabase) -> None:
    database.create_events()
    (problem,) = jdbc_source(database, "bulk", table_whitelist="events,missing").check()
    assert problem.name == "table.whitelist"
    assert problem.message.startswith("there is no table missing")
