"""Connectors and their tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final
from urllib.parse import quote

from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import Parameter
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import BOOLEAN, STRING, Shape, any_of, enum, list_of, map_of, open_object
from connect.cluster.failures import NotFound
from connect.herder.views import ConnectorInfo
from connect.http import bodies, shapes
from connect.http.operation import read, write
from connect.http.problems import NOT_FOUND
from connect.http.startup import Startup
from connect.storage.status import TargetState
from connect.tasks.spec import TaskId

CREATED: Final = 201
ACCEPTED: Final = 202
NO_CONTENT: Final = 204
TASK_NUMBER_MAX_DIGITS: Final = 9

_TAG: Final = "Connectors"
_EXPANDED: Final = Shape("ExpandedConnector", open_object({}, {"status": shapes.STATUS, "info": shapes.CONNECTOR}))
_MESSAGE: Final = open_object({"message": STRING})
_LIST: Final = read(
    "listConnectors",
    _TAG,
    "List connectors: their names, or with `expand` more of each",
    any_of(list_of(STRING), map_of(_EXPANDED)),
    Parameter("expand", list_of(enum("status", "info")), "What to return of each connector."),
)
_CREATE: Final = write(
    "createConnector",
    _TAG,
    "Create a connector",
    {CREATED: shapes.CONNECTOR},
    body=bodies.CREATION,
    example={"name": "lines", "config": bodies.EXAMPLE},
)
_GET: Final = read("getConnector", _TAG, "Get a connector", shapes.CONNECTOR)
_DELETE: Final = write("destroyConnector", _TAG, "Delete a connector", {NO_CONTENT: None})
_GET_CONFIG: Final = read("getConnectorConfig", _TAG, "Get the configuration of a connector", map_of(STRING))
_PUT_CONFIG: Final = write(
    "putConnectorConfig",
    _TAG,
    "Create a connector, or replace its configuration",
    {200: shapes.CONNECTOR, CREATED: shapes.CONNECTOR},
    body=bodies.CONFIG,
    example=bodies.EXAMPLE,
)
_PATCH_CONFIG: Final = write(
    "patchConnectorConfig",
    _TAG,
    "Change some settings of a connector; null removes one",
    {200: shapes.CONNECTOR},
    body=bodies.SOME_SETTINGS,
    example={"batch.size": None},
)
_GET_STATUS: Final = read("getConnectorStatus", _TAG, "Get the state of a connector and its tasks", shapes.STATUS)
_PAUSE: Final = write("pauseConnector", _TAG, "Pause a connector", {ACCEPTED: None})
_RESUME: Final = write("resumeConnector", _TAG, "Resume a connector", {ACCEPTED: None})
_STOP: Final = write(
    "stopConnector", _TAG, "Stop a connector: it keeps its offsets and has no tasks", {NO_CONTENT: None}
)
_RESTART: Final = write(
    "restartConnector",
    _TAG,
    "Restart a connector",
    {NO_CONTENT: None, ACCEPTED: shapes.STATUS},
    Parameter("includeTasks", BOOLEAN, "Whether its tasks are restarted as well."),
    Parameter("onlyFailed", BOOLEAN, "Restart only what has failed."),
)
_GET_TASKS: Final = read("getTaskConfigs", _TAG, "List the tasks of a connector", list_of(shapes.TASK))
_PUT_TASKS: Final = write(
    "putTaskConfigs",
    _TAG,
    "Set the configurations of the tasks: only for workers of the group, which sign the request",
    {NO_CONTENT: None},
    body=list_of(map_of(STRING)),
)
_GET_TASK_STATUS: Final = read("getTaskStatus", _TAG, "Get the state of a task", shapes.TASK_STATUS)
_RESTART_TASK: Final = write("restartTask", _TAG, "Restart a task", {NO_CONTENT: None})
_GET_TOPICS: Final = read(
    "getConnectorActiveTopics",
    _TAG,
    "List the topics that a connector has used",
    map_of(open_object({"topics": list_of(STRING)})),
)
_RESET_TOPICS: Final = write(
    "resetConnectorActiveTopics", _TAG, "Forget the topics that a connector has used", {ACCEPTED: None}
)
_GET_OFFSETS: Final = read("getOffsets", _TAG, "Get the offsets of a connector", bodies.OFFSETS)
_ALTER_OFFSETS: Final = write(
    "alterConnectorOffsets", _TAG, "Change the offsets of a stopped connector", {200: _MESSAGE}, body=bodies.OFFSETS
)
_RESET_OFFSETS: Final = write(
    "resetConnectorOffsets", _TAG, "Delete the offsets of a stopped connector", {200: _MESSAGE}
)


class Connectors:
    def __init__(self, startup: Startup) -> None:
        self._startup = startup

    def routes(self) -> Iterator[Route]:
        one = "/connectors/{connector}"
        yield Route("GET", "/connectors", self.all, _LIST)
        yield Route("POST", "/connectors", self.create, _CREATE)
        yield Route("GET", one, self.info, _GET)
        yield Route("DELETE", one, self.delete, _DELETE)
        yield Route("GET", f"{one}/config", self.config, _GET_CONFIG)
        yield Route("PUT", f"{one}/config", self.put_config, _PUT_CONFIG)
        yield Route("PATCH", f"{one}/config", self.patch_config, _PATCH_CONFIG)
        yield Route("GET", f"{one}/status", self.status, _GET_STATUS)
        yield Route("PUT", f"{one}/pause", self._target(TargetState.PAUSED, ACCEPTED), _PAUSE)
        yield Route("PUT", f"{one}/resume", self._target(TargetState.STARTED, ACCEPTED), _RESUME)
        yield Route("PUT", f"{one}/stop", self._target(TargetState.STOPPED, NO_CONTENT), _STOP)
        yield Route("POST", f"{one}/restart", self.restart, _RESTART)
        yield Route("GET", f"{one}/tasks", self.tasks, _GET_TASKS)
        yield Route("POST", f"{one}/tasks", self.accept_tasks, _PUT_TASKS)
        yield Route("GET", f"{one}/tasks/{{task}}/status", self.task_status, _GET_TASK_STATUS)
        yield Route("POST", f"{one}/tasks/{{task}}/restart", self.restart_task, _RESTART_TASK)
        yield Route("GET", f"{one}/topics", self.topics, _GET_TOPICS)
        yield Route("PUT", f"{one}/topics/reset", self.reset_topics, _RESET_TOPICS)
        yield Route("GET", f"{one}/offsets", self.offsets, _GET_OFFSETS)
        yield Route("PATCH", f"{one}/offsets", self.alter_offsets, _ALTER_OFFSETS)
        yield Route("DELETE", f"{one}/offsets", self.reset_offsets, _RESET_OFFSETS)

    # --- reading ---

    async def all(self, request: Request) -> Response:
        """The names; with `expand`, what is asked for of each. A connector that goes meanwhile is left out."""
        wanted = request.query_values("expand")
        if not wanted:
            return json_answer(list(self._startup.herder.connectors()))
        answer: dict[str, dict[str, Any]] = {}
        for name in self._startup.herder.connectors():
            try:
                answer[name] = self._expanded(name, wanted)
            except NotFound:
                continue
        return json_answer(answer)

    async def info(self, request: Request) -> Response:
        return json_answer(shapes.info(self._startup.herder.info(request.path_value("connector"))))

    async def config(self, request: Request) -> Response:
        return json_answer(dict(self._startup.herder.config(request.path_value("connector"))))

    async def status(self, request: Request) -> Response:
        return json_answer(shapes.status(self._startup.herder.status(request.path_value("connector"))))

    async def tasks(self, request: Request) -> Response:
        tasks = self._startup.herder.tasks(request.path_value("connector"))
        return json_answer([{"id": shapes.task_id(task.id), "config": dict(task.config)} for task in tasks])

    async def task_status(self, request: Request) -> Response:
        task = _task(request)
        return json_answer(shapes.task_status(task.number, self._startup.herder.task_status(task)))

    async def topics(self, request: Request) -> Response:
        name = request.path_value("connector")
        return json_answer({name: {"topics": list(self._startup.herder.topics(name))}})

    async def offsets(self, request: Request) -> Response:
        found = await self._startup.herder.offsets(request.path_value("connector"))
        return json_answer({"offsets": [{"partition": each.partition, "offset": each.offset} for each in found]})

    # --- writing ---

    async def create(self, request: Request) -> Response:
        wish = await bodies.creation(request)

        async def act() -> Response:
            return _created(request, await self._startup.herder.create(wish.name, wish.config, wish.initial_state))

        return await self._startup.routing.lead(request, act)

    async def put_config(self, request: Request) -> Response:
        name = request.path_value("connector")
        config = await bodies.config(request, name)

        async def act() -> Response:
            was_created, info = await self._startup.herder.put_config(name, config)
            return _created(request, info) if was_created else json_answer(shapes.info(info))

        return await self._startup.routing.lead(request, act)

    async def patch_config(self, request: Request) -> Response:
        name = request.path_value("connector")
        changes = await bodies.config_changes(request, name)

        async def act() -> Response:
            return json_answer(shapes.info(await self._startup.herder.patch_config(name, changes)))

        return await self._startup.routing.lead(request, act)

    async def delete(self, request: Request) -> Response:
        return await self._lead(request, self._startup.herder.delete, NO_CONTENT)

    def _target(self, target: TargetState, status: int) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            return await self._lead(request, lambda name: self._startup.herder.set_target(name, target), status)

        return handle

    async def restart(self, request: Request) -> Response:
        """Without flags, the connector's own part alone, as it always was; with one, all that the flags say, and the status."""
        name = request.path_value("connector")
        include_tasks, only_failed = request.flag("includeTasks"), request.flag("onlyFailed")

        async def act() -> Response:
            if not include_tasks and not only_failed:
                await self._startup.herder.restart_connector(name)
                return Response(status_code=NO_CONTENT)
            told = await self._startup.herder.restart(name, include_tasks=include_tasks, only_failed=only_failed)
            answer = json_answer(shapes.status(told))
            answer.status_code = ACCEPTED
            return answer

        if not include_tasks and not only_failed:
            return await self._startup.routing.own(request, name, None, act)
        return await self._startup.routing.lead(request, act)

    async def restart_task(self, request: Request) -> Response:
        task = _task(request)

        async def act() -> Response:
            await self._startup.herder.restart_task(task)
            return Response(status_code=NO_CONTENT)

        return await self._startup.routing.own(request, task.connector, task.number, act)

    async def reset_topics(self, request: Request) -> Response:
        return await self._lead(request, self._startup.herder.reset_topics, ACCEPTED)

    async def alter_offsets(self, request: Request) -> Response:
        name = request.path_value("connector")
        wanted = await bodies.offsets(request)

        async def act() -> Response:
            return json_answer({"message": await self._startup.herder.alter_offsets(name, wanted)})

        return await self._startup.routing.lead(request, act)

    async def reset_offsets(self, request: Request) -> Response:
        name = request.path_value("connector")

        async def act() -> Response:
            return json_answer({"message": await self._startup.herder.reset_offsets(name)})

        return await self._startup.routing.lead(request, act)

    async def accept_tasks(self, request: Request) -> Response:
        """For workers of the group alone."""
        body = await request.body()
        await self._startup.herder.accept_task_configs(request.path_value("connector"), body, request.headers)
        return Response(status_code=NO_CONTENT)

    # --- what they share ---

    async def _lead(self, request: Request, act: Callable[[str], Awaitable[None]], status: int) -> Response:
        name = request.path_value("connector")

        async def respond() -> Response:
            await act(name)
            return Response(status_code=status)

        return await self._startup.routing.lead(request, respond)

    def _expanded(self, name: str, wanted: Sequence[str]) -> dict[str, Any]:
        parts: dict[str, Callable[[], dict[str, Any]]] = {
            "status": lambda: shapes.status(self._startup.herder.status(name)),
            "info": lambda: shapes.info(self._startup.herder.info(name)),
        }
        return {part: parts[part]() for part in wanted if part in parts}


def _created(request: Request, info: ConnectorInfo) -> Response:
    answer = json_answer(shapes.info(info))
    answer.status_code = CREATED
    host = request.headers.get("host")
    place = f"/connectors/{quote(info.name, safe='')}"
    answer.headers["Location"] = f"{request.scope['scheme']}://{host}{place}" if host else place
    return answer


def _task(request: Request) -> TaskId:
    number = request.path_value("task")
    if not number.isascii() or not number.isdigit() or len(number) > TASK_NUMBER_MAX_DIGITS:
        raise HttpError(NOT_FOUND, "HTTP 404 Not Found")
    return TaskId(request.path_value("connector"), int(number))
