"""Which worker of the group answers a request: this one, or one that it is forwarded to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response

from barnabas.kernel.http.request import Request
from barnabas.kernel.leadership.forwarding import Forwarder, ForwardingRules, Hop
from barnabas.kernel.leadership.routing import lead_or_forward
from connect.cluster.group import Group
from connect.cluster.plan import OWN_PART, Piece

FORWARD: Final = "forward"
"""A parameter that is for workers alone: `true` after the first hop, `false` after the second, which is the last."""


class Routing:
    """`catch_up` reads the config topic to its end, so that this worker knows of a write that it has forwarded."""

    def __init__(
        self, forwarder: Forwarder, group: Group, settle_s: float, catch_up: Callable[[], Awaitable[None]]
    ) -> None:
        self._forwarder = forwarder
        self._group = group
        self._settle_s = settle_s
        self._catch_up = catch_up

    async def lead(self, request: Request, act: Callable[[], Awaitable[Response]]) -> Response:
        """Act where the leader is. ForwardingError when there is none, or when a request has been forwarded twice already."""
        return await lead_or_forward(request, act, self._group, self._forwarder, self._settle_s, self._on_forwarded)

    async def own(
        self, request: Request, connector: str, task: int | None, act: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Act where the connector's own part (no task) or the task runs. What runs nowhere is answered here."""
        piece = Piece(connector, OWN_PART if task is None else task)
        url = self._group.owner_url(piece)
        if url is None:
            return await act()
        response = await self._forwarder.forward(request, url)
        await self._on_forwarded(response)
        return response

    async def _on_forwarded(self, response: Response) -> None:
        if response.status_code < HTTPStatus.BAD_REQUEST:
            await self._catch_up()


def next_hop(request: Request) -> Hop | None:
    """The owner of a piece may not know yet that it moves, and forward once more."""
    before = request.query_value(FORWARD)
    if before == "false":
        return None
    sent: bytes = request.scope["query_string"]
    query = [pair for pair in parse_qsl(sent.decode("latin-1"), keep_blank_values=True) if pair[0] != FORWARD]
    query.append((FORWARD, "false" if before else "true"))
    return Hop(request.raw_path + b"?" + urlencode(query).encode(), {})


FORWARDING: Final = ForwardingRules(timeout_ms=90_000, next_hop=next_hop)
