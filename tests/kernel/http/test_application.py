"""What every answer of a service has in common: bodies and their limits, errors, ids, CORS, gzip, metrics."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import logging
import zlib
from collections.abc import AsyncIterator, Iterator

import pytest
from starlette.responses import Response, StreamingResponse

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.application import Policy, RequestLimits
from barnabas.kernel.http.compression import ANSWER_MIN_BYTES, INLINE_MAX_BYTES
from barnabas.kernel.http.cross_origin import CrossOrigin
from barnabas.kernel.http.error_answers import ErrorAnswers
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.extra_headers import parse_extra_headers
from barnabas.kernel.http.principal import ANONYMOUS
from barnabas.kernel.http.request import BodyLimits, Request
from tests.kernel.http.service import Service, route
from tests.waiting import wait_for

BODY_MAX_BYTES = 100_000


class KnownProblem(Exception):
    pass


async def echo(request: Request) -> Response:
    flags = {name: request.flag(name) for name in ("a", "b")}
    return json_answer(
        [request.path_value("name"), request.query_values("key"), request.query_value("none", "-"), flags]
    )


async def length(request: Request) -> Response:
    assert await request.body() is await request.body()
    return json_answer(len(await request.body()))


async def load(request: Request) -> Response:
    return json_answer(await request.json(), media_type="application/x+json")


async def text_of(request: Request) -> Response:
    return Response(b"x" * int(request.path_value("size")), media_type="text/plain")


async def stream(_request: Request) -> Response:
    return StreamingResponse(b"x" * 1000 for _ in range(3))


async def break_off(_request: Request) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"first"
        raise ValueError("in the middle")

    return StreamingResponse(chunks())


async def fail(request: Request) -> Response:
    problems = {
        "http": HttpError(422, "nothing here", code=42201, headers={"X-Why": "so"}),
        "known": KnownProblem("told"),
        "unknown": ValueError("secret insides"),
        "time": TimeoutError("of its own"),
    }
    raise problems[request.path_value("how")]


async def hang(_request: Request) -> Response:
    await asyncio.Event().wait()
    raise AssertionError


async def who(request: Request) -> Response:
    assert request.route is not None
    return json_answer([request.principal.name, request.route.template])


ROUTES = [
    route("GET", "/echo/{name}", echo),
    route("POST", "/length", length),
    route("POST", "/load", load),
    route("GET", "/text/{size}", text_of),
    route("GET", "/stream", stream),
    route("GET", "/break", break_off),
    route("GET", "/fail/{how}", fail),
    route("GET", "/hang", hang),
    route("GET", "/who", who),
]


def translate(problem: Exception) -> HttpError | None:
    return HttpError(409, f"known: {problem}", code=40901) if isinstance(problem, KnownProblem) else None


def choose_type(request: Request) -> str:
    return request.headers.get("accept", "application/json")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    policy = Policy(
        limits=RequestLimits(body=BodyLimits(max_bytes=BODY_MAX_BYTES)),
        extra_headers=parse_extra_headers("response.http.headers.config", "set X-Frame-Options: DENY"),
    )
    with Service(ROUTES, policy=policy, errors=ErrorAnswers(translate, choose_type)) as running:
        yield running


def test_parameters_of_path_and_query(service: Service) -> None:
    answer = service.ask("GET", "/echo/a%2Fb%20c?key=1&a=True&key=&b=yes&key=%C3%A9+x")
    assert answer.json == ["a/b c", ["1", "", "é x"], "-", {"a": True, "b": False}]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"


def test_everyone_is_anonymous(service: Service) -> None:
    assert service.ask("GET", "/who").json == [ANONYMOUS.name, "/who"]


@pytest.mark.parametrize("size", [0, 1, BODY_MAX_BYTES])
def test_a_body_is_read_whole(service: Service, size: int) -> None:
    body = b"x" * size
    assert service.ask("POST", "/length", body).json == size
    assert service.ask("POST", "/length", gzip.compress(body, mtime=0), Content_Encoding="gzip").json == size


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"x" * (BODY_MAX_BYTES + 1), ""),
        (b"x" * (20 * BODY_MAX_BYTES), ""),
        (gzip.compress(b"x" * (BODY_MAX_BYTES + 1)), "gzip"),
        (gzip.compress(b"\0" * 100_000_000, mtime=0), "gzip"),
    ],
    ids=["a byte too much", "much too much", "a byte too much when inflated", "a bomb"],
)
def test_a_body_that_is_too_large_is_refused(service: Service, body: bytes, encoding: str) -> None:
    answer = service.ask("POST", "/length", body, Content_Encoding=encoding)
    assert (answer.status, answer.json["error_code"]) == (413, 413)
    assert f"{BODY_MAX_BYTES} bytes" in answer.json["message"]


@pytest.mark.parametrize(
    ("body", "encoding", "status", "message"),
    [
        (b"no gzip", "gzip", 400, "not valid gzip"),
        (gzip.compress(b"x" * 1000, mtime=0)[:-9], "gzip", 400, "ends too early"),
        (b"", "gzip", 400, "ends too early"),
        (gzip.compress(b"x", mtime=0) + gzip.compress(b"y", mtime=0), "gzip", 400, "goes on after its end"),
        (zlib.compress(b"x"), "deflate", 415, "'deflate' is not supported"),
    ],
)
def test_a_body_in_another_encoding_is_refused(
    service: Service, body: bytes, encoding: str, status: int, message: str
) -> None:
    answer = service.ask("POST", "/length", body, Content_Encoding=encoding)
    assert answer.status == status
    assert message in answer.json["message"]


def test_json_is_read_and_written(service: Service) -> None:
    answer = service.ask("POST", "/load", b' {"a": [1, null, "\xc3\xa9"]} ')
    assert (answer.status, answer.body) == (200, b'{"a":[1,null,"\xc3\xa9"]}')
    assert answer.headers["content-type"] == "application/x+json"


@pytest.mark.parametrize("body", [b"", b"{", b'{"a":1}}', b"\xff", b"NaN", b"[" * 50_000])
def test_malformed_json_is_a_400(service: Service, body: bytes) -> None:
    answer = service.ask("POST", "/load", body)
    assert (answer.status, answer.json["error_code"]) == (400, 400)
    assert "not valid JSON" in answer.json["message"]


@pytest.mark.parametrize(
    ("how", "status", "body"),
    [
        ("http", 422, {"error_code": 42201, "message": "nothing here"}),
        ("known", 409, {"error_code": 40901, "message": "known: told"}),
    ],
)
def test_errors_are_answers(service: Service, how: str, status: int, body: dict[str, object]) -> None:
    answer = service.ask("GET", f"/fail/{how}", Accept="application/y+json")
    assert (answer.status, answer.json, answer.headers["content-type"]) == (status, body, "application/y+json")
    assert answer.headers.get("x-why") == ("so" if how == "http" else None)


@pytest.mark.parametrize("how", ["unknown", "time"])
def test_an_unknown_error_is_logged_once_and_not_told(
    service: Service, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = service.ask("GET", f"/fail/{how}", X_Request_ID="find-me")
    assert (answer.status, answer.json["error_code"]) == (500, 500)
    assert "find-me" in answer.json["message"]
    assert "secret" not in answer.json["message"]
    [record] = caplog.records
    assert record.getMessage() == f"a request has failed: GET b'/fail/{how}'"
    assert record.exc_info is not None


def test_an_answer_that_breaks_off_is_no_whole_answer(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(http.client.IncompleteRead):
        service.ask("GET", "/break", X_Request_ID="find-me")
    assert service.ask("GET", "/who").status == 200
    assert [record.getMessage() for record in caplog.records] == ["the answer broke off"]


@pytest.mark.parametrize("size", [ANSWER_MIN_BYTES, INLINE_MAX_BYTES, INLINE_MAX_BYTES + 1])
def test_a_large_answer_is_compressed_for_those_who_take_it(service: Service, size: int) -> None:
    packed = service.ask("GET", f"/text/{size}", Accept_Encoding="gzip")
    assert packed.headers["content-encoding"] == "gzip"
    assert (gzip.decompress(packed.body), packed.headers["content-length"]) == (b"x" * size, str(len(packed.body)))
    plain = service.ask("GET", f"/text/{size}")
    assert (len(plain.body), plain.headers.get("content-encoding")) == (size, None)
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(("path", "size"), [(f"/text/{ANSWER_MIN_BYTES - 1}", ANSWER_MIN_BYTES - 1), ("/stream", 3000)])
def test_small_and_streamed_answers_go_out_as_they_are(service: Service, path: str, size: int) -> None:
    answer = service.ask("GET", path, Accept_Encoding="gzip")
    assert (len(answer.body), answer.headers.get("content-encoding")) == (size, None)


def test_options_tells_the_methods(service: Service) -> None:
    assert service.ask("OPTIONS", "/load").headers["allow"] == "OPTIONS, POST"
    assert service.ask("OPTIONS", "/nope").status == 404


def test_head_is_answered_like_get_without_the_body(service: Service) -> None:
    answer = service.ask("HEAD", "/text/10")
    assert (answer.status, answer.headers["content-length"], answer.body) == (200, "10", b"")


ORIGINS = [
    (["*"], "http://a", "*", None),
    (["http://a", "http://b"], "http://b", "http://b", "Origin"),
    (["http://a"], "http://b", None, "Origin"),
    ([], "http://a", None, None),
]


@pytest.mark.parametrize(("origins", "origin", "allowed", "vary"), ORIGINS)
def test_pages_from_allowed_origins_may_read(
    origins: list[str], origin: str, allowed: str | None, vary: str | None
) -> None:
    policy = Policy(cross_origin=CrossOrigin(origins, ("GET", "PUT"), ("X-Mine",)))
    with Service(ROUTES, policy=policy) as service:
        answer = service.ask("GET", "/who", Origin=origin)
        assert (answer.headers.get("access-control-allow-origin"), answer.headers.get("vary")) == (allowed, vary)
        preflight = service.ask("OPTIONS", "/who", Origin=origin, Access_Control_Request_Method="PUT")
        assert preflight.headers.get("access-control-allow-methods") == ("GET,PUT" if allowed else None)
        assert preflight.headers.get("access-control-allow-headers") == ("X-Mine" if allowed else None)
        assert preflight.headers.get("access-control-allow-origin") == allowed


@pytest.mark.parametrize(
    ("origin", "status"),
    [(None, 200), ("http://a", 200), ("http://evil", 403), ("https://127.0.0.1:1", 403), ("null", 403)],
)
def test_pages_from_elsewhere_change_nothing(origin: str | None, status: int) -> None:
    """As a browser sends them: it asks for leave only where a request does not look like one of a form."""
    with Service(ROUTES, policy=Policy(cross_origin=CrossOrigin(["http://a"]))) as service:
        headers = {} if origin is None else {"Origin": origin}
        answer = service.ask("POST", "/load", b"[]", Content_Type="text/plain", **headers)
        assert answer.status == status
        assert status == 200 or "access.control.allow.origin" in answer.json["message"]
        assert service.ask("GET", "/who", None, **headers).status == 200
        own = service.ask("POST", "/load", b"[]", Host="proxy:1", Origin="http://proxy:1")
        assert own.status == 200, "a page of our own"


@pytest.mark.parametrize("authorize_options", [False, True])
def test_the_authorizer_is_asked_before_the_handler(authorize_options: bool) -> None:
    async def refuse(request: Request) -> None:
        raise HttpError(403, f"{request.principal.name} may not")

    policy = Policy(authorizer=refuse, authorize_options=authorize_options)
    with Service(ROUTES, policy=policy) as service:
        assert service.ask("GET", "/who").json == {"error_code": 403, "message": "ANONYMOUS may not"}
        assert service.ask("GET", "/nope").status == 404
        assert service.ask("OPTIONS", "/who").status == (403 if authorize_options else 200)


def test_a_request_that_takes_too_long_is_given_up() -> None:
    with Service(ROUTES, policy=Policy(limits=RequestLimits(max_s=0.05))) as service:
        answer = service.ask("GET", "/hang")
        assert (answer.status, answer.json["message"][:30]) == (503, "the request was not done after")
        with service.connect() as connection:
            connection.sendall(b"POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
            assert connection.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_too_many_requests_at_once_are_told_to_come_back() -> None:
    gate = asyncio.Event()

    async def hold(_request: Request) -> Response:
        await gate.wait()
        return Response()

    async def let_go() -> None:
        gate.set()

    policy = Policy(limits=RequestLimits(in_flight_max=1))
    with Service([*ROUTES, route("GET", "/hold", hold)], policy=policy) as service, service.connect() as connection:
        connection.sendall(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_for(lambda: service.metrics.in_flight == 1, "the first request to arrive")
        answer = service.ask("GET", "/who")
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert "more than 1 requests are under way" in answer.json["message"]
        service.call(let_go())
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        assert service.ask("GET", "/who").status == 200


def test_bodies_that_would_fill_the_memory_together_are_refused() -> None:
    policy = Policy(limits=RequestLimits(body=BodyLimits(max_bytes=1000, total_max_bytes=1500)))
    with Service(ROUTES, policy=policy) as service, service.connect() as connection:
        connection.sendall(b"POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n" + b"x" * 999)
        wait_for(lambda: service.ask("POST", "/length", b"x" * 502).status == 503, "the first body to be taken")
        answer = service.ask("POST", "/length", b"x" * 502)
        assert "larger than 1500 bytes" in answer.json["message"]
        assert service.ask("POST", "/length", b"x" * 501).json == 501
        connection.sendall(b"x")
        assert connection.recv(4096).endswith(b"\r\n\r\n1000")
        assert service.ask("POST", "/length", b"x" * 1000).json == 1000


@pytest.mark.parametrize("compresses", [True, False])
def test_the_operator_says_whether_answers_are_compressed(compresses: bool) -> None:
    async def text(_request: Request) -> Response:
        return Response("x" * 5_000)

    with Service([route("GET", "/text", text)], Policy(compresses=compresses)) as service:
        answer = service.ask("GET", "/text", Accept_Encoding="gzip")
        assert (answer.headers.get("content-encoding") == "gzip") is compresses
