"""Which worker of the group answers a request: this one, or one that it is forwarded to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response

from barnabas.kernel.http.request import Request
from connect.cluster.forwarding import Answer, Call, Forwarder
from connect.cluster.group import Group
from connect.cluster.plan import OWN_PART, Piece
from connect.worker.failures import CONFLICT, Conflict

FORWARD: Final = "forward"
"""A parameter that is for workers alone: `true` after the first hop, `false` after the second, which is the last."""
SETTLE_S: Final = 10.0
"""How long a request waits for a leader before its client is told to try again."""

_FORWARDED: Final = ("accept", "authorization", "content-type")


class Routing:
    """Made before the worker has started, since HTTP is served from then on."""

    def __init__(self, forwarder: Forwarder) -> None:
        self._forwarder = forwarder
        self._started: tuple[Group, Callable[[], Awaitable[None]]] | None = None

    def start(self, group: Group, catch_up: Callable[[], Awaitable[None]]) -> None:
        """`catch_up` reads what the group was told; after a forwarded write this worker then knows it, too."""
        self._started = group, catch_up

    async def lead(self, request: Request, act: Callable[[], Awaitable[Response]]) -> Response:
        """Act where the leader is. Conflict when there is none, or when a request has been forwarded twice already."""
        if self._started is None:
            # The worker says that it is starting.
            return await act()
        group, _ = self._started
        await group.settle(SETTLE_S)
        if group.leads:
            return await act()
        return await self._forward(request, group.leader_url)

    async def own(
        self, request: Request, connector: str, task: int | None, act: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Act where the connector's own part (no task) or the task runs. What runs nowhere is answered here."""
        piece = Piece(connector, OWN_PART if task is None else task)
        url = None if self._started is None else self._started[0].owner_url(piece)
        if url is None:
            return await act()
        return await self._forward(request, url)

    async def _forward(self, request: Request, url: str | None) -> Response:
        before = request.query_value(FORWARD)
        if url is None or before == "false":
            raise Conflict(CONFLICT)
        query = [(name, text) for name, text in _query(request) if name != FORWARD]
        query.append((FORWARD, "false" if before else "true"))
        target = request.raw_path + b"?" + urlencode(query).encode()
        headers = {name: request.headers[name] for name in _FORWARDED if name in request.headers}
        answer = await self._forwarder.send(url, Call(request.method, target, headers, await request.body()))
        if answer.status < HTTPStatus.BAD_REQUEST and self._started is not None:
            await self._started[1]()
        return _response(answer)


def _query(request: Request) -> list[tuple[str, str]]:
    text: bytes = request.scope["query_string"]
    return parse_qsl(text.decode("latin-1"), keep_blank_values=True)


def _response(answer: Answer) -> Response:
    headers = {} if answer.location is None else {"Location": answer.location}
    return Response(answer.body, answer.status, headers, answer.content_type)
