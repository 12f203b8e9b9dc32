"""Repeating an HTTP request at another instance of a service, and returning its response."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import httpx
from starlette.responses import Response

from barnabas.kernel import current_request

if TYPE_CHECKING:
    from barnabas.kernel.http.request import Request

FORWARD_HEADER: Final = "X-Forward"
"""On a request that was forwarded. Registries of Confluent's and Karapace's set and read it as well."""
FORWARDED_FOR_HEADER: Final = "X-Forwarded-For"
CONNECTIONS_MAX: Final = 100

_USER_AGENT: Final = "barnabas"


class ForwardingError(Exception):
    """Another instance has not answered a request. The client may try again."""


class NoLeader(ForwardingError):
    """No instance is known that would do the request."""


class Unreachable(ForwardingError):
    """The other instance cannot be connected to, so that it has done nothing of the request."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request to another instance. `target` is the path with its query, percent-encoded."""

    method: str
    target: bytes
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Hop:
    """What a forwarded request goes to, and the headers by which the next instance sees that it was forwarded."""

    target: bytes
    headers: Mapping[str, str]


def single_hop(request: Request) -> Hop | None:
    """Return the request's own target; None if it was forwarded already.

    Two instances that take each other for the leader would else send it back and forth.
    """
    if request.header(FORWARD_HEADER.lower().encode()):
        return None
    query: bytes = request.scope["query_string"]
    return Hop(request.raw_path + (b"?" + query if query else b""), {FORWARD_HEADER: "true"})


@dataclass(frozen=True, slots=True)
class ForwardingRules:
    """What one service forwards and returns, and how long it waits. `next_hop` returns None for a request that must go no further."""

    request_headers: tuple[str, ...] = ("Accept", "Authorization", "Content-Type")
    response_headers: tuple[str, ...] = ("Content-Type", "Location")
    connect_timeout_ms: int = 10_000
    timeout_ms: int = 60_000
    next_hop: Callable[[Request], Hop | None] = single_hop


class Forwarder:
    """Calls other instances, and keeps connections to them open between calls."""

    def __init__(self, rules: ForwardingRules | None = None) -> None:
        # It logs every call, which the request log does already.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._rules = rules or ForwardingRules()
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(self._rules.timeout_ms / 1000, connect=self._rules.connect_timeout_ms / 1000),
            limits=httpx.Limits(max_connections=CONNECTIONS_MAX),
            trust_env=False,
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def forward(self, request: Request, url: str | None) -> Response:
        """Return what the instance at `url` answers. NoLeader without one, or if the request must go no further."""
        if url is None:
            raise NoLeader("no instance is known to lead; try again in a moment")
        hop = self._rules.next_hop(request)
        if hop is None:
            raise NoLeader(f"this instance was taken for the leader, which is {url}; try again in a moment")
        headers = {name: text for name in self._rules.request_headers if (text := _header(request, name))}
        client = request.client.host if request.client is not None else ""
        before = _header(request, FORWARDED_FOR_HEADER)
        headers[FORWARDED_FOR_HEADER] = f"{before}, {client}" if before else client
        answer = await self.send(
            url, Call(request.method, hop.target, {**headers, **hop.headers}, await request.body())
        )
        returned = {name: text for name in self._rules.response_headers if (text := answer.headers.get(name))}
        return Response(answer.content, answer.status_code, returned)

    async def send(self, url: str, call: Call) -> httpx.Response:
        """Call an instance. ForwardingError if it does not answer."""
        failed = f"the request could not be forwarded to {url}"
        try:
            request = self._request(url, call)
        except (httpx.InvalidURL, ValueError) as problem:
            raise ForwardingError(f"{failed}: its target {call.target!r} is not valid: {problem}") from problem
        try:
            async with asyncio.timeout(self._rules.timeout_ms / 1000):
                return await self._client.send(request)
        except TimeoutError:
            raise ForwardingError(f"{failed}: no response in {self._rules.timeout_ms} ms") from None
        except httpx.ConnectError as problem:
            raise Unreachable(f"{failed}: {problem}") from problem
        except httpx.HTTPError as problem:
            raise ForwardingError(f"{failed}: {str(problem) or type(problem).__name__}") from problem

    def _request(self, url: str, call: Call) -> httpx.Request:
        return self._client.build_request(
            call.method,
            httpx.URL(url).copy_with(raw_path=call.target),
            headers={
                **call.headers, **current_request.headers(), "Accept-Encoding": "identity", "User-Agent": _USER_AGENT
            },
            content=call.body,
        )  # fmt: skip


def _header(request: Request, name: str) -> str:
    return request.header(name.lower().encode())
