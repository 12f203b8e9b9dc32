"""One worker calling another: a client's request handed on as it came, or a call of the worker's own."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import httpx

from barnabas.kernel import current_request
from connect.worker.failures import CONFLICT, Conflict

TIMEOUT_S: Final = 90.0
CONNECT_TIMEOUT_S: Final = 10.0
CONNECTIONS_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class Call:
    """`target` is the path with its query, percent-encoded."""

    method: str
    target: bytes
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    content_type: str | None
    location: str | None
    body: bytes


class Forwarder:
    """Keeps connections to other workers open from one call to the next."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        # It tells of every single call, which the request log does already.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._client = httpx.AsyncClient(
            verify=True if tls is None else tls,
            timeout=httpx.Timeout(TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
            limits=httpx.Limits(max_connections=CONNECTIONS_MAX),
            trust_env=False,
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def send(self, url: str, call: Call) -> Answer:
        """Conflict when the other worker does not answer: by the next attempt the group may have noticed."""
        request = self._client.build_request(
            call.method,
            httpx.URL(url).copy_with(raw_path=call.target),
            headers={**call.headers, **current_request.headers(), "accept-encoding": "identity"},
            content=call.body,
        )
        try:
            async with asyncio.timeout(TIMEOUT_S):
                response = await self._client.send(request)
        except (httpx.HTTPError, TimeoutError) as error:
            raise Conflict(f"{CONFLICT}: worker {url} does not answer: {str(error) or type(error).__name__}") from None
        found = response.headers
        return Answer(response.status_code, found.get("Content-Type"), found.get("Location"), response.content)
