"""Rows that a client streams into a source: an ack for each, while the client still sends."""

from __future__ import annotations

import http.client
import socket
from typing import Any

import orjson
import pytest

from tests.kernel.http.service import ANSWER_DEADLINE_S, HOST
from tests.streams_sql.http.conftest import Stage
from tests.waiting import wait_for

DELIMITED = "application/vnd.ksqlapi.delimited.v1"
TARGET = b'{"target":"S"}\n'


def insert(stage: Stage, body: bytes, accept: str = "") -> tuple[str, bytes]:
    headers = {"accept": accept} if accept else {}
    answer = stage.post("/inserts-stream", body, **headers)
    assert answer.status == 200, answer.body
    return answer.headers["content-type"], answer.body


def acks(stage: Stage, body: bytes) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in insert(stage, body)[1].splitlines()]


class Talk:
    """A request whose body goes on while its answer is read."""

    def __init__(self, stage: Stage) -> None:
        self.connection = http.client.HTTPConnection(HOST, stage.service.port, timeout=ANSWER_DEADLINE_S)
        self.connection.putrequest("POST", "/inserts-stream")
        self.connection.putheader("transfer-encoding", "chunked")
        self.connection.endheaders()
        self._answer: http.client.HTTPResponse | None = None

    def say(self, line: bytes) -> None:
        self.connection.send(b"%x\r\n%b\r\n" % (len(line), line))

    def finish(self) -> None:
        self.connection.send(b"0\r\n\r\n")

    def head(self) -> int:
        self._answer = http.client.HTTPResponse(self.socket)
        self._answer.begin()
        return self._answer.status

    def hear(self) -> Any:
        assert self._answer is not None
        line = self._answer.readline()
        return orjson.loads(line) if line else None

    def leave(self) -> None:
        if self._answer is not None:
            self._answer.close()
        self.connection.close()

    @property
    def socket(self) -> socket.socket:
        found = self.connection.sock
        assert isinstance(found, socket.socket)
        return found


def test_each_row_has_an_ack(stage: Stage) -> None:
    rows = b'{"N":1}\n\n{"N":2}\r\n{"N":3}'
    assert insert(stage, TARGET + rows) == (
        DELIMITED,
        b'{"status":"ok","seq":0}\n{"status":"ok","seq":1}\n{"status":"ok","seq":2}\n',
    )
    assert stage.engine.inserted == [{"N": 1}, {"N": 2}, {"N": 3}]


@pytest.mark.parametrize(("rows", "found"), [(b"", []), (b'{"N":1}\n', [0]), (b'{"N":1}\n{"N":2}\n', [0, 1])])
def test_acks_can_be_one_array(stage: Stage, rows: bytes, found: list[int]) -> None:
    kind, body = insert(stage, TARGET + rows, "application/json")
    assert kind == "application/json"
    assert orjson.loads(body) == [{"status": "ok", "seq": place} for place in found]


def test_no_rows_have_no_acks(stage: Stage) -> None:
    assert insert(stage, TARGET) == (DELIMITED, b"")


def test_a_row_that_does_not_fit_is_passed_over(stage: Stage) -> None:
    assert acks(stage, TARGET + b'{"N":1}\n{"M":1}\n{"N":3}\n') == [
        {"status": "ok", "seq": 0},
        {
            "@type": "generic_error",
            "error_code": 40000,
            "message": "S has no such column",
            "status": "error",
            "seq": 1,
        },
        {"status": "ok", "seq": 2},
    ]


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (b"{", 40000, "a line is not valid JSON"),
        (b"[1]", 40000, "a line must be a JSON object, and is a list"),
        (b'{"N":-1}', 50300, "Kafka is away"),
        (b'{"N":"' + b"x" * 1_100_000, 40000, "a line is longer than the 1048576 bytes allowed"),
    ],
    ids=["no JSON", "no object", "no Kafka", "too long"],
)
def test_some_failures_end_the_stream(stage: Stage, line: bytes, code: int, message: str) -> None:
    found = acks(stage, TARGET + b'{"N":1}\n' + line + b'\n{"N":3}\n')
    assert found[0] == {"status": "ok", "seq": 0}
    assert (found[1]["status"], found[1]["seq"], found[1]["error_code"]) == ("error", 1, code)
    assert message in found[1]["message"]
    assert len(found) == 2


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (b"", 40000, "the first line is not valid JSON"),
        (b"x\n", 40000, "the first line is not valid JSON"),
        (b"{}\n", 40000, 'has no "target"'),
        (b'{"target":1}\n', 40000, '"target" must be a text'),
        (b'{"target":"NOPE"}\n{"N":1}\n', 40001, "unknown stream/table: `NOPE`"),
    ],
)
def test_a_target_must_be_there(stage: Stage, body: bytes, code: int, message: str) -> None:
    answer = stage.post("/inserts-stream", body)
    assert (answer.status, answer.json["error_code"]) == (400, code)
    assert message in answer.json["message"]
    assert stage.engine.inserted == []


def test_the_answer_begins_before_the_first_row(stage: Stage) -> None:
    """Java's client sends rows when it has seen the head of the answer."""
    talk = Talk(stage)
    talk.say(TARGET)
    assert talk.head() == 200
    for place in range(3):
        talk.say(b'{"N":%d}\n' % place)
        assert talk.hear() == {"status": "ok", "seq": place}
    talk.finish()
    assert talk.hear() is None
    talk.leave()


def test_a_row_may_come_in_pieces(stage: Stage) -> None:
    talk = Talk(stage)
    for piece in (b'{"tar', b'get":"S"}\n{"N"', b':1}\n{"N":2', b"}\n"):
        talk.say(piece)
    assert talk.head() == 200
    assert [talk.hear()["seq"], talk.hear()["seq"]] == [0, 1]
    talk.finish()
    talk.leave()


def test_many_rows_keep_their_order(stage: Stage) -> None:
    count = 5_000
    rows = b"".join(b'{"N":%d}\n' % number for number in range(count))
    assert [ack["seq"] for ack in acks(stage, TARGET + rows)] == list(range(count))
    assert [row["N"] for row in stage.engine.inserted] == list(range(count))


def test_a_client_that_leaves_ends_the_stream(stage: Stage) -> None:
    talk = Talk(stage)
    talk.say(TARGET + b'{"N":1}\n')
    assert talk.head() == 200
    assert talk.hear()["seq"] == 0
    talk.leave()
    wait_for(lambda: stage.service.metrics.in_flight == 0, "the request to be over")


def test_a_server_that_stops_ends_the_stream(stage: Stage) -> None:
    talk = Talk(stage)
    talk.say(TARGET + b'{"N":1}\n')
    assert talk.head() == 200
    assert talk.hear()["seq"] == 0
    stage.service.loop.call_soon_threadsafe(stage.stopping.set)
    wait_for(lambda: stage.service.metrics.in_flight == 0, "the request to be over")
    talk.leave()
