"""Forwarding: the leader gets the call as it was made, and its answer comes back as it was given."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

import pytest
from starlette.types import Message

from barnabas.kernel import current_request
from barnabas.kernel.http.body_budget import BodyBudget
from barnabas.kernel.http.request import BodyLimits, Request
from barnabas.kernel.leadership.forwarding import (
    Call,
    Forwarder,
    ForwardingError,
    ForwardingRules,
    NoLeader,
    Unreachable,
)
from tests.ports import HOST, free_port

HEADERS = {
    "content-type": "application/vnd.schemaregistry.v1+json",
    "ACCEPT": "application/json",
    "Authorization": "Basic YTpi",
    "Confluent-Accept-Unknown-Properties": "true",
    "Cookie": "secret",
    "X-Tenant": "t",
}
OK = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Barnabas-Offset: 41\r\nContent-Length: 8\r\n\r\n{"id":1}'
CONFLICT = b"HTTP/1.1 409 Conflict\r\nContent-Type: text/x\r\nContent-Length: 2\r\n\r\nno"


class Leader:
    """An HTTP server that gives one fixed answer, or none, and keeps what it was asked."""

    def __init__(self, answer: bytes | None) -> None:
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.connections = 0
        self.url = ""
        self._answer = answer
        self._handlers: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Leader"]:
        async with await asyncio.start_server(self._serve, HOST, 0) as server:
            self.url = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
            yield self
            for handler in self._handlers:
                handler.cancel()
            await asyncio.gather(*self._handlers, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        handler = asyncio.current_task()
        assert handler is not None
        self._handlers.add(handler)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                self.asked.append((head[0], headers, body))
                if self._answer is not None:
                    writer.write(self._answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


def request(headers: Mapping[str, str] = HEADERS) -> Request:
    async def receive() -> Message:
        return {"type": "http.request", "body": b'{"schema":"x"}'}

    scope = {
        "type": "http",
        "method": "POST",
        "raw_path": b"/subjects/a%2Fb%20%C3%A9..%25/versions",
        "query_string": b"normalize=True&x=%2F",
        "headers": [(name.lower().encode(), text.encode()) for name, text in headers.items()],
        "client": ("10.0.0.9", 1),
    }
    return Request(scope, receive, "r-1", BodyLimits(), BodyBudget(BodyLimits().total_max_bytes))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (OK, (200, b'{"id":1}', {"content-type": "application/json", "x-barnabas-offset": "41"})),
        (CONFLICT, (409, b"no", {"content-type": "text/x"})),
    ],
)
def test_a_call_reaches_the_leader_as_it_was_made(
    answer: bytes, expected: tuple[int, bytes, Mapping[str, str]]
) -> None:
    async def scenario() -> None:
        rules = ForwardingRules(
            request_headers=(*ForwardingRules().request_headers, "Confluent-Accept-Unknown-Properties", "X-Tenant"),
            response_headers=("Content-Type", "X-Barnabas-Offset"),
        )
        forwarder = Forwarder(rules)
        async with Leader(answer).serving() as leader:
            current_request.begin("r-1")
            for headers in (HEADERS, {"X-Forwarded-For": "10.0.0.1"}):
                found = await forwarder.forward(request(headers), leader.url)
                returned = {name: text for name, text in found.headers.items() if name != "content-length"}
                assert (found.status_code, found.body, returned) == expected
            await forwarder.close()
        line, headers, body = leader.asked[0]
        assert line == "POST /subjects/a%2Fb%20%C3%A9..%25/versions?normalize=True&x=%2F HTTP/1.1"
        assert body == b'{"schema":"x"}'
        kept = {name.lower(): value.lower() for name, value in HEADERS.items() if name != "Cookie"}
        assert kept.items() <= headers.items()
        assert "cookie" not in headers
        assert headers["x-request-id"] == "r-1"
        assert (headers["x-forward"], headers["x-forwarded-for"]) == ("true", "10.0.0.9")
        assert leader.asked[1][1]["x-forwarded-for"] == "10.0.0.1, 10.0.0.9"
        assert leader.connections == 1

    asyncio.run(scenario())


@pytest.mark.parametrize(("headers", "url"), [(HEADERS, None), ({"x-forward": "true"}, f"http://{HOST}:1")])
def test_without_a_leader_nothing_is_forwarded(headers: dict[str, str], url: str | None) -> None:
    async def scenario() -> None:
        forwarder = Forwarder()
        with pytest.raises(NoLeader):
            await forwarder.forward(request(headers), url)
        await forwarder.close()

    asyncio.run(scenario())


def test_a_leader_that_does_not_answer_is_a_failure_in_time() -> None:
    async def scenario() -> None:
        forwarder = Forwarder(ForwardingRules(timeout_ms=500))
        async with Leader(None).serving() as leader:
            with pytest.raises(ForwardingError, match=r"could not be forwarded to .*: no response in 500 ms"):
                await forwarder.forward(request(), leader.url)
            assert len(leader.asked) == 1
            await forwarder.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("answer", [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"])
def test_an_answer_that_breaks_off_is_a_failure(answer: bytes) -> None:
    async def scenario() -> None:
        forwarder = Forwarder(ForwardingRules(timeout_ms=200))
        async with Leader(answer).serving() as leader:
            with pytest.raises(ForwardingError):
                await forwarder.forward(request(), leader.url)
            await forwarder.close()

    asyncio.run(scenario())


def test_a_leader_that_is_gone_has_done_nothing() -> None:
    async def scenario() -> None:
        forwarder = Forwarder()
        with pytest.raises(Unreachable, match="onnect"):
            await forwarder.forward(request(), f"http://{HOST}:{free_port()}")
        await forwarder.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("target", [b"no-path", b"/\xff"])
def test_a_target_that_is_not_valid_is_a_failure(target: bytes) -> None:
    async def scenario() -> None:
        forwarder = Forwarder()
        try:
            with pytest.raises(ForwardingError, match="is not valid"):
                await forwarder.send(f"http://{HOST}:{free_port()}", Call("GET", target, {}))
        finally:
            await forwarder.close()

    asyncio.run(scenario())
