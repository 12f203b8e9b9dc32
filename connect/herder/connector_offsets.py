"""The offsets of connectors, of sources and sinks alike, as clients read and change them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from barnabas.kernel.kafka_log.failures import StoreFailure
from connect.api.plugin import Plugin, PluginKind
from connect.api.settings import read
from connect.api.sink import Sink
from connect.api.source import SourceOffset
from connect.cluster.failures import CONFLICT, BadRequest, Conflict
from connect.cluster.group import Group
from connect.errors import ConnectError, InvalidOffsets, InvalidSettings
from connect.storage.config_state import ConfigState
from connect.storage.sink_offsets import SinkOffsets
from connect.storage.status import TargetState
from connect.worker.context import WorkerContext

_ELSEWHERE: Final = (
    "The Connect framework-managed offsets for this connector have been {done} successfully. However, if this connector manages offsets "
    "externally, they will need to be manually {done} in the system that the connector uses."
)
_DONE: Final = "The offsets for this connector have been {done} successfully"


class ConnectorOffsets:
    def __init__(self, state: ConfigState, group: Group, context: WorkerContext, sinks: SinkOffsets) -> None:
        self._state = state
        self._group = group
        self._context = context
        self._sources = context.offsets
        self._sinks = sinks

    async def read(self, name: str, config: Mapping[str, str]) -> Sequence[SourceOffset]:
        plugin, config = self._known(config)
        if plugin.kind is PluginKind.SINK:
            return await self._sinks.read(name, config)
        return await self._sources.read(name, config)

    async def alter(self, name: str, config: Mapping[str, str], offsets: Sequence[SourceOffset]) -> str:
        """Only what is named changes; no offset forgets a partition. Returns the message of success."""
        self._require_stopped(name)
        plugin, config = self._known(config)
        if plugin.kind is PluginKind.SINK:
            await self._sinks.write(name, config, offsets)
        else:
            await self._alter_source(name, config, offsets)
        return _message(plugin, config, "altered")

    async def reset(self, name: str, config: Mapping[str, str]) -> str:
        """Returns the message of success."""
        self._require_stopped(name)
        plugin, config = self._known(config)
        if plugin.kind is PluginKind.SINK:
            await self._sinks.reset(name, config)
        else:
            known = await self._sources.read(name, config)
            await self._alter_source(name, config, [SourceOffset(each.partition, None) for each in known])
        return _message(plugin, config, "reset")

    async def _alter_source(self, name: str, config: Mapping[str, str], offsets: Sequence[SourceOffset]) -> None:
        spec = self._context.connector_spec(name, config)
        try:
            await self._context.host.check_offsets(spec, offsets)
        except InvalidOffsets as invalid:
            raise BadRequest(str(invalid)) from None
        former = self._state.fenced_count(name)
        try:
            if self._context.config.exactly_once_source and former:
                await self._context.host.fence(spec, former)
        except ConnectError as failure:
            raise StoreFailure(
                f"Failed to perform zombie fencing for source connector prior to modifying offsets: {failure}"
            ) from None
        await self._sources.write(name, config, offsets)

    def _known(self, config: Mapping[str, str]) -> tuple[Plugin, Mapping[str, str]]:
        """The plugin, and the config with what it refers to."""
        try:
            return self._context.connector_plugin(config), self._context.providers.resolve(config)
        except ConnectError as failure:
            raise BadRequest(str(failure)) from None

    def _require_stopped(self, name: str) -> None:
        if self._state.target(name) is not TargetState.STOPPED or self._state.tasks(name):
            raise BadRequest(
                "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified connector "
                f"by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
            )
        plan = self._group.plan
        if plan is not None and any(piece.connector == name and piece.is_task for piece in plan.everything):
            # Its tasks have not been taken from their workers yet.
            raise Conflict(CONFLICT)


def _message(plugin: Plugin, config: Mapping[str, str], done: str) -> str:
    """A sink that keeps positions in its target has to be told there as well."""
    is_elsewhere = plugin.kind is PluginKind.SINK and _keeps_positions(plugin, config)
    return (_ELSEWHERE if is_elsewhere else _DONE).format(done=done)


def _keeps_positions(plugin: Plugin, config: Mapping[str, str]) -> bool:
    """Settings that cannot be read any more leave it open."""
    try:
        settings = read(plugin.settings_type, config)
    except InvalidSettings:
        return True
    # A plugin may be made by a function, which has no positions.
    return bool(getattr(plugin.made_by, "keeps_positions", Sink.keeps_positions)(settings))
