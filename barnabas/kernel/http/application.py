"""From a request to its answer: routing, limits, errors, and what every answer carries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from barnabas.kernel import current_request
from barnabas.kernel.http.answer_cache import AnswerCache, Key
from barnabas.kernel.http.body_budget import RETRY_AFTER_S, SERVICE_UNAVAILABLE, BodyBudget
from barnabas.kernel.http.compression import compress
from barnabas.kernel.http.cross_origin import CrossOrigin
from barnabas.kernel.http.deadlines import Deadlines, LateError
from barnabas.kernel.http.error_answers import ErrorAnswers
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.extra_headers import ExtraHeader
from barnabas.kernel.http.host_names import HostNames
from barnabas.kernel.http.metrics import RequestMetrics, RouteMetrics
from barnabas.kernel.http.peeked_body import peek, small_length
from barnabas.kernel.http.principal import Authorizer, allow_all
from barnabas.kernel.http.request import BodyLimits, Request
from barnabas.kernel.http.request_id import HEADER as REQUEST_ID
from barnabas.kernel.http.request_id import RequestIds
from barnabas.kernel.http.request_log import RequestLog, RequestLogRules
from barnabas.kernel.http.router import Router
from barnabas.kernel.logging import fields

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

logger = logging.getLogger(__name__)

OK: Final = 200
CLIENT_CLOSED: Final = 499
"""Counted for clients that left before they had sent their request or read a streamed answer; nobody reads it."""
REQUEST_TIMEOUT: Final = 408
HOST: Final = b"host"
NO_SNIFF: Final = (b"x-content-type-options", b"nosniff")
READING_METHODS: Final = frozenset({"GET", "HEAD"})
"""A page from elsewhere may send them: it does not see the answer."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    in_flight_max: int = 1000
    """Requests that may wait for their answers at once; more are told to come back."""
    max_s: float = 60.0
    """How long a request may take in all."""
    body: BodyLimits = field(default_factory=BodyLimits)


@dataclass(frozen=True, slots=True)
class Policy:
    """What the operator decides for every route alike."""

    limits: RequestLimits = field(default_factory=RequestLimits)
    cross_origin: CrossOrigin = field(default_factory=CrossOrigin)
    host_names: HostNames = field(default_factory=HostNames)
    extra_headers: Sequence[ExtraHeader] = ()
    authorizer: Authorizer = allow_all
    authorize_options: bool = False
    """Whether the authorizer is asked for OPTIONS requests, too; browsers send them without credentials."""
    request_log: RequestLogRules = field(default_factory=RequestLogRules)
    compresses: bool = True
    """Whether answers go out in gzip to clients that take it."""


class Application:
    """The ASGI application of a service. `websockets` serves those, on a server that takes them; of what is here only the host's name, the
    origin and the authorizer are asked for them."""

    def __init__(
        self,
        router: Router,
        metrics: RequestMetrics,
        *,
        errors: ErrorAnswers,
        cache: AnswerCache,
        policy: Policy,
        websockets: ASGIApp | None = None,
    ) -> None:
        self._router = router
        self._metrics = metrics
        self._errors = errors
        self._cache = cache
        self._policy = policy
        self._websockets = websockets
        self._ids = RequestIds()
        self._log = RequestLog(policy.request_log)
        self._bodies = BodyBudget(policy.limits.body.total_max_bytes)
        self._deadlines = Deadlines(policy.limits.max_s)
        # Who may see an answer is the authorizer's to say, each time.
        self._answers_are_for_all = policy.authorizer is allow_all
        self._keeps_posts = any(route.cached and route.method == "POST" for route in router.routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._websockets is not None and scope["type"] == "websocket":
            if await self._may_open(scope, receive, send):
                await self._websockets(scope, receive, send)
            return
        started_s = perf_counter()
        sent_id, host = _sent(scope["headers"])
        request_id = self._ids.take(sent_id)
        key = None
        is_cacheable = self._answers_are_for_all and (self._keeps_posts or scope["method"] == "GET")
        if is_cacheable and self._policy.host_names.accept(host):
            key, receive = await self._key(scope, receive)
            hit = None if key is None else self._cache.get(key)
            if hit is not None:
                headers = [*hit.headers, (REQUEST_ID, request_id)]
                await send({"type": "http.response.start", "status": hit.status, "headers": headers})
                await send(hit.body)
                self._count(scope, request_id, hit.metrics, hit.status, started_s)
                return
        request = Request(scope, receive, request_id.decode(), self._policy.limits.body, self._bodies)
        current = current_request.begin(request.id)
        self._metrics.in_flight += 1
        try:
            status = await self._serve(request, key, send)
        finally:
            self._metrics.in_flight -= 1
            request.release()
            current.end()
        route = self._metrics.of(request.method, request.route)
        self._count(scope, request_id, route, status, started_s, waits=request.waits)

    async def _may_open(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """A websocket begins as a GET, and the authorizer sees it as one."""
        opening = {**scope, "type": "http", "method": "GET", "path_params": {}}
        request_id = self._ids.take(_sent(scope["headers"])[0]).decode()
        request = Request(opening, receive, request_id, self._policy.limits.body, self._bodies)
        try:
            self._policy.host_names.check(request.headers.get("host"))
            self._policy.cross_origin.check(request, reads=False)
            await self._policy.authorizer(request)
        except HttpError as refusal:
            logger.info("a websocket is refused: %s", refusal.message, extra=fields(request_id=request_id))
            await receive()
            await send({"type": "websocket.close"})
            return False
        return True

    async def _key(self, scope: Scope, receive: Receive) -> tuple[Key | None, Receive]:
        """Under what the answer is kept, if it may be: that of a GET, or of a POST with a small body if any is."""
        if scope["method"] == "GET":
            return self._cache.key(scope), receive
        length = small_length(scope["headers"]) if scope["method"] == "POST" else None
        if length is None:
            return None, receive
        try:
            body, receive = await self._deadlines.keep(peek(receive, length))
        except LateError:
            # The request is answered as one whose body does not come.
            return None, receive
        return None if body is None else (*self._cache.key(scope), body), receive

    async def _serve(self, request: Request, key: Key | None, send: Send) -> int:
        """Answers and returns the status."""
        generation = self._cache.generation
        try:
            response = await self._answer(request)
        except ClientDisconnect:
            return CLIENT_CLOSED
        await self._finish(request, response)
        route = request.route
        if key is not None and route is not None and route.cached and response.status_code == OK:
            self._cache.put(key, generation, response, self._metrics.of(request.method, route))
        response.raw_headers.append((REQUEST_ID, request.id.encode()))
        request.waits = request.waits or not hasattr(response, "body")
        try:
            await response(request.scope, request.receive, send)
        except ClientDisconnect:
            return CLIENT_CLOSED
        except Exception:
            # Its head is out already: the client has what was sent so far, and we have the log.
            logger.exception("the answer broke off")
        return response.status_code

    async def _answer(self, request: Request) -> Response:
        try:
            return await self._handle_in_time(request)
        except ClientDisconnect:
            raise
        except asyncio.CancelledError:
            # The loop ends, and this task with it, as soon as the client knows.
            return self._errors.answer(request, HttpError(SERVICE_UNAVAILABLE, "the service is stopping"))
        except Exception as problem:  # noqa: BLE001 - every error becomes an answer, and unknown ones are logged there
            return self._errors.answer(request, problem)

    async def _handle_in_time(self, request: Request) -> Response:
        limits = self._policy.limits
        if self._metrics.in_flight > limits.in_flight_max:
            raise HttpError(
                SERVICE_UNAVAILABLE,
                f"more than {limits.in_flight_max} requests are under way; try again later",
                headers={"retry-after": RETRY_AFTER_S},
            )
        try:
            return await self._deadlines.keep(self._handle(request))
        except LateError:
            raise _late(request, limits.max_s) from None

    async def _handle(self, request: Request) -> Response:
        self._policy.host_names.check(request.headers.get("host"))
        if request.method == "OPTIONS":
            return await self._options(request)
        self._policy.cross_origin.check(request, reads=request.method in READING_METHODS)
        request.route, parameters = self._router.find(request.method, request.raw_path)
        request.scope["path_params"] = parameters
        await self._policy.authorizer(request)
        return await request.route.handler(request)

    async def _options(self, request: Request) -> Response:
        if self._policy.authorize_options:
            await self._policy.authorizer(request)
        preflight = self._policy.cross_origin.preflight(request)
        if preflight is not None:
            return preflight
        return Response(headers={"allow": ", ".join(self._router.allowed(request.raw_path))})

    async def _finish(self, request: Request, response: Response) -> None:
        """Gives the answer everything that answers carry, but for the id of the request, which no other may share."""
        if self._policy.compresses:
            await compress(request, response)
        response.raw_headers.append(NO_SNIFF)
        self._policy.cross_origin.mark(request, response)
        for extra in self._policy.extra_headers:
            extra.put(response.headers)

    def _count(
        self,
        scope: Scope,
        request_id: bytes,
        route: RouteMetrics,
        status: int,
        started_s: float,
        *,
        waits: bool = False,
    ) -> None:
        seconds = perf_counter() - started_s
        route.count(status, seconds)
        if status >= self._log.status or seconds >= self._log.slow_s:
            self._log.tell(scope, request_id.decode(), route, status, seconds, waits=waits)


def _sent(headers: Iterable[tuple[bytes, bytes]]) -> tuple[bytes | None, bytes | None]:
    """The id that the client has given its request, and the host that it has asked for."""
    sent_id = host = None
    for name, value in headers:
        if name == HOST:
            host = value
        elif name == REQUEST_ID:
            sent_id = value
    return sent_id, host


def _late(request: Request, limit_s: float) -> HttpError:
    if request.awaits_body:
        return HttpError(REQUEST_TIMEOUT, f"the body of the request was not whole after {limit_s:g} s")
    return HttpError(SERVICE_UNAVAILABLE, f"the request was not done after {limit_s:g} s; it may still take effect")
