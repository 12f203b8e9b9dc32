"""Databases that go away under the sink."""

from __future__ import annotations

import pytest

from connect.errors import ConnectError, Retry
from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.connect.connectors.jdbc.writing import BIG, BY_KEY, TOPIC, jdbc_sink, order, rows, write
from tests.databases import PASSWORD, DatabaseProcess, MariaDb
from tests.ports import HOST, free_port


def test_a_killed_server_is_waited_for_and_no_row_is_lost(server: DatabaseProcess) -> None:
    kind = "mariadb" if isinstance(server, MariaDb) else "postgresql"
    database = SampleDatabase(kind, server.create_database())
    with jdbc_sink(database, BY_KEY, insert_mode="upsert") as sink:
        write(sink, [order(number) for number in range(BIG)])
        server.kill()
        for _ in range(2):
            with pytest.raises(Retry) as raised:
                sink.write([order(BIG)])
            assert raised.value.after_s == 0.01
        (problem,) = sink.check()
        assert "cannot connect to" in problem.message
        server.start()
        write(sink, [order(BIG)])
        assert list(sink.check()) == []
    assert [row[0] for row in rows(database)] == list(range(BIG + 1))
    database.close()


def test_retries_are_limited() -> None:
    url = f"jdbc:postgresql://{HOST}:{free_port()}/x?user=u&password={PASSWORD}"
    with jdbc_sink(url, max_retries=2) as sink:
        for _ in range(2):
            with pytest.raises(Retry):
                sink.write([order(1)])
        with pytest.raises(ConnectError, match=r"refused.*max\.retries=2 are used up") as raised:
            sink.write([order(1)])
    assert not isinstance(raised.value, Retry)
    assert PASSWORD not in str(raised.value)


def test_a_password_that_has_expired_ends_the_task(maria: SampleDatabase) -> None:
    with jdbc_sink(maria, auto_create=True) as sink:
        write(sink, [order(1)])
    with (
        jdbc_sink(maria, connection_user="nobody", connection_password=PASSWORD) as sink,
        pytest.raises(ConnectError, match=r"nobody.*cannot connect to") as raised,
    ):
        sink.write([order(2)])
    assert not isinstance(raised.value, Retry)
    assert PASSWORD not in str(raised.value)


def test_a_locked_file_is_waited_for(sqlite: SampleDatabase) -> None:
    with jdbc_sink(sqlite, auto_create=True, connection_timeout="0") as sink:
        write(sink, [order(1)])
        with sqlite.connect() as connection:
            connection.exec_driver_sql("BEGIN EXCLUSIVE")
            with pytest.raises(Retry, match="database is locked"):
                sink.write([order(2)])
        write(sink, [order(2)])
    assert [row[0] for row in rows(sqlite, table=TOPIC)] == [1, 2]
