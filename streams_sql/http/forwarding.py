"""Handing a change on to the server that leads: the same HTTP call once more, and its answer back."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

import httpx
from starlette.responses import Response

from barnabas.kernel import current_request
from barnabas.kernel.http.request import Request
from streams_sql.engine.failures import Unavailable

FORWARDED: Final = "x-barnabas-forwarded"
"""On a call that has been handed on already: it goes no further."""
TIMEOUT_S: Final = 60.0
CONNECT_TIMEOUT_S: Final = 5.0
CONNECTIONS_MAX: Final = 100

_HEADERS: Final = ("accept", "authorization", "content-type")


class Forwarder:
    """Keeps connections to the leader open from one call to the next."""

    def __init__(self) -> None:
        # It tells of every single call, which the request log does already.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
            limits=httpx.Limits(max_connections=CONNECTIONS_MAX),
            trust_env=False,
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def forward(self, request: Request, url: str) -> Response:
        """Unavailable when the leader does not answer, or when those that call each other do not agree on who it is."""
        if request.header(FORWARDED.encode()):
            raise Unavailable(f"This server was taken for the leader, which is {url}. Try again in a moment.")
        headers = {name: text for name in _HEADERS if (text := request.header(name.encode()))}
        call = self._client.build_request(
            request.method,
            httpx.URL(url).copy_with(raw_path=request.raw_path),
            headers={**headers, **current_request.headers(), FORWARDED: "true", "accept-encoding": "identity"},
            content=await request.body(),
        )
        try:
            async with asyncio.timeout(TIMEOUT_S):
                answer = await self._client.send(call)
        except (httpx.HTTPError, TimeoutError) as problem:
            reason = str(problem) or type(problem).__name__
            raise Unavailable(f"The leader {url} does not answer: {reason}. Try again in a moment.") from None
        return Response(
            answer.content, answer.status_code, {"content-type": answer.headers.get("content-type", "application/json")}
        )
