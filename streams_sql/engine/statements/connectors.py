"""Statements about connectors: Connect does what they say."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final, TypeVar

from barnabas.kernel.settings import MASK
from streams_sql.analysis.catalogue_view import nearest_hint
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.failures import ConnectRefused, EngineError
from streams_sql.engine.statements.connect_client import ConnectClient
from streams_sql.engine.statements.entities import (
    ConnectorCreation,
    ConnectorDeletion,
    ConnectorDescription,
    ConnectorList,
    ConnectorPluginList,
    ConnectorSummary,
    SourceDescription,
    StatementWarning,
)
from streams_sql.language.external_statements import (
    ConnectorKind,
    CreateConnector,
    DescribeConnector,
    DropConnector,
    ShowConnectors,
)
from streams_sql.problem import SqlProblem

CONNECTOR_CLASS: Final = "connector.class"
RUNNING: Final = "RUNNING"
ASKED_AT_ONCE: Final = 10
"""Connectors whose status is asked for side by side."""

STATUS_WAIT_S: Final = 10.0
"""How long a connector may be without a status after it was made."""
STATUS_RETRY_S: Final = 0.1

_SECRET: Final = re.compile(r"password|secret|token|credential|api.?key|user.?info", re.IGNORECASE)
"""Names of settings that a connector does not declare, and that are not shown all the same."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Connectors:
    client: ConnectClient
    catalogue: Catalogue

    async def check(self, statement: CreateConnector) -> None:
        """SqlProblem, ConnectRefused: the connector is there already, or its settings are not good."""
        if not statement.if_not_exists and await self._namesake(statement.name) is not None:
            raise ConnectRefused(HTTPStatus.CONFLICT, f"Connector {statement.name} already exists")
        config = _config(statement)
        plugin = config.get(CONNECTOR_CLASS, "").strip()
        if not plugin:
            raise SqlProblem(
                f"Validation error: {statement.name} has no connector type: give it one with '{CONNECTOR_CLASS}' = '…'. SHOW CONNECTOR "
                "PLUGINS lists those that there are."
            )
        await self._validated(plugin, config)

    async def create(self, statement: CreateConnector) -> ConnectorCreation | StatementWarning:
        if statement.if_not_exists and await self._namesake(statement.name) is not None:
            return StatementWarning(f"Connector {statement.name} already exists")
        config = _config(statement)
        secrets = await self._validated(config[CONNECTOR_CLASS].strip(), config)
        made = await _told("create connector", self.client.create(statement.name, config))
        shown = {name: _shown(name, value, secrets) for name, value in made.get("config", {}).items()}
        return ConnectorCreation(
            made.get("name", statement.name), made.get("type", "unknown"), shown, tuple(made.get("tasks", ()))
        )

    async def drop(self, statement: DropConnector) -> ConnectorDeletion | StatementWarning:
        try:
            await _told("drop connector", self.client.delete(statement.name))
        except ConnectRefused as refused:
            if refused.status != HTTPStatus.NOT_FOUND:
                raise
            if statement.if_exists:
                return StatementWarning(f"Connector '{statement.name}' does not exist.")
            raise await self._unknown(statement.name, refused) from None
        return ConnectorDeletion(statement.name)

    async def describe(self, statement: DescribeConnector) -> ConnectorDescription:
        name = statement.name
        try:
            status = await _told("query connector status", self._status(name))
        except ConnectRefused as refused:
            raise await self._unknown(name, refused) from None
        info = await _told("describe connector", self.client.connector(name))
        topics, warning = await self._topics(name)
        sources = [source for _, source in sorted(self.catalogue.sources.items()) if source.topic in topics]
        return ConnectorDescription(
            info.get("config", {}).get(CONNECTOR_CLASS, ""),
            status,
            tuple(SourceDescription(source, (), ()) for source in sources),
            tuple(topics),
            warnings=() if warning is None else (warning,),
        )

    async def list(self, statement: ShowConnectors) -> ConnectorList:
        names = await _told("list connectors", self.client.connectors())
        turns = asyncio.Semaphore(ASKED_AT_ONCE)

        async def asked(name: str) -> ConnectorSummary:
            async with turns:
                return await self._listed(name)

        found = await asyncio.gather(*map(asked, sorted(names)))
        shown = [replace(each, problem=None) for each in found if _is_wanted(each, statement.kind)]
        problems = [
            f"Could not describe connector {each.name}: {each.problem}" for each in found if each.problem is not None
        ]
        return ConnectorList(tuple(shown), tuple(problems))

    async def list_plugins(self) -> ConnectorPluginList:
        return ConnectorPluginList(tuple(await _told("list connector plugins", self.client.plugins())))

    # --- what Connect knows ---

    async def _namesake(self, name: str) -> str | None:
        found = await _told("check for existing connector", self.client.connectors())
        return next((each for each in found if each.upper() == name.upper()), None)

    async def _validated(self, plugin: str, config: Mapping[str, str]) -> frozenset[str]:
        """The names of settings that are secrets. SqlProblem for those that are not good."""
        found = await _told("validate connector", self.client.validated(plugin, config))
        problems = [
            f"{value.get('name')} - {'. '.join(value['errors'])}"
            for value in (each.get("value", {}) for each in found)
            if value.get("errors")
        ]
        if problems:
            raise SqlProblem("Validation error: " + "\n".join(problems))
        definitions = [each.get("definition", {}) for each in found]
        return frozenset(str(each.get("name")) for each in definitions if each.get("type") == "PASSWORD")

    async def _topics(self, name: str) -> tuple[Sequence[str], str | None]:
        """Old workers, and those that do not track topics, do not report them."""
        try:
            return await self.client.topics(name), None
        except ConnectRefused as refused:
            is_known = refused.status in (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN)
            return (), None if is_known else f"Could not list related topics due to error: {refused.message}"

    async def _listed(self, name: str) -> ConnectorSummary:
        try:
            info, status = await self.client.connector(name), await self._status(name)
        except (ConnectRefused, EngineError) as problem:
            return ConnectorSummary(name, problem=str(problem))
        return ConnectorSummary(name, info.get("type"), info.get("config", {}).get(CONNECTOR_CLASS), _state(status))

    async def _status(self, name: str) -> dict[str, Any]:
        """Connect reports that of a new connector once a worker has taken it up, a moment after it was made. ConnectRefused."""
        loop = asyncio.get_running_loop()
        end_s = loop.time() + STATUS_WAIT_S
        while True:
            try:
                return await self.client.status(name)
            except ConnectRefused as refused:
                if refused.status != HTTPStatus.NOT_FOUND or name not in await self.client.connectors():
                    raise
                if loop.time() > end_s:
                    message = f"{refused.message}. The connector is there, but no worker has told its state: are all of them well?"
                    raise ConnectRefused(HTTPStatus.CONFLICT, message) from None
            await asyncio.sleep(STATUS_RETRY_S)

    async def _unknown(self, name: str, refused: ConnectRefused) -> ConnectRefused:
        """Names that are not quoted are in capitals, which those of connectors seldom are."""
        if refused.status != HTTPStatus.NOT_FOUND:
            return refused
        names = await self.client.connectors()
        namesake = next((each for each in names if each.upper() == name.upper()), None)
        hint = nearest_hint(name, names) if namesake is None else f" Did you mean `{namesake}`? Write it in backticks."
        return ConnectRefused(refused.status, refused.message + hint)


async def _told(action: str, call: Awaitable[T]) -> T:
    try:
        return await call
    except ConnectRefused as refused:
        raise ConnectRefused(refused.status, f"Failed to {action}: {refused.message}") from None


def _config(statement: CreateConnector) -> dict[str, str]:
    return {**statement.config, "name": statement.name}


def _shown(name: str, value: Any, secrets: frozenset[str]) -> str:
    is_secret = name in secrets or _SECRET.search(name) is not None
    return MASK if is_secret else str(value)


def _is_wanted(listed: ConnectorSummary, kind: ConnectorKind | None) -> bool:
    return kind is None or (listed.type or "").upper() == kind.value


def _state(status: Mapping[str, Any]) -> str:
    """That of the connector, and how many of its tasks run."""
    state = str(status.get("connector", {}).get("state"))
    if state != RUNNING:
        return state
    tasks = status.get("tasks", ())
    running = sum(task.get("state") == RUNNING for task in tasks)
    return f"{'WARNING' if tasks and not running else RUNNING} ({running}/{len(tasks)} tasks RUNNING)"
