"""What everything that runs here needs of its worker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from connect.api.plugin import Plugin, PluginKind
from connect.api.source import SourceOffset
from connect.config.providers import Providers
from connect.plugins.catalogue import Plugins
from connect.tasks.host import TaskHost
from connect.tasks.messages import SetLogLevel
from connect.tasks.spec import ConnectorSpec, TaskId, TaskSpec, WorkerContext
from connect.worker.offset_store import OffsetStore
from connect.worker.restarts import RestartPolicy
from connect.worker.status_board import StatusBoard

CONNECTOR_CLASS: Final = "connector.class"
CONNECTOR_KINDS: Final = (PluginKind.SOURCE, PluginKind.SINK)
CONFLICT_RETRY_S: Final = 0.5
"""How soon task configs are told again to a leader that could not take them."""


@dataclass(frozen=True, slots=True)
class RunningTools:
    """`levels` are those of loggers that were changed, which a new task is told. `publish_tasks` tells the leader the configurations of a connector's tasks; Conflict when it cannot take them now."""

    plugins: Plugins
    host: TaskHost
    board: StatusBoard
    offsets: OffsetStore
    providers: Providers
    context: WorkerContext
    restart_policy: RestartPolicy
    grace_s: float
    tracks_topics: bool
    levels: Callable[[], Sequence[SetLogLevel]]
    publish_tasks: Callable[[str, Sequence[Mapping[str, str]]], Awaitable[None]]
    conflict_retry_s: float = CONFLICT_RETRY_S

    def connector_plugin(self, config: Mapping[str, str]) -> Plugin:
        """UnknownPlugin."""
        return self.plugins.find(config.get(CONNECTOR_CLASS, ""), CONNECTOR_KINDS)

    def connector_spec(self, name: str, config: Mapping[str, str]) -> ConnectorSpec:
        """ConnectError when a value that the config refers to is not there."""
        return ConnectorSpec(name, self.providers.resolve(config), self.context)

    async def task_spec(self, task: TaskId, config: Mapping[str, str], *, starts_paused: bool) -> TaskSpec:
        resolved = self.providers.resolve(config)
        offsets: Sequence[SourceOffset] = ()
        if self.connector_plugin(config).kind is PluginKind.SOURCE and not self.context.exactly_once_source:
            # With exactly-once, the task reads them itself, after it has shut out its forerunners.
            offsets = await self.offsets.read(task.connector, resolved)
        return TaskSpec(task, resolved, self.context, offsets, starts_paused)

    def note_topics(self, task: TaskId, topics: Sequence[str]) -> None:
        if self.tracks_topics:
            self.board.topics(task, topics)

    def keep_offsets(self, connector: str, offsets: Sequence[SourceOffset]) -> None:
        self.offsets.keep(connector, offsets)
