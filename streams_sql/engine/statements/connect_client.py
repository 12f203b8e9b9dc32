"""Connect's API, over HTTP: ours or Apache Kafka's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import httpx
import orjson

from barnabas.kernel import current_request
from streams_sql.engine.failures import ConnectRefused, Unavailable

CONNECTIONS_MAX: Final = 20
MESSAGE_CHARACTERS_MAX: Final = 2_000
"""Of the response of a server that is not Connect."""
_REFUSED_FROM: Final = 400


@dataclass(frozen=True, slots=True)
class ConnectAccess:
    """Where Connect is, and how it is asked. `credentials` are a user and a password."""

    url: str
    timeout_s: float
    credentials: tuple[str, str] | None = field(default=None, repr=False)


class ConnectClient:
    """ConnectRefused with Connect's own status and words; Unavailable when it does not respond."""

    def __init__(self, access: ConnectAccess) -> None:
        self._access = access
        self._client: httpx.AsyncClient | None = None

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def connectors(self) -> list[str]:
        found: list[str] = await self._call("GET", "/connectors")
        return found

    async def connector(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = await self._call("GET", _path(name))
        return found

    async def status(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = await self._call("GET", f"{_path(name)}/status")
        return found

    async def topics(self, name: str) -> list[str]:
        """Those that the connector has used; none where Connect does not report them."""
        found = await self._call("GET", f"{_path(name)}/topics")
        return list(found.get(name, {}).get("topics", ()))

    async def plugins(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self._call("GET", "/connector-plugins")
        return found

    async def validated(self, plugin: str, config: Mapping[str, str]) -> list[dict[str, Any]]:
        """A definition and a value, with its errors, for each setting."""
        found = await self._call("PUT", f"/connector-plugins/{quote(plugin, safe='')}/config/validate", config)
        return list(found.get("configs", ()))

    async def create(self, name: str, config: Mapping[str, str]) -> dict[str, Any]:
        made: dict[str, Any] = await self._call("POST", "/connectors", {"name": name, "config": dict(config)})
        return made

    async def delete(self, name: str) -> None:
        await self._call("DELETE", _path(name))

    async def _call(self, method: str, path: str, body: object = None) -> Any:
        access = self._access
        content = None if body is None else orjson.dumps(body)
        try:
            async with asyncio.timeout(access.timeout_s):
                answer = await self._opened().request(
                    method, f"{access.url.rstrip('/')}{path}", content=content, headers=current_request.headers()
                )
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as problem:
            reason = str(problem) or type(problem).__name__
            raise Unavailable(
                f"Connect does not answer at {access.url}: {reason}. Start it, or name another with ksql.connect.url."
            ) from None
        if answer.status_code >= _REFUSED_FROM:
            raise ConnectRefused(answer.status_code, _message(answer))
        try:
            return orjson.loads(answer.content) if answer.content else None
        except orjson.JSONDecodeError:
            raise Unavailable(f"What answers at {access.url} is no Connect: {_message(answer)}") from None

    def _opened(self) -> httpx.AsyncClient:
        """Only statements about connectors need a client."""
        if self._client is None:
            self._client = httpx.AsyncClient(
                timeout=self._access.timeout_s,
                auth=self._access.credentials,
                headers={"content-type": "application/json", "accept": "application/json"},
                limits=httpx.Limits(max_connections=CONNECTIONS_MAX),
                trust_env=False,
            )
        return self._client


def _path(name: str) -> str:
    return f"/connectors/{quote(name, safe='')}"


def _message(answer: httpx.Response) -> str:
    try:
        message = orjson.loads(answer.content)["message"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        message = answer.text
    return str(message).strip()[:MESSAGE_CHARACTERS_MAX] or answer.reason_phrase
