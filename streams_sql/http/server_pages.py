"""The server itself: what it is, how it is, and what it has done."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import NO_BODY, SERVICE_TAG, Operation, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import BOOLEAN, INTEGER, OBJECT, STRING, enum, list_of, map_of, open_object
from streams_sql.http.media import OBJECTS, accepted
from streams_sql.http.operation import READ_ERRORS, read
from streams_sql.http.problems import BAD_REQUEST
from streams_sql.http.server_state import CommandStatuses, ServerState
from streams_sql.http.shapes import COMMAND_STATUS

NOT_FOUND: Final = HTTPStatus.NOT_FOUND
MS_PER_S: Final = 1000

_ROOT: Final = Operation(
    "getRoot", SERVICE_TAG, "Redirect to /info", {HTTPStatus.TEMPORARY_REDIRECT: NO_BODY, **READ_ERRORS}
)
_SERVER: Final = open_object(
    {
        "version": STRING,
        "kafkaClusterId": STRING,
        "ksqlServiceId": STRING,
        "serverStatus": enum("RUNNING", "INITIALIZING"),
    }
)
_INFO: Final = read("getInfo", SERVICE_TAG, "Get what the server is", open_object({"KsqlServerInfo": _SERVER}))
_PART: Final = open_object({"isHealthy": BOOLEAN}, {"reason": STRING})
_HEALTH: Final = read(
    "getServerHealth",
    SERVICE_TAG,
    "Get the state of the server and its parts",
    open_object({"isHealthy": BOOLEAN, "details": map_of(_PART), "serverState": enum("READY", "NOT_READY")}),
)
_HOST: Final = open_object(
    {
        "hostAlive": BOOLEAN,
        "lastStatusUpdateMs": INTEGER,
        "activeStandbyPerQuery": OBJECT,
        "hostStoreLags": open_object({"stateStoreLags": OBJECT, "updateTimeMs": INTEGER}),
    }
)
_CLUSTER: Final = read(
    "getClusterStatus", SERVICE_TAG, "Get the state of this server", open_object({"clusterStatus": map_of(_HOST)})
)
_STATUSES: Final = read(
    "listCommandStatuses",
    SERVICE_TAG,
    "List the results of the last changes",
    open_object({"commandStatuses": map_of(STRING)}),
)
_STATUS: Final = read("getCommandStatus", SERVICE_TAG, "Get the result of a change", COMMAND_STATUS)
_PROPERTY: Final = read("isValidProperty", SERVICE_TAG, "Check whether a property may be set", BOOLEAN)
_SCOPE: Final = open_object({"path": list_of(STRING), "clusters": map_of(STRING)})
_CLUSTER_ID: Final = open_object({"id": STRING, "scope": _SCOPE})
_METADATA: Final = read(
    "getMetadata",
    SERVICE_TAG,
    "Get the version and the ids of the clusters",
    open_object({"version": STRING, "clusterId": _CLUSTER_ID}),
)
_METADATA_ID: Final = read("getMetadataId", SERVICE_TAG, "Get the ids of the clusters", _CLUSTER_ID)
_LIVE: Final = Operation("getProbeOfLiveness", SERVICE_TAG, "Check that the server responds", {200: content(OBJECT)})
_READY: Final = Operation(
    "getProbeOfReadiness",
    SERVICE_TAG,
    "Check that the server has started",
    dict.fromkeys((200, 503), content(OBJECT)),
)


class ServerPages:
    """`part_problems` returns for each part of the server why it is unhealthy, None if it is healthy; `property_problem` says what is wrong with the
    name of a property, None if nothing is."""

    def __init__(
        self,
        state: Callable[[], ServerState],
        part_problems: Callable[[], Awaitable[Mapping[str, str | None]]],
        statuses: CommandStatuses,
        property_problem: Callable[[str], str | None],
    ) -> None:
        self._state = state
        self._part_problems = part_problems
        self._statuses = statuses
        self._property_problem = property_problem

    def routes(self) -> Iterator[Route]:
        yield Route("GET", "/", self.root, _ROOT)
        yield Route("GET", "/info", self.info, _INFO)
        yield Route("GET", "/healthcheck", self.health, _HEALTH)
        yield Route("GET", "/clusterStatus", self.cluster, _CLUSTER)
        yield Route("GET", "/status", self.all_statuses, _STATUSES)
        yield Route("GET", "/status/{type}/{entity}/{action}", self.status, _STATUS)
        yield Route("GET", "/is_valid_property/{property}", self.is_valid_property, _PROPERTY)
        yield Route("GET", "/v1/metadata", self.metadata, _METADATA)
        yield Route("GET", "/v1/metadata/id", self.metadata_id, _METADATA_ID)
        yield Route("GET", "/chc/live", self.live, _LIVE)
        yield Route("GET", "/chc/ready", self.ready, _READY)

    async def root(self, _request: Request) -> Response:
        return Response(status_code=HTTPStatus.TEMPORARY_REDIRECT, headers={"location": "/info"})

    async def info(self, request: Request) -> Response:
        state = self._state()
        info = {
            "version": state.version,
            "kafkaClusterId": state.kafka_cluster_id,
            "ksqlServiceId": state.service_id,
            "serverStatus": state.status,
        }
        return _answer(request, {"KsqlServerInfo": info})

    async def health(self, request: Request) -> Response:
        problems = await self._part_problems()
        details: dict[str, dict[str, Any]] = {name: {"isHealthy": each is None} for name, each in problems.items()}
        for name, problem in problems.items():
            if problem is not None:
                details[name]["reason"] = problem
        state = self._state()
        is_healthy = state.is_started and not any(problems.values())
        return _answer(request, {"isHealthy": is_healthy, "details": details, "serverState": _readiness(state)})

    async def cluster(self, request: Request) -> Response:
        """This server alone: the others are found through the group in which they elect their leader."""
        state = self._state()
        own = {
            "hostAlive": True,
            "lastStatusUpdateMs": int(time.time() * MS_PER_S),
            "activeStandbyPerQuery": {},
            "hostStoreLags": {"stateStoreLags": {}, "updateTimeMs": 0},
        }
        return _answer(request, {"clusterStatus": {state.host: own}})

    async def all_statuses(self, request: Request) -> Response:
        return _answer(request, {"commandStatuses": self._statuses.all()})

    async def status(self, request: Request) -> Response:
        key = "/".join([request.path_value(name) for name in ("type", "entity", "action")])
        found = self._statuses.of(key)
        if found is None:
            raise HttpError(NOT_FOUND, f"Command not found: {key}")
        return _answer(request, found)

    async def is_valid_property(self, request: Request) -> Response:
        problem = self._property_problem(request.path_value("property"))
        if problem is not None:
            raise HttpError(BAD_REQUEST, problem)
        return _answer(request, True)

    async def metadata(self, request: Request) -> Response:
        state = self._state()
        return _answer(request, {"version": state.version, "clusterId": _cluster_id(state)})

    async def metadata_id(self, request: Request) -> Response:
        return _answer(request, _cluster_id(self._state()))

    async def live(self, _request: Request) -> Response:
        return json_answer({})

    async def ready(self, _request: Request) -> Response:
        is_started = self._state().is_started
        return json_answer({}, HTTPStatus.OK if is_started else HTTPStatus.SERVICE_UNAVAILABLE)


def _answer(request: Request, value: Any) -> Response:
    return json_answer(value, media_type=accepted(request, OBJECTS))


def _readiness(state: ServerState) -> str:
    return "READY" if state.is_started else "NOT_READY"


def _cluster_id(state: ServerState) -> dict[str, Any]:
    clusters = {"kafka-cluster": state.kafka_cluster_id, "ksql-cluster": state.service_id}
    return {"id": "", "scope": {"path": [], "clusters": clusters}}
