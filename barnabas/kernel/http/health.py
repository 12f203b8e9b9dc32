"""`/health`: whether a service can do its work, and if not, what is wrong; `/health/live`: whether it answers at all.

A service that waits for Kafka is unhealthy, and alive: to start it anew would help nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from http import HTTPStatus
from time import monotonic
from typing import Final, TypeAlias

from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.operation import SERVICE_TAG, Operation, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import BOOLEAN, STRING, map_of, open_object

CHECK_TIMEOUT_S: Final = 2.5
"""How long a check may take; probes of orchestrators wait for about as long."""
KEPT_S: Final = 0.5
"""How long a finding is good for: many who ask at once cost no more than one."""

_CHECK: Final = open_object({"healthy": BOOLEAN}, {"reason": STRING})
_FINDING: Final = content(
    open_object({"status": STRING, "message": STRING, "service": STRING, "checks": map_of(_CHECK)})
)
_HEALTH: Final = Operation("getHealth", SERVICE_TAG, "Get the state of the service", {200: _FINDING, 503: _FINDING})
_LIVE: Final = Operation(
    "getLiveness", SERVICE_TAG, "Check that the service responds", {200: content(open_object({"status": STRING}))}
)

Check: TypeAlias = Callable[[], Awaitable[str | None]]
"""What is wrong with a part of the service, or with what it needs; None if nothing is."""


class Health:
    """Runs the checks side by side when somebody asks. Without what is not `essential` the service is degraded, not unhealthy."""

    def __init__(self, service: str, checks: Mapping[str, Check], essential: Collection[str]) -> None:
        self._service = service
        self._checks = checks
        self._essential = essential
        self._asking: asyncio.Future[Mapping[str, str | None]] | None = None
        self._asked_s = 0.0

    def routes(self) -> Iterator[Route]:
        yield Route("GET", "/health", self.page, _HEALTH)
        yield from live_routes()

    async def page(self, _request: Request) -> Response:
        problems = await self.problems()
        wrong = {name: problem for name, problem in problems.items() if problem is not None}
        is_able = not any(name in self._essential for name in wrong)
        status = "healthy" if not wrong else "degraded" if is_able else "unhealthy"
        told = {
            "status": status,
            "message": "; ".join(f"{name}: {problem}" for name, problem in wrong.items()) or "everything works",
            "service": self._service,
            "checks": {
                name: {"healthy": problem is None, **({} if problem is None else {"reason": problem})}
                for name, problem in problems.items()
            },
        }
        return json_answer(told, HTTPStatus.OK if is_able else HTTPStatus.SERVICE_UNAVAILABLE)

    async def problems(self) -> Mapping[str, str | None]:
        """What each check has found."""
        if self._asking is None or (self._asking.done() and monotonic() - self._asked_s > KEPT_S):
            self._asked_s = monotonic()
            self._asking = asyncio.ensure_future(self._ask())
        return await asyncio.shield(self._asking)

    async def _ask(self) -> Mapping[str, str | None]:
        found = await asyncio.gather(*[_checked(check) for check in self._checks.values()])
        self._asked_s = monotonic()
        return dict(zip(self._checks, found, strict=True))


def live_routes() -> Iterator[Route]:
    yield Route("GET", "/health/live", _live, _LIVE)


async def _live(_request: Request) -> Response:
    return json_answer({"status": "alive"})


async def _checked(check: Check) -> str | None:
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_S):
            return await check()
    except TimeoutError:
        return f"no answer within {CHECK_TIMEOUT_S:g} s"
