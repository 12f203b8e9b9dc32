"""SELECT and PRINT over HTTP: the forms of the answers as clients of ksqlDB parse them, and what goes wrong on the way."""

from __future__ import annotations

import orjson
import pytest

from streams_sql.engine.client_queries.results import ResultKind, RowBatch
from streams_sql.engine.failures import Busy, EngineError, StatementFailed, TooManyPushQueries, Unavailable
from streams_sql.http.result_response import WHOLE_MAX_BYTES
from streams_sql.problem import Position, SqlProblem
from streams_sql.sources import Column
from streams_sql.sql_types import BIGINT, DOUBLE, INTEGER, STRING, Array, Decimal, Field, Map, Struct
from tests.streams_sql.http.conftest import Stage
from tests.streams_sql.http.staged_engine import StagedLines, StagedResult
from tests.waiting import wait_for

DELIMITED = "application/vnd.ksqlapi.delimited.v1"
KSQL_JSON = "application/vnd.ksql.v1+json"
ROWS = [RowBatch([("a", 1), ("b", None)], deleted=[1]), RowBatch([("c", 3)])]
COLUMNS = '{"queryId":"transient_1","columnNames":["ID","N"],"columnTypes":["STRING","BIGINT"]}'


def ask_stream(stage: Stage, accept: str = "") -> tuple[str, str]:
    headers = {"accept": accept} if accept else {}
    answer = stage.post("/query-stream", {"sql": "SELECT;"}, **headers)
    assert answer.status == 200, answer.body
    return answer.headers["content-type"], answer.body.decode()


def ask(stage: Stage, accept: str = "") -> tuple[str, str]:
    headers = {"accept": accept} if accept else {}
    answer = stage.post("/query", {"ksql": "SELECT;"}, **headers)
    assert answer.status == 200, answer.body
    return answer.headers["content-type"], answer.body.decode()


# --- forms ---


@pytest.mark.parametrize("accept", ["", "*/*", DELIMITED, f"{DELIMITED}, application/json;q=0.5"])
def test_rows_are_lines_unless_the_client_wants_them_otherwise(stage: Stage, accept: str) -> None:
    stage.engine.result = StagedResult(ROWS)
    assert ask_stream(stage, accept) == (DELIMITED, f'{COLUMNS}\n["a",1]\n["c",3]\n')


@pytest.mark.parametrize("accept", ["application/json", "application/json, text/plain, */*"])
def test_rows_can_be_one_array(stage: Stage, accept: str) -> None:
    stage.engine.result = StagedResult(ROWS)
    kind, body = ask_stream(stage, accept)
    assert kind == "application/json"
    assert orjson.loads(body) == [orjson.loads(COLUMNS), ["a", 1], ["c", 3]]


def test_streamed_rows_are_whole_lines_as_they_come(stage: Stage) -> None:
    """Clients read lines: one that ends only with the next row would be seen only then."""
    stage.engine.result = StagedResult(ROWS)
    kind, body = ask_stream(stage, KSQL_JSON)
    assert kind == KSQL_JSON
    assert body.splitlines() == [
        '[{"header":{"queryId":"transient_1","schema":"`ID` STRING, `N` BIGINT"}},',
        '{"row":{"columns":["a",1]}},',
        '{"row":{"columns":["b",null],"tombstone":true}},',
        '{"row":{"columns":["c",3]}},',
        '{"finalMessage":"Query Completed"}]',
    ]
    orjson.loads(body)


@pytest.mark.parametrize("accept", ["", "application/json", KSQL_JSON])
def test_the_older_path_answers_with_streamed_rows(stage: Stage, accept: str) -> None:
    stage.engine.result = StagedResult([RowBatch([("a", 1)])], limit_reached=True)
    kind, body = ask(stage, accept)
    assert kind == (accept or KSQL_JSON)
    assert orjson.loads(body)[1:] == [{"row": {"columns": ["a", 1]}}, {"finalMessage": "Limit Reached"}]


def test_what_a_table_holds_has_its_keys_marked_and_no_last_message(stage: Stage) -> None:
    stage.engine.result = StagedResult([RowBatch([("a", 1)]), RowBatch([("c", 3)])], ResultKind.PULL)
    _, body = ask(stage)
    assert orjson.loads(body) == [
        {"header": {"queryId": "transient_1", "schema": "`ID` STRING KEY, `N` BIGINT"}},
        {"row": {"columns": ["a", 1]}},
        {"row": {"columns": ["c", 3]}},
    ]


def test_an_empty_result_is_a_header(stage: Stage) -> None:
    stage.engine.result = StagedResult([], ResultKind.PULL)
    assert [list(each) for each in orjson.loads(ask(stage)[1])] == [["header"]]
    assert ask_stream(stage)[1] == f"{COLUMNS}\n"
    assert orjson.loads(ask_stream(stage, "application/json")[1]) == [orjson.loads(COLUMNS)]


def test_records_of_a_stream_end_with_a_message(stage: Stage) -> None:
    stage.engine.result = StagedResult([RowBatch([("a", 1)])], ResultKind.SCAN)
    _, body = ask(stage)
    assert orjson.loads(body) == [
        {"header": {"queryId": "transient_1", "schema": "`ID` STRING, `N` BIGINT"}},
        {"row": {"columns": ["a", 1]}},
        {"finalMessage": "Query Completed"},
    ]


def test_texts_of_types_are_those_that_clients_take_apart(stage: Stage) -> None:
    struct = Struct((Field("A", INTEGER), Field("b c", Array(DOUBLE))))
    columns = (Column("D", Decimal(4, 2)), Column("M", Map(STRING, BIGINT)), Column("lower case", struct))
    stage.engine.result = StagedResult([], columns=columns)
    _, body = ask(stage)
    assert orjson.loads(body)[0]["header"]["schema"] == (
        "`D` DECIMAL(4, 2), `M` MAP<STRING, BIGINT>, `lower case` STRUCT<`A` INTEGER, `b c` ARRAY<DOUBLE>>"
    )
    header = orjson.loads(ask_stream(stage)[1])
    assert header["columnNames"] == ["D", "M", "lower case"]
    assert header["columnTypes"] == [
        "DECIMAL(4, 2)",
        "MAP<STRING, BIGINT>",
        "STRUCT<`A` INTEGER, `b c` ARRAY<DOUBLE>>",
    ]


def test_a_result_may_have_notes(stage: Stage) -> None:
    stage.engine.result = StagedResult([], notes=("the view is 3 rows behind",))
    assert orjson.loads(ask(stage)[1])[0]["header"]["notes"] == ["the view is 3 rows behind"]


@pytest.mark.parametrize("path", ["/query", "/query-stream"])
def test_forms_that_there_are_not_are_refused_with_those_that_there_are(stage: Stage, path: str) -> None:
    body = {"ksql": "SELECT;", "sql": "SELECT;"}
    answer = stage.post(path, body, accept="application/vnd.ksql.v1+protobuf")
    assert answer.status == 406
    assert answer.json["error_code"] == 40600
    assert KSQL_JSON in answer.json["message"]
    assert stage.engine.asked == []


# --- requests ---


def test_properties_and_variables_go_along(stage: Stage) -> None:
    stage.engine.result = StagedResult([])
    properties = {"auto.offset.reset": "earliest", "n": 1, "flag": True, "nothing": None}
    stage.post("/query-stream", {"sql": "A;", "properties": properties, "sessionVariables": {"v": "x"}})
    stage.post("/query-stream", {"sql": "B;", "streamsProperties": {"p": "old"}, "properties": {"p": "new"}})
    stage.post("/query", {"ksql": "C;", "streamsProperties": {"p": "q"}, "unknown": [1], "requestProperties": {}})
    texts = {"auto.offset.reset": "earliest", "n": "1", "flag": "true"}
    assert stage.engine.asked == [("A;", texts, {"v": "x"}), ("B;", {"p": "new"}, {}), ("C;", {"p": "q"}, {})]


@pytest.mark.parametrize("path", ["/query", "/query-stream", "/ksql"])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body of the request is not valid JSON"),
        (b"{", "the body of the request is not valid JSON"),
        (b"[]", "the body of the request must be a JSON object, and is a list"),
        (b"null", "the body of the request must be a JSON object, and is null"),
        (b'{"other":1}', "; it has other"),
        (b'{"ksql":1,"sql":1}', "must be a text, and is a number"),
        (b'{"ksql":"","sql":"","sessionVariables":[]}', '"sessionVariables" must be an object, and is a list'),
        (
            b'{"ksql":"","sql":"","streamsProperties":{"a":{}}}',
            '"a" in "streamsProperties" must be a plain value, and is an object',
        ),
        (b'{"ksql":"","sql":"","commandSequenceNumber":"3"}', '"commandSequenceNumber" must be a number'),
        (b"\xff", "the body of the request is not valid JSON"),
    ],
    ids=str,
)
def test_bad_bodies_are_told(stage: Stage, path: str, body: bytes, message: str) -> None:
    answer = stage.post(path, body)
    assert answer.status == 400
    assert answer.json["@type"] == "generic_error"
    assert answer.json["error_code"] == 40000
    assert message in answer.json["message"]
    assert stage.engine.asked == []


def test_a_body_has_a_size_that_it_may_not_exceed(stage: Stage) -> None:
    answer = stage.post("/query", b" " * (17 * 1024 * 1024))
    assert (answer.status, answer.json["error_code"]) == (413, 41300)


def test_a_query_that_comes_after_a_change_waits_for_it(stage: Stage) -> None:
    stage.engine.result = StagedResult([])
    assert stage.post("/query", {"ksql": "SELECT;", "commandSequenceNumber": 7}).status == 200
    late = stage.post("/query-stream", {"sql": "SELECT;", "commandSequenceNumber": 8})
    assert (late.status, late.json["error_code"]) == (503, 50301)
    assert stage.engine.reached == [7, 8]
    assert len(stage.engine.asked) == 1


# --- failures ---


def test_a_statement_that_is_wrong_is_shown_with_a_caret(stage: Stage) -> None:
    problem = SqlProblem("X does not exist.", Position(1, 8))
    stage.engine.failure = StatementFailed("SELECT X;", problem)
    answer = stage.post("/query", {"ksql": "SELECT X;"})
    assert answer.status == 400
    assert answer.json == {
        "@type": "statement_error",
        "error_code": 40001,
        "message": "line 1:8: X does not exist.\n  SELECT X;\n         ^",
        "statementText": "SELECT X;",
        "entities": [],
    }


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (TooManyPushQueries("100 run"), 400, 40003),
        (Busy("100 run"), 429, 42900),
        (Unavailable("Kafka is away"), 503, 50300),
        (EngineError("odd"), 500, 50000),
    ],
    ids=str,
)
def test_failures_have_codes_of_ksqldb(stage: Stage, failure: Exception, status: int, code: int) -> None:
    stage.engine.failure = failure
    answer = stage.post("/query-stream", {"sql": "SELECT;"})
    assert answer.status == status
    assert answer.json == {"@type": "generic_error", "error_code": code, "message": str(failure)}
    assert ("retry-after" in answer.headers) == (status in (429, 503))


def test_a_server_that_starts_says_so(stage: Stage) -> None:
    stage.is_started = False
    answer = stage.post("/query-stream", {"sql": "SELECT;"})
    assert (answer.status, answer.json["error_code"]) == (503, 50302)


def test_an_unknown_failure_is_not_told(stage: Stage) -> None:
    stage.engine.failure = RuntimeError("a secret")
    answer = stage.post("/query", {"ksql": "SELECT;"})
    assert answer.status == 500
    assert answer.json["error_code"] == 50000
    assert "secret" not in answer.json["message"]


def test_a_small_result_that_fails_has_the_status_of_its_failure(stage: Stage) -> None:
    failure = StatementFailed("SELECT;", SqlProblem("The query looks at more rows than it may."))
    result = stage.engine.result = StagedResult([RowBatch([("a", 1)])], ResultKind.PULL, failure=failure)
    answer = stage.post("/query-stream", {"sql": "SELECT;"})
    assert (answer.status, answer.json["error_code"]) == (400, 40001)
    assert result.closes == 1


@pytest.mark.parametrize(
    ("accept", "last"),
    [
        (DELIMITED, '{"@type":"generic_error","error_code":50300,"message":"Kafka is away"}'),
        ("application/json", '{"@type":"generic_error","error_code":50300,"message":"Kafka is away"}]'),
        (KSQL_JSON, '{"errorMessage":{"@type":"generic_error","error_code":50300,"message":"Kafka is away"}}]'),
    ],
)
@pytest.mark.parametrize("kind", [ResultKind.PUSH, ResultKind.PULL])
def test_a_failure_behind_the_head_is_the_last_that_is_told(
    stage: Stage, accept: str, last: str, kind: ResultKind
) -> None:
    large = RowBatch([("x" * WHOLE_MAX_BYTES, 1)])
    stage.engine.result = StagedResult([large, RowBatch([("b", 2)])], kind, failure=Unavailable("Kafka is away"))
    _, body = ask_stream(stage, accept)
    lines = body.splitlines()
    assert lines[-1] == last
    assert '["b",2]' in lines[-2]
    if accept != DELIMITED:
        orjson.loads(body)


# --- PRINT ---


@pytest.mark.parametrize("statement", ["PRINT t;", " print 'T';", "-- what is there?\n/* all */ PRINT t;"])
@pytest.mark.parametrize("path", ["/query", "/query-stream"])
def test_print_answers_with_lines(stage: Stage, path: str, statement: str) -> None:
    lines = stage.engine.lines = StagedLines(["Key format: KAFKA_INT", "rowtime: 1, key: é"])
    answer = stage.post(path, {"ksql": statement, "sql": statement})
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.body.decode() == "Key format: KAFKA_INT\nrowtime: 1, key: é\n"
    wait_for(lambda: lines.closes == 1, "the lines to be closed")


def test_what_ends_print_is_its_last_line(stage: Stage) -> None:
    stage.engine.lines = StagedLines(["a"], Unavailable("The topic is gone."))
    assert stage.post("/query", {"ksql": "PRINT t;"}).body == b"a\nThe topic is gone.\n"


# --- /close-query ---


def test_a_query_can_be_closed_by_its_id(stage: Stage) -> None:
    answer = stage.post("/close-query", {"queryId": "transient_1"})
    assert (answer.status, answer.body) == (200, b"")
    answer = stage.post("/close-query", {"queryId": "transient_2"})
    assert answer.status == 400
    assert answer.json == {
        "@type": "generic_error",
        "error_code": 40000,
        "message": "No query with id transient_2",
    }
    assert stage.post("/close-query", {}).json["error_code"] == 40000
