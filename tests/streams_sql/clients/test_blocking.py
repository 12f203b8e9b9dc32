"""The client for programs that wait, against a real server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from barnabas.sql import Client, Refused, RowsRefused, ServerUnreachable
from tests.ports import free_port
from tests.registry import RegistryProcess
from tests.sql_service import SqlProcess
from tests.streams_sql.clients.rows import AT, EMPTY, FULL, push_queries

# --- rows ---


def test_rows_come_back_as_they_were_written(client: Client, stream: str) -> None:
    assert client.insert(stream, [FULL, EMPTY]) == 2
    rows = client.query(f"SELECT * FROM {stream} EMIT CHANGES LIMIT 2;")
    assert rows.columns == tuple(FULL)
    assert rows.types[4] == "DECIMAL(30, 2)"
    full, empty = rows.dicts()
    assert full == FULL
    assert empty == EMPTY


def test_rows_are_named_tuples(client: Client, stream: str) -> None:
    client.insert(stream, [{"k": "a", "i": 1}])
    (row,) = client.query(f"SELECT k, i, i + 1, i AS `odd name` FROM {stream} EMIT CHANGES LIMIT 1;")
    assert (row.k, row.i, row.ksql_col_0, row[3]) == ("a", 1, 2, 1)
    assert tuple(row) == ("a", 1, 2, 1)


def test_times_of_any_zone_and_floats_of_any_kind_can_be_written(client: Client, stream: str) -> None:
    east = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    naive = datetime(2026, 1, 2)  # noqa: DTZ001 - times without a zone are meant to be in UTC
    client.insert(stream, [{"k": "a", "t": east, "d": float("-inf")}, {"k": "b", "t": naive, "d": float("nan")}])
    first, second = client.query(f"SELECT t, d FROM {stream} EMIT CHANGES LIMIT 2;")
    assert first == (AT, float("-inf"))
    assert second.t == naive.replace(tzinfo=UTC)
    assert second.d != second.d


def test_rows_as_arrow_have_the_types_of_their_columns(client: Client, stream: str) -> None:
    import pyarrow as pa  # type: ignore[import-untyped]

    client.insert(stream, [EMPTY, FULL])
    table = client.query(f"SELECT * FROM {stream} EMIT CHANGES LIMIT 2;").to_arrow()
    assert table.schema.field("T").type == pa.timestamp("ms", tz="UTC")
    assert table.schema.field("N").type == pa.decimal128(30, 2)
    assert table.schema.field("M").type == pa.map_(pa.string(), pa.int64())
    found = table.to_pylist(maps_as_pydicts="strict")
    assert found == [EMPTY, FULL]
    nothing = client.query(f"SELECT * FROM {stream} EMIT CHANGES LIMIT 0;").to_arrow()
    assert (nothing.num_rows, nothing.schema) == (0, table.schema)


def test_integers_stay_integers_in_pandas_also_where_some_are_missing(client: Client, stream: str) -> None:
    client.insert(stream, [EMPTY, FULL])
    frame = client.query(f"SELECT k, b, o, m, t FROM {stream} EMIT CHANGES LIMIT 2;").to_pandas()
    assert list(frame.dtypes.astype(str)) == ["object", "Int64", "boolean", "object", "datetime64[ms, UTC]"]
    assert frame["B"].dropna().tolist() == [2**63 - 1]
    assert frame["M"].tolist() == [None, {"a": 1, "b": None}]


def test_a_pull_query_reads_a_table_as_it_is_now(client: Client, sql_service: SqlProcess, table: str) -> None:
    client.insert(f"{table}_IN", [{"k": str(number), "n": number} for number in range(1_500)])
    sql_service.wait_for_rows(f"SELECT K FROM {table} WHERE N = 1499;", [["1499"]])
    (row,) = client.query(f"SELECT * FROM {table} WHERE k = '7';")
    assert tuple(row) == ("7", 7, None)
    everything = client.query(f"SELECT n FROM {table};")
    assert sorted(row.n for row in everything) == list(range(1_500))


def test_properties_and_variables_go_along(client: Client, stream: str) -> None:
    client.insert(stream, [{"k": "a"}, {"k": "b"}])
    client.variables["wanted"] = "b"
    assert [row.k for row in client.query(f"SELECT k FROM {stream} WHERE k = '${{wanted}}' EMIT CHANGES LIMIT 1;")] == [
        "b"
    ]
    client.properties["auto.offset.reset"] = "nowhere"
    with pytest.raises(Refused, match="is not one of earliest, latest"):
        client.query(f"SELECT k FROM {stream} EMIT CHANGES LIMIT 1;")


def test_print_gives_lines(client: Client, stream: str, topic: str) -> None:
    client.insert(stream, [{"k": "a", "i": 1}])
    with client.print_lines(f"PRINT '{topic}' FROM BEGINNING LIMIT 1;") as lines:
        assert list(lines)[-1].startswith(b"rowtime: ")


def test_the_server_tells_what_it_is(client: Client) -> None:
    assert client.info()["serverStatus"] == "RUNNING"


# --- push queries ---


def test_a_push_query_goes_on_until_its_context_is_left(client: Client, sql_service: SqlProcess, stream: str) -> None:
    running = push_queries(sql_service)
    client.insert(stream, [{"k": "a"}])
    with client.stream(f"SELECT k FROM {stream} EMIT CHANGES;") as rows:
        found = iter(rows)
        assert next(found).k == "a"
        client.insert(stream, [{"k": "b"}])
        assert next(found).k == "b"
        assert push_queries(sql_service) == running + 1
    assert push_queries(sql_service) == running
    assert list(found) == []


def test_closing_ends_the_rows_of_another_thread(client: Client, sql_service: SqlProcess, stream: str) -> None:
    running = push_queries(sql_service)
    client.insert(stream, [{"k": "a"}])
    rows = client.stream(f"SELECT k FROM {stream} EMIT CHANGES;")
    waiting = threading.Event()

    def read() -> list[str]:
        found = []
        for row in rows:
            found.append(row.k)
            waiting.set()
        return found

    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(read)
        assert waiting.wait(timeout=90)
        rows.close()
        assert reading.result(timeout=90) == ["a"]
    assert push_queries(sql_service) == running


def test_a_query_ends_when_somebody_else_ends_it(client: Client, sql_service: SqlProcess, stream: str) -> None:
    with client.stream(f"SELECT k FROM {stream} EMIT CHANGES;") as rows:
        assert rows.query_id is not None
        client.end_query(rows.query_id)
        assert list(rows) == []
    with pytest.raises(Refused, match="No query with id"):
        client.end_query("transient_0")


# --- inserts ---


def test_rows_that_do_not_fit_are_told_and_the_others_written(client: Client, stream: str) -> None:
    rows: list[dict[str, Any]] = [
        {"k": "a", "i": 1},
        {"k": "b", "i": "x"},
        {"k": "c", "no_such": 1},
        {"k": "d", "i": 2},
    ]
    with pytest.raises(RowsRefused, match=r"Row 1 was refused: .*; 1 more were refused") as refused:
        client.insert(stream, rows)
    assert (list(refused.value.problems), refused.value.written) == ([1, 2], 2)
    assert "NO_SUCH" in refused.value.problems[2].upper()
    assert [row.k for row in client.query(f"SELECT k FROM {stream} EMIT CHANGES LIMIT 2;")] == ["a", "d"]


def test_a_target_that_is_not_there_is_refused(client: Client) -> None:
    with pytest.raises(Refused, match="NO_SUCH_STREAM"):
        client.insert("no_such_stream", [{"k": str(number)} for number in range(5_000)])
    with pytest.raises(Refused, match="NO_SUCH_STREAM"), client.insert_stream("no_such_stream"):
        pass


def test_rows_of_a_stream_are_in_the_topic_while_it_is_open(client: Client, stream: str) -> None:
    with client.insert_stream(stream) as rows, client.stream(f"SELECT k FROM {stream} EMIT CHANGES;") as seen:
        found = iter(seen)
        for key in ("a", "b"):
            rows.send({"k": key})
            assert rows.flush() == {"a": 1, "b": 2}[key]
            assert next(found).k == key
        rows.send({"k": "c", "i": "x"})
        with pytest.raises(RowsRefused, match="Row 2 was refused"):
            rows.flush()
        rows.send({"k": "d"})
        assert rows.close() == 3
        assert rows.close() == 3
        assert next(found).k == "d"


def test_more_rows_than_may_be_under_way(client: Client, stream: str) -> None:
    assert client.insert(stream, ({"k": str(number), "i": number} for number in range(3_000))) == 3_000
    rows = client.query(f"SELECT i FROM {stream} EMIT CHANGES LIMIT 3000;")
    assert [row.i for row in rows] == list(range(3_000))


# --- mistakes ---


def test_a_mistake_has_its_place(client: Client, stream: str) -> None:
    with pytest.raises(Refused) as refused:
        client.query(f"SELECT k,\n  bb FROM {stream} EMIT CHANGES;")
    problem = refused.value
    assert (problem.line, problem.column, problem.code) == (2, 3, 40001)
    assert problem.reason.startswith("SELECT column 'BB' cannot be resolved.")
    assert "^^" not in problem.reason
    assert str(problem).endswith("\n    ^^")
    assert problem.statement == f"SELECT k,\n  bb FROM {stream} EMIT CHANGES;"


def test_nothing_is_done_unless_all_can_be(client: Client, stream: str) -> None:
    with pytest.raises(Refused) as refused:
        client.execute(f"DROP STREAM {stream}; SHOW STREMAS;")
    assert (refused.value.statement, refused.value.done) == ("SHOW STREMAS;", ())
    client.execute(f"DESCRIBE {stream};")


def test_nobody_answers(registry: RegistryProcess) -> None:
    absent = Client(f"http://127.0.0.1:{free_port()}")
    calls = (
        absent.info,
        lambda: absent.execute("SHOW STREAMS;"),
        lambda: absent.query("SELECT 1;"),
        lambda: absent.insert("x", []),
    )
    for call in calls:
        with pytest.raises(ServerUnreachable, match="cannot reach the SQL server at"):
            call()
    with Client(registry.url) as other, pytest.raises(ServerUnreachable, match="not as a SQL server does"):
        other.execute("SHOW STREAMS;")
    with Client("ftp://x") as odd, pytest.raises(ServerUnreachable, match="write it as http://host:port"):
        odd.insert("x", [])


@contextmanager
def broken_server(*pieces: bytes) -> Iterator[str]:
    """Answers one request with these pieces, and breaks off."""

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65_536)
            for piece in pieces:
                connection.sendall(piece)
            # Closed with something unread, it would be reset, and the client would not see what was sent. It may have gone by then.
            with suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65_536):
                    pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
COLUMNS = b'{"queryId":"q","columnNames":["K"],"columnTypes":["STRING"]}\n'


def chunk(text: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(text), text)


def test_an_answer_that_breaks_off_is_no_end() -> None:
    with broken_server(HEAD, chunk(COLUMNS), chunk(b'["a"]\n')) as url, Client(url) as client:
        found = iter(client.stream("SELECT * FROM s EMIT CHANGES;"))
        assert next(found) == ("a",)
        with pytest.raises(ServerUnreachable, match="broke off its answer"):
            next(found)


def write_one(url: str) -> None:
    with Client(url) as client, client.insert_stream("s") as stream:
        stream.send({"k": "a"})


def test_acks_that_break_off_are_no_success() -> None:
    with broken_server(HEAD, chunk(b'{"status":"ok","seq":0}\n')) as url, pytest.raises(ServerUnreachable):
        write_one(url)


def test_a_failure_behind_some_rows_is_told() -> None:
    problem = b'{"@type":"generic_error","error_code":50000,"message":"the query has failed"}\n'
    with broken_server(HEAD, chunk(COLUMNS + b'["a"]\n' + problem), b"0\r\n\r\n") as url, Client(url) as client:
        found: list[Any] = []
        with pytest.raises(Refused, match="the query has failed") as refused:
            found.extend(client.query("SELECT * FROM s;"))
    assert refused.value.code == 50000
