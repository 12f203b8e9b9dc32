"""Answers that go on: what the client sees while it waits, and what happens when it leaves or does not read."""

from __future__ import annotations

import itertools
import socket

import orjson
import pytest

from streams_sql.engine.client_queries.results import ResultKind, RowBatch
from tests.streams_sql.http.conftest import Stage
from tests.streams_sql.http.staged_engine import StagedResult
from tests.waiting import wait_for

SELECT = orjson.dumps({"sql": "SELECT;", "ksql": "SELECT;"})
LARGE = RowBatch([("x" * 10_000, number) for number in range(100)])
BATCHES_UNREAD_MAX = 12
"""Of 1 MB each: what the sockets and the server hold for a client that does not read."""
POLLS_STILL = 15


def send(connection: socket.socket, path: str, accept: str) -> None:
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\naccept: {accept}\r\ncontent-length: {len(SELECT)}\r\n\r\n"
    connection.sendall(head.encode() + SELECT)


def read_until(connection: socket.socket, wanted: bytes) -> bytes:
    found = b""
    while wanted not in found:
        part = connection.recv(65_536)
        assert part, found
        found += part
    return found


@pytest.mark.parametrize(
    ("path", "accept", "line"),
    [
        ("/query-stream", "*/*", b'["a",1]\n'),
        ("/query-stream", "application/vnd.ksql.v1+json", b'{"row":{"columns":["a",1]}},\n'),
        ("/query", "application/json", b'{"row":{"columns":["a",1]}},\n'),
    ],
)
def test_a_row_is_there_with_its_line_as_soon_as_it_came(stage: Stage, path: str, accept: str, line: bytes) -> None:
    stage.engine.result = StagedResult([RowBatch([("a", 1)])], is_endless=True)
    with stage.service.connect() as connection:
        send(connection, path, accept)
        read_until(connection, line)


def test_rows_that_come_together_are_chunks_of_their_own(stage: Stage) -> None:
    """There are clients that parse what comes at once as one row."""
    stage.engine.result = StagedResult([RowBatch([("a", 1), ("b", 2)])])
    with stage.service.connect() as connection:
        send(connection, "/query-stream", "*/*")
        chunks = read_until(connection, b"\r\n0\r\n\r\n").partition(b"\r\n\r\n")[2].split(b"\r\n")[1::2]
    assert [orjson.loads(chunk) for chunk in chunks[1:3]] == [["a", 1], ["b", 2]]


@pytest.mark.parametrize("kind", [ResultKind.PUSH, ResultKind.PULL])
def test_a_client_that_leaves_ends_its_query(stage: Stage, kind: ResultKind) -> None:
    result = stage.engine.result = StagedResult([LARGE], kind, is_endless=True)
    with stage.service.connect() as connection:
        send(connection, "/query-stream", "*/*")
        read_until(connection, b"200 OK")
        assert result.closes == 0
    wait_for(lambda: result.closes == 1, "the query to be closed")


@pytest.mark.parametrize("kind", [ResultKind.PUSH, ResultKind.PULL])
def test_a_client_that_does_not_read_is_waited_for(stage: Stage, kind: ResultKind) -> None:
    """Rows without end: no more of them are made than have room on the way."""
    result = stage.engine.result = StagedResult(itertools.repeat(LARGE), kind)
    with stage.service.connect() as connection:
        send(connection, "/query-stream", "*/*")
        read_until(connection, b"200 OK")
        taken = _settled(result)
        assert taken < BATCHES_UNREAD_MAX
        for _ in range(200):
            connection.recv(65_536)
        wait_for(lambda: result.taken > taken, "more rows to be taken")
    wait_for(lambda: result.closes == 1, "the query to be closed")


def test_a_query_that_is_closed_ends_its_answer(stage: Stage) -> None:
    result = stage.engine.result = StagedResult([RowBatch([("a", 1)])], is_endless=True)
    with stage.service.connect() as connection:
        send(connection, "/query-stream", "application/vnd.ksql.v1+json")
        read_until(connection, b'["a",1]')
        stage.service.loop.call_soon_threadsafe(result.end.set)
        read_until(connection, b'{"finalMessage":"Query Completed"}]\n')


def _settled(result: StagedResult) -> int:
    """How many batches were taken when no more are for a while."""
    seen: list[int] = []

    def is_still() -> bool:
        seen.append(result.taken)
        return len(seen) >= POLLS_STILL and len(set(seen[-POLLS_STILL:])) == 1

    wait_for(is_still, "no more rows to be taken")
    return seen[-1]
