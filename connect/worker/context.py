"""What the connectors and tasks of a worker share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from connect.api.plugin import Plugin, PluginKind
from connect.api.source import SourceOffset
from connect.config.providers import Providers
from connect.plugins.catalogue import Plugins
from connect.storage.offset_store import OffsetStore
from connect.storage.status_writer import StatusWriter
from connect.tasks.host import TaskHost
from connect.tasks.spec import ConnectorSpec, TaskId, TaskSpec, WorkerConfig
from connect.worker.loggers import Loggers
from connect.worker.restarts import RestartPolicy

CONNECTOR_CLASS: Final = "connector.class"
CONNECTOR_KINDS: Final = (PluginKind.SOURCE, PluginKind.SINK)
CONFLICT_RETRY_S: Final = 0.5
"""How soon task configs are sent again to a leader that could not accept them."""


@dataclass(frozen=True, slots=True)
class WorkerContext:
    config: WorkerConfig
    plugins: Plugins
    providers: Providers
    host: TaskHost
    loggers: Loggers
    statuses: StatusWriter
    offsets: OffsetStore
    restart_policy: RestartPolicy
    grace_s: float
    tracks_topics: bool
    conflict_retry_s: float = CONFLICT_RETRY_S

    def connector_plugin(self, config: Mapping[str, str]) -> Plugin:
        """UnknownPlugin."""
        return self.plugins.find(config.get(CONNECTOR_CLASS, ""), CONNECTOR_KINDS)

    def connector_spec(self, name: str, config: Mapping[str, str]) -> ConnectorSpec:
        """ConnectError when a value that the config refers to is not there."""
        return ConnectorSpec(name, self.providers.resolve(config), self.config)

    async def task_spec(self, task: TaskId, config: Mapping[str, str], *, starts_paused: bool) -> TaskSpec:
        resolved = self.providers.resolve(config)
        offsets: Sequence[SourceOffset] = ()
        if self.connector_plugin(config).kind is PluginKind.SOURCE and not self.config.exactly_once_source:
            # With exactly-once, the task reads them itself, after it has shut out its forerunners.
            offsets = await self.offsets.read(task.connector, resolved)
        return TaskSpec(task, resolved, self.config, offsets, starts_paused)

    def note_topics(self, task: TaskId, topics: Sequence[str]) -> None:
        if self.tracks_topics:
            self.statuses.topics(task, topics)
