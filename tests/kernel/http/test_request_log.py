"""Which requests have a line in the log, and what it says."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence

import pytest
from starlette.responses import Response, StreamingResponse

from barnabas.kernel import current_request
from barnabas.kernel.http.application import Policy
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.request_log import RequestLogRules
from barnabas.kernel.line_budget import LINES_MAX, LineBudget
from tests.kernel.http.service import Service, route

SLOW_MS = 20


async def quick(_request: Request) -> Response:
    logging.getLogger("handler").warning("at work")
    return Response("x")


async def slow(_request: Request) -> Response:
    await asyncio.sleep(2 * SLOW_MS / 1000)
    return Response("x")


async def stream(_request: Request) -> Response:
    async def parts() -> AsyncIterator[bytes]:
        await asyncio.sleep(2 * SLOW_MS / 1000)
        yield b"x"

    return StreamingResponse(parts())


async def away(_request: Request) -> Response:
    raise HttpError(503, "the broker is away")


async def broken(_request: Request) -> Response:
    raise RuntimeError("secret")


async def names(_request: Request) -> Response:
    return Response(current_request.request_id() or "none")


ROUTES = [
    route("GET", "/quick/{name}", quick),
    route("GET", "/slow", slow),
    route("GET", "/stream", stream),
    route("GET", "/away", away),
    route("GET", "/broken", broken),
    route("GET", "/names", names),
    route("GET", "/kept", names, cached=True),
]


def told(service: Service, caplog: pytest.LogCaptureFixture, *paths: str) -> Sequence[logging.LogRecord]:
    """The lines about these requests; an answer is there before its line."""
    for path in paths:
        service.ask("GET", path, X_Request_ID=f"id-{len(path)}")
    service.stop()
    return [record for record in caplog.records if record.name.endswith("request_log")]


def fields(record: logging.LogRecord) -> dict[str, object]:
    found: dict[str, object] = record.__dict__["fields"]
    return found


@pytest.mark.parametrize(
    ("wants", "paths"),
    [
        ("all", ["/quick/a", "/slow", "/stream", "/away", "/broken", "/nowhere"]),
        ("problems", ["/slow", "/away", "/broken"]),
        ("none", []),
    ],
)
def test_the_operator_says_which_requests_are_told(
    wants: str, paths: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with Service(ROUTES, Policy(request_log=RequestLogRules(wants, SLOW_MS))) as service:
        lines = told(service, caplog, "/quick/a", "/slow", "/stream", "/away", "/broken", "/nowhere")
    # In any order: the client of a stream has all of it before the line about it, and may have asked for the next thing.
    assert sorted(str(fields(line)["path"]) for line in lines) == sorted(paths)
    warned = {fields(line)["path"] for line in lines if line.levelno == logging.WARNING}
    assert warned == {"/slow", "/away", "/broken"}.intersection(paths)


def test_a_line_tells_the_request_without_its_query(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with Service(ROUTES, Policy(request_log=RequestLogRules("all"))) as service:
        (line,) = told(service, caplog, "/quick/a%0Ab?token=secret")
    found = fields(line)
    assert isinstance(found.pop("duration_ms"), float)
    assert found == {
        "request_id": "id-25",
        "method": "GET",
        "path": "/quick/a%0Ab",
        "route": "/quick/{name}",
        "status": 200,
        "client": "127.0.0.1",
    }
    assert line.getMessage().startswith("GET /quick/a%0Ab: 200 after ")
    assert "secret" not in line.getMessage()


def test_a_debug_level_shows_every_request(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Service(ROUTES, Policy(request_log=RequestLogRules("problems"))) as service:
        (line,) = told(service, caplog, "/quick/a")
    assert line.levelno == logging.DEBUG


def test_answers_that_were_kept_are_told_under_their_own_ids(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with Service(ROUTES, Policy(request_log=RequestLogRules("all"))) as service:
        assert service.ask("GET", "/kept", X_Request_ID="one").body == b"one"
        assert service.ask("GET", "/kept", X_Request_ID="two").body == b"one"
        lines = told(service, caplog)
    assert [fields(line)["request_id"] for line in lines] == ["one", "two"]


def test_a_handler_works_under_the_id_of_its_request() -> None:
    with Service(ROUTES) as service:
        assert service.ask("GET", "/names", X_Request_ID="mine").body == b"mine"
        answer = service.ask("GET", "/names", X_Request_ID="no good")
        assert answer.body.decode() == answer.headers["x-request-id"] != "no good"


def test_a_flood_of_problems_does_not_fill_the_log() -> None:
    now_s = 5.0
    budget = LineBudget(clock_s=lambda: now_s)
    assert [budget.has_room() for _ in range(LINES_MAX + 3)] == [True] * LINES_MAX + [False] * 3
    now_s = 10.1
    assert budget.has_room()
    assert budget.left_out() == "; 3 such lines were left out before it"
    assert budget.left_out() == ""
