"""Task configs on their way from the worker that runs a connector to the config topic, which the leader writes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

import orjson

from barnabas.kernel.leadership.forwarding import Call, Forwarder, ForwardingError
from connect.cluster.failures import CONFLICT, BadRequest, Conflict, NotFound
from connect.cluster.group import Group
from connect.cluster.signatures import signature_headers, verify
from connect.errors import ConnectError
from connect.storage import config_records
from connect.storage.config_store import ConfigStore
from connect.storage.status import TargetState
from connect.worker.task_configs import without_own_members

MESSAGE_CHARACTERS_MAX: Final = 2_000


class TaskConfigPublisher:
    def __init__(self, configs: ConfigStore, group: Group, forwarder: Forwarder) -> None:
        self._state = configs.state
        self._log = configs.log
        self._group = group
        self._forwarder = forwarder
        self._writing = asyncio.Lock()

    async def publish(self, name: str, tasks: Sequence[Mapping[str, str]]) -> None:
        """Configs that are the same as before change nothing. Conflict when the leader cannot take them now."""
        if list(tasks) == list(self._state.tasks(name)):
            return
        if self._group.is_leader:
            await self._write(name, tasks)
            return
        url, key = self._group.leader_url, self._state.session_key
        if url is None or key is None:
            raise Conflict(CONFLICT)
        body = orjson.dumps([dict(task) for task in tasks])
        headers = {**signature_headers(key, body), "content-type": "application/json"}
        target = f"/connectors/{quote(name, safe='')}/tasks?forward=false".encode()
        try:
            answer = await self._forwarder.send(url, Call("POST", target, headers, body))
        except ForwardingError as error:
            raise Conflict(f"{CONFLICT}: {error}") from None
        # The key may just have been renewed, and this worker or the leader not know it yet.
        passing = (HTTPStatus.CONFLICT, HTTPStatus.FORBIDDEN)
        if answer.status_code in passing or answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Conflict(f"the leader {url} answered {answer.status_code}")
        if answer.status_code >= HTTPStatus.BAD_REQUEST:
            message = answer.text[:MESSAGE_CHARACTERS_MAX]
            raise ConnectError(f"the leader {url} did not take the task configs: {message}")

    async def accept(self, name: str, body: bytes, headers: Mapping[str, str]) -> None:
        """What another worker publishes to this one, which leads."""
        verify(self._state.session_key, body, headers)
        if not self._group.is_leader:
            raise Conflict(CONFLICT)
        await self._write(name, _tasks(body))

    async def _write(self, name: str, tasks: Sequence[Mapping[str, str]]) -> None:
        async with self._writing:
            config = self._state.config(name)
            if config is None:
                raise NotFound(f"Connector {name} not found")
            if tasks and self._state.target(name) is TargetState.STOPPED:
                raise BadRequest(f"Cannot submit non-empty set of task configs for stopped connector {name}")
            if any(without_own_members(task) != dict(config) for task in tasks):
                # They were made from a configuration that has been changed since; its worker will make new ones.
                raise Conflict(f"{CONFLICT}: the task configs of connector {name} are out of date")
            await self._log.append(list(config_records.tasks(name, tasks)))


def _tasks(body: bytes) -> list[dict[str, str]]:
    try:
        found: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise BadRequest("task configs must be a JSON array of objects") from None
    if not isinstance(found, list) or not all(
        isinstance(task, dict) and all(isinstance(text, str) for text in task.values()) for task in found
    ):
        raise BadRequest("task configs must be a JSON array of objects whose members are texts")
    return found
