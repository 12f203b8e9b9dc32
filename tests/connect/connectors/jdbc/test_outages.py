"""Databases that are away, refuse us, or are killed."""

from __future__ import annotations

import pytest

from connect.api.source import Offsets
from connect.errors import ConnectError, Retry
from tests.connect.connectors.jdbc.reading import Task, jdbc_source, offsets_after, records_of
from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.databases import PASSWORD, DatabaseProcess, MariaDb
from tests.ports import HOST, free_port
from tests.waiting import wait_for


def test_a_killed_server_is_waited_for_and_no_row_is_lost(server: DatabaseProcess) -> None:
    kind = "mariadb" if isinstance(server, MariaDb) else "postgresql"
    database = SampleDatabase(kind, server.create_database())
    database.create_events()
    database.insert_events([(number, number) for number in range(1, 201)])
    source = jdbc_source(database, "incrementing", batch_max_rows=10)
    shards = source.shards()
    task = Task(source)
    batches = [task.batch(), task.batch()]
    server.kill()
    with pytest.raises(Retry) as raised:
        batches.extend(task.poll_for_ever())
    assert raised.value.after_s == 0.01
    with pytest.raises(Retry, match="cannot connect to"):
        next(source.read(shards, Offsets()))
    server.start()
    database.insert_events([(201, 201)])
    batches += Task(source, offsets_after(batches)).poll()
    found = [record.value["id"] for record in records_of(batches)]
    assert found == [number for (number,) in database.rows("SELECT id FROM events ORDER BY id")]
    assert len(found) == 201
    database.close()


@pytest.mark.parametrize(
    "url",
    [
        f"jdbc:postgresql://{HOST}:{{port}}/x?user=u&password={PASSWORD}",
        f"jdbc:mysql://{HOST}:{{port}}/x?user=u&password={PASSWORD}",
        f"postgresql://u:{PASSWORD}@{HOST}:{{port}}/x",
    ],
)
def test_an_unreachable_server_is_told_without_the_password(url: str) -> None:
    source = jdbc_source(url.format(port=free_port()), "bulk", connection_attempts=2)
    with pytest.raises(Retry) as raised:
        source.shards()
    (problem,) = source.check()
    assert problem.name == "connection.url"
    for text in (str(raised.value), problem.message):
        assert "refused" in text
        assert f"cannot connect to {url.partition(':')[0].replace('jdbc', '')}" in text
        assert PASSWORD not in text


def test_a_refused_user_is_no_outage(postgresql: SampleDatabase, maria: SampleDatabase) -> None:
    for database in (postgresql, maria):
        source = jdbc_source(database, "bulk", connection_user="nobody", connection_password=PASSWORD)
        with pytest.raises(ConnectError) as raised:
            source.shards()
        assert not isinstance(raised.value, Retry)
        assert "nobody" in str(raised.value)
        assert PASSWORD not in str(raised.value)


def test_retries_may_be_limited() -> None:
    source = jdbc_source(f"jdbc:postgresql://{HOST}:{free_port()}/x", "bulk", query_retry_attempts=1)
    shards = [{"table": "t", "schema": None}]
    with pytest.raises(Retry):
        next(source.read(shards, Offsets()))
    with pytest.raises(ConnectError, match=r"query\.retry\.attempts=1 are used up") as raised:
        next(source.read(shards, Offsets()))
    assert not isinstance(raised.value, Retry)


def test_a_statement_that_is_wrong_ends_the_task_with_the_cause_first(database: SampleDatabase) -> None:
    database.create_events()
    task = Task(jdbc_source(database, "bulk", query="SELEKT 1"))
    with pytest.raises(ConnectError, match=r"(?i)syntax.*: cannot read the query") as raised:
        task.poll()
    assert not isinstance(raised.value, Retry)


def test_a_locked_file_is_waited_for(sqlite: SampleDatabase) -> None:
    sqlite.create_events()
    source = jdbc_source(sqlite, "bulk", connection_timeout="0")
    task = Task(source)
    with sqlite.connect() as connection:
        connection.exec_driver_sql("BEGIN EXCLUSIVE")
        with pytest.raises(Retry, match="database is locked"):
            task.poll()


def test_leaving_a_long_answer_does_not_read_it(maria: SampleDatabase) -> None:
    maria.execute("CREATE TABLE long_one AS SELECT seq AS id, REPEAT('x', 1000) AS text FROM seq_1_to_20000")
    source = jdbc_source(maria, "bulk", batch_max_rows=10)
    task = Task(source)
    assert len(task.batch().records) == 10
    task.close()
    wait_for(lambda: "long_one" not in str(maria.rows("SHOW PROCESSLIST")), "the server to give the query up")
