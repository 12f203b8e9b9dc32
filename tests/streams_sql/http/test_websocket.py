"""Queries over a websocket, as the user interfaces of ksqlDB ask them."""

from __future__ import annotations

import pytest
from starlette.types import Receive, Scope, Send

from barnabas.kernel.http.application import Policy
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from streams_sql.engine.client_queries.results import ResultKind, RowBatch
from streams_sql.engine.failures import StatementFailed, Unavailable
from streams_sql.problem import SqlProblem
from tests.kernel.http.service import Service
from tests.streams_sql.http.conftest import Stage
from tests.streams_sql.http.socket_client import WebSocket, query_path
from tests.streams_sql.http.staged_engine import StagedLines, StagedResult
from tests.waiting import wait_for

SELECT = {"ksql": "SELECT * FROM T;", "streamsProperties": {"auto.offset.reset": "earliest"}}
ID = {"name": "ID", "schema": {"type": "STRING", "fields": None, "memberSchema": None}, "type": "KEY"}
N = {"name": "N", "schema": {"type": "BIGINT", "fields": None, "memberSchema": None}}


def opened(stage: Stage, path: str) -> WebSocket:
    return WebSocket(stage.service.connect(), path)


def test_columns_come_first_and_then_rows_and_the_end(stage: Stage) -> None:
    stage.engine.result = StagedResult([RowBatch([("a", 1)]), RowBatch([("b", 2)])], ResultKind.PULL)
    with opened(stage, query_path(SELECT)) as socket:
        assert socket.status == 101
        assert socket.texts() == [
            [ID, N],
            {"row": {"columns": ["a", 1]}},
            {"row": {"columns": ["b", 2]}},
            {"error": "done"},
        ]
        assert (socket.close_code, socket.close_reason) == (1000, "done")
    assert stage.engine.asked == [("SELECT * FROM T;", {"auto.offset.reset": "earliest"}, {})]
    result = stage.engine.result
    wait_for(lambda: result.closes == 1, "the query to be closed")


@pytest.mark.parametrize(("origin", "status"), [("http://localhost", 101), ("https://evil.example", 403)])
def test_a_page_from_elsewhere_may_not_open_one(stage: Stage, origin: str, status: int) -> None:
    """Of a websocket a browser would let it read everything."""
    stage.engine.result = StagedResult([RowBatch([("a", 1)])], ResultKind.PULL)
    with WebSocket(stage.service.connect(), query_path(SELECT), origin=origin) as socket:
        assert socket.status == status


def test_rows_that_a_table_has_no_more_are_left_out(stage: Stage) -> None:
    stage.engine.result = StagedResult([RowBatch([("a", 1), ("b", None), ("c", 3)], deleted=[1])])
    with opened(stage, query_path(SELECT)) as socket:
        rows = [text["row"]["columns"] for text in socket.texts() if "row" in text]
    assert rows == [["a", 1], ["c", 3]]


def test_lines_of_print_are_texts(stage: Stage) -> None:
    stage.engine.lines = StagedLines(['Key format: "x"', "rowtime: 1"])
    with opened(stage, query_path({"ksql": "PRINT t;"})) as socket:
        assert socket.texts() == ['Key format: "x"', "rowtime: 1", {"error": "done"}]
    wait_for(lambda: stage.engine.lines.closes == 1, "the lines to be closed")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/ws/query", "Error parsing request: missing request parameter"),
        ("/ws/query?request=", "Error parsing request: missing request parameter"),
        ("/ws/query?request=%7B", "the request is not valid JSON: unexpected end of data: line 1 column 2 (char 1)"),
        (query_path({}), 'the body of the request has no "ksql"; it has nothing'),
        (query_path({"ksql": "SELECT 1;"}) + "&version=2", "Received invalid api version: 2"),
    ],
)
def test_what_is_wrong_with_a_request_is_told_in_the_closing_frame(stage: Stage, path: str, message: str) -> None:
    with opened(stage, path) as socket:
        assert socket.texts() == [{"error": message}]
        assert (socket.close_code, socket.close_reason) == (1003, message)


def test_a_long_message_is_whole_in_the_text_and_cut_in_the_closing_frame(stage: Stage) -> None:
    stage.engine.failure = StatementFailed("SELECT;", SqlProblem("ä" * 100))
    with opened(stage, query_path(SELECT)) as socket:
        assert socket.texts() == [{"error": "ä" * 100}]
        assert socket.close_code == 1003
        assert socket.close_reason == "ä" * 60 + "..."


@pytest.mark.parametrize(
    ("failure", "code", "reason"),
    [
        (Unavailable("Kafka is away"), 1011, "Kafka is away"),
        (RuntimeError("secret"), 1011, "Internal server error; the log tells more"),
    ],
    ids=["known", "unknown"],
)
def test_a_failure_on_the_way_ends_the_query(stage: Stage, failure: Exception, code: int, reason: str) -> None:
    stage.engine.result = StagedResult([RowBatch([("a", 1)])], failure=failure)
    with opened(stage, query_path(SELECT)) as socket:
        assert socket.texts()[-1] == {"error": reason}
        assert (socket.close_code, socket.close_reason) == (code, reason)


def test_a_query_that_comes_after_a_change_waits_for_it(stage: Stage) -> None:
    stage.engine.result = StagedResult([])
    with opened(stage, query_path({**SELECT, "commandSequenceNumber": 7})) as socket:
        socket.texts()
    with opened(stage, query_path({**SELECT, "commandSequenceNumber": 8})) as socket:
        socket.texts()
        assert socket.close_code == 1013
    assert stage.engine.reached == [7, 8]


def test_a_client_that_leaves_ends_its_query(stage: Stage) -> None:
    result = stage.engine.result = StagedResult([RowBatch([("a", 1)])], is_endless=True)
    with opened(stage, query_path(SELECT)) as socket:
        socket.text()
        assert socket.text() == {"row": {"columns": ["a", 1]}}
        assert result.closes == 0
    wait_for(lambda: result.closes == 1, "the query to be closed")


def test_there_are_websockets_at_one_path_alone(stage: Stage) -> None:
    with opened(stage, "/ws/other") as socket:
        assert socket.status == 403


def test_who_may_not_ask_gets_no_websocket() -> None:
    async def refuse(request: Request) -> None:
        if request.raw_path == b"/ws/query":
            raise HttpError(403, "not you")

    async def accept(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close"})

    with Service([], policy=Policy(authorizer=refuse), websockets=accept) as service:
        with WebSocket(service.connect(), "/ws/query") as socket:
            assert socket.status == 403
        with WebSocket(service.connect(), "/other") as socket:
            assert socket.status == 101


def test_a_page_for_websockets_is_none_for_others(stage: Stage) -> None:
    assert stage.get("/ws/query").status == 404
