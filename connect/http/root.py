"""The worker itself: what it is, how it is, and its loggers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import SERVICE_TAG, Operation, Parameter, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import INTEGER, STRING, Shape, enum, list_of, map_of, nullable, open_object
from connect.herder.views import Vitality
from connect.http import bodies
from connect.http.operation import read, write
from connect.http.problems import BAD_REQUEST, INTERNAL_ERROR, UNAVAILABLE
from connect.http.startup import Startup
from connect.worker.loggers import LoggerLevel, Loggers

_STATUSES: Final = {Vitality.HEALTHY: 200, Vitality.STARTING: UNAVAILABLE, Vitality.UNHEALTHY: INTERNAL_ERROR}
NO_CONTENT: Final = 204

_ABOUT: Final = read(
    "serverInfo",
    SERVICE_TAG,
    "Get the version of the worker and the id of its Kafka cluster",
    open_object({"version": STRING, "commit": STRING, "kafka_cluster_id": nullable(STRING)}),
)
_STATE: Final = content(open_object({"status": enum(*[each.value for each in Vitality]), "message": STRING}))
_HEALTH: Final = Operation(
    "healthCheck", SERVICE_TAG, "Get the state of the worker", dict.fromkeys(_STATUSES.values(), _STATE)
)
_TAG: Final = "Loggers"
_LEVEL: Final = Shape("LoggerLevel", open_object({"level": nullable(STRING), "last_modified": nullable(INTEGER)}))
_LIST: Final = read("listLoggers", _TAG, "List loggers and their levels", map_of(_LEVEL))
_GET: Final = read("getLogger", _TAG, "Get the level of a logger", _LEVEL)
_SET: Final = write(
    "setLevel",
    _TAG,
    "Set the level of a logger and of those below it",
    {200: list_of(STRING), NO_CONTENT: None},
    Parameter("scope", STRING, "`cluster` sets it on every worker of the group, and the response has no body."),
    body=Shape("LogLevel", open_object({"level": STRING})),
    example={"level": "INFO"},
)


class Root:
    def __init__(self, startup: Startup, loggers: Loggers) -> None:
        self._startup = startup
        self._loggers = loggers

    def routes(self) -> Iterator[Route]:
        yield Route("GET", "/", self.about, _ABOUT)
        yield Route("GET", "/health", self.health, _HEALTH)
        yield Route("GET", "/admin/loggers", self.loggers, _LIST)
        yield Route("GET", "/admin/loggers/{logger}", self.logger, _GET)
        yield Route("PUT", "/admin/loggers/{logger}", self.set_level, _SET)

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
