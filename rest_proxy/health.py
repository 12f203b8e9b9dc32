"""Whether the service can do its work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.health import Health
from barnabas.kernel.http.operation import SERVICE_TAG, Operation, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import BOOLEAN, OBJECT, open_object
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.proxy import Proxy

SILENCE_MAX_S: Final = 2.0

_STATE: Final = content(open_object({"healthy": BOOLEAN, "status": OBJECT}))
_READY: Final = content(open_object({"ready": BOOLEAN}))
_HEALTH: Final = Operation(
    "getKafkaHealth", SERVICE_TAG, "Check whether Kafka responds, and why not", {200: _STATE, 503: _STATE}
)
_READINESS: Final = Operation(
    "getReadiness", SERVICE_TAG, "Check whether requests would be served", {200: _READY, 503: _READY}
)


class ServiceHealth:
    """Asks the brokers each time unless they are known to be away: what was true a moment ago is no answer. Without the registry the service
    is degraded: most records do without."""

    def __init__(self, proxy: Proxy) -> None:
        self._registry = proxy.formats.registry_check()
        self._health = Health("rest", {"kafka": self._kafka_problem, "registry": self._registry.problem}, {"kafka"})
        self._admin = proxy.clients.admin
        self._reachability = proxy.clients.reachability
        self._brokers = ", ".join(proxy.settings.items_of("bootstrap.servers"))

    def routes(self) -> Iterator[Route]:
        yield from self._health.routes()
        yield Route("GET", "/_health", self.health, _HEALTH)
        yield Route("GET", "/status/ready", self.ready, _READINESS)

    async def stop(self) -> None:
        await self._registry.close()

    async def health(self, _request: Request) -> Response:
        problem = await self._problem()
        status = {"bootstrap_servers": self._brokers, "broker_error": problem}
        return json_answer({"healthy": problem is None, "status": status}, _status(problem))

    async def ready(self, _request: Request) -> Response:
        problem = await self._problem()
        return json_answer({"ready": problem is None}, _status(problem))

    async def _kafka_problem(self) -> str | None:
        try:
            async with asyncio.timeout(SILENCE_MAX_S):
                return await self._problem()
        except TimeoutError:
            return self._reachability.problem or f"{self._brokers} does not answer"

    async def _problem(self) -> str | None:
        if self._reachability.problem is not None:
            return self._reachability.problem
        try:
            await self._admin.probe()
        except KafkaFailure as failure:
            return failure.message
        return None


def _status(problem: str | None) -> HTTPStatus:
    return HTTPStatus.OK if problem is None else HTTPStatus.SERVICE_UNAVAILABLE
