"""Handing a write on to the leader: the same HTTP call once more, and its answer back."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import httpx

from barnabas.kernel import current_request
from barnabas.wire.election.identity import Identity
from schema_registry.errors import ForwardingFailed, LeaderUnknown

FORWARD_HEADER: Final = "X-Forward"
FORWARDED_FOR_HEADER: Final = "X-Forwarded-For"
OFFSET_HEADER: Final = "X-Barnabas-Offset"
"""How far the leader's log has grown by the write; a follower answers when it has read as far."""

DEFAULT_TIMEOUT_MS: Final = 60_000
CONNECTIONS_MAX: Final = 100

_HEADERS: Final = (
    "Content-Type",
    "Accept",
    "Confluent-Accept-Unknown-Properties",
    "Authorization",
)
_USER_AGENT: Final = "barnabas-schema-registry"


class LeaderUnreachable(ForwardingFailed):
    """Nobody answers at the leader's address, so that it has heard nothing of the request: it may be tried again."""


@dataclass(frozen=True, slots=True)
class Call:
    """An HTTP call as it came in. `target` is the path with its query, percent-encoded as the client sent it."""

    method: str
    target: bytes
    headers: Mapping[str, str]
    body: bytes
    client: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the leader said, and the offset of the write's last record, if it wrote."""

    status: int
    content_type: str | None
    body: bytes
    offset: int | None


class Forwarder:
    """Keeps connections to the leader open from one call to the next."""

    def __init__(
        self,
        *,
        further_headers: Sequence[str] = (),
        tls: ssl.SSLContext | None = None,
        connect_timeout_ms: int = DEFAULT_TIMEOUT_MS,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
    ) -> None:
        # It tells of every single call, which the request log does already.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._headers = (*_HEADERS, *further_headers)
        self._timeout_ms = timeout_ms
        self._client = httpx.AsyncClient(
            verify=True if tls is None else tls,
            timeout=httpx.Timeout(timeout_ms / 1000, connect=connect_timeout_ms / 1000),
            limits=httpx.Limits(max_connections=CONNECTIONS_MAX),
            trust_env=False,
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def forward(self, call: Call, leader: Identity | None) -> Answer:
        """LeaderUnknown when nobody leads; ForwardingFailed when the leader does not answer."""
        headers = {name.lower(): value for name, value in call.headers.items()}
        if leader is None:
            raise LeaderUnknown("Leader not known.")
        if FORWARD_HEADER.lower() in headers:
            # Two instances that take each other for the leader would hand it back and forth.
            raise LeaderUnknown("Leader not known: the request was forwarded to this instance, which does not lead.")
        url = httpx.URL(scheme=leader.scheme, host=leader.host, port=leader.port, raw_path=call.target)
        request = self._client.build_request(
            call.method, url, headers=list(self._forwarded(headers, call.client)), content=call.body
        )
        try:
            async with asyncio.timeout(self._timeout_ms / 1000):
                response = await self._client.send(request)
        except TimeoutError:
            raise ForwardingFailed(
                f"Error while forwarding the request to the leader {leader.url}: no answer in {self._timeout_ms} ms"
            ) from None
        except httpx.ConnectError as error:
            raise LeaderUnreachable(
                f"Error while forwarding the request to the leader {leader.url}: {error}"
            ) from error
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise ForwardingFailed(
                f"Error while forwarding the request to the leader {leader.url}: {reason}"
            ) from error
        return Answer(
            response.status_code, response.headers.get("Content-Type"), response.content, _offset(response.headers)
        )

    def _forwarded(self, headers: Mapping[str, str], client: str) -> Iterator[tuple[str, str]]:
        for name in self._headers:
            if headers.get(name.lower()):
                yield name, headers[name.lower()]
        before = headers.get(FORWARDED_FOR_HEADER.lower())
        yield FORWARDED_FOR_HEADER, f"{before}, {client}" if before else client
        yield from current_request.headers().items()
        yield FORWARD_HEADER, "true"
        yield "Accept-Encoding", "identity"
        yield "User-Agent", _USER_AGENT


def _offset(headers: httpx.Headers) -> int | None:
    text = headers.get(OFFSET_HEADER, "")
    return int(text) if text.isdigit() else None
