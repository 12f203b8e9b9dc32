"""The worker itself: what it is, how it is, and its loggers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.health import live_routes
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from connect.herder.views import Vitality
from connect.http import bodies
from connect.http.problems import BAD_REQUEST, INTERNAL_ERROR, UNAVAILABLE
from connect.http.startup import Startup
from connect.worker.loggers import LoggerLevel, Loggers

_STATUSES: Final = {Vitality.HEALTHY: 200, Vitality.STARTING: UNAVAILABLE, Vitality.UNHEALTHY: INTERNAL_ERROR}
NO_CONTENT: Final = 204


class Root:
    def __init__(self, startup: Startup, loggers: Loggers) -> None:
        self._startup = startup
        self._loggers = loggers

    def routes(self) -> Iterator[Route]:
        yield Route("GET", "/", self.about)
        yield Route("GET", "/health", self.health)
        yield from live_routes()
        yield Route("GET", "/admin/loggers", self.loggers)
        yield Route("GET", "/admin/loggers/{logger}", self.logger)
        yield Route("PUT", "/admin/loggers/{logger}", self.set_level)

    async def about(self, request: Request) -> Response:
        about = self._startup.herder.about
        return json_answer(
            {"version": about.version, "commit": about.commit, "kafka_cluster_id": about.kafka_cluster_id}
        )

    async def health(self, request: Request) -> Response:
        health = await self._startup.health()
        answer = json_answer({"status": health.vitality.value, "message": health.message})
        answer.status_code = _STATUSES[health.vitality]
        return answer

    async def loggers(self, request: Request) -> Response:
        return json_answer({name: _level(level) for name, level in sorted(self._loggers.all().items())})

    async def logger(self, request: Request) -> Response:
        return json_answer(_level(self._loggers.one(request.path_value("logger"))))

    async def set_level(self, request: Request) -> Response:
        """Everything but `cluster` is a scope of this worker, as in Kafka Connect."""
        body = await bodies.json_object(request)
        level = body.get("level")
        if level is None:
            raise HttpError(BAD_REQUEST, "Desired 'level' parameter was not specified in request.")
        name, level = request.path_value("logger"), str(level)
        if request.query_value("scope", "").lower() != "cluster":
            return json_answer(self._loggers.set(name, level))

        async def everywhere() -> Response:
            await self._startup.herder.set_cluster_level(name, level)
            return Response(status_code=NO_CONTENT)

        return await self._startup.routing.lead(request, everywhere)


def _level(level: LoggerLevel) -> dict[str, str | int | None]:
    return {"level": level.level, "last_modified": level.last_modified}
