"""The store of configurations: the config topic as replayed, which the leader writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from barnabas.kernel.kafka_log.log import Apply, ConfigLog, LogRecord
from connect.storage.config_state import Change, ConfigState

ConfigLogFactory: TypeAlias = Callable[[Apply, Callable[[], None]], ConfigLog]
"""Make the log from what applies its records, and what is called when another worker has begun to lead."""


class ConfigListener(Protocol):
    def on_config_changes(self, changes: Sequence[Change]) -> None:
        """Records have been applied."""

    def on_fenced(self) -> None:
        """Another worker has begun to lead."""


class ConfigStore:
    """`state` is what has been read so far; listeners receive every later change."""

    def __init__(self, make_log: ConfigLogFactory) -> None:
        self.state = ConfigState()
        self.log = make_log(self._apply, self._report_fencing)
        self._listeners: list[ConfigListener] = []

    def listen(self, listener: ConfigListener) -> None:
        self._listeners.append(listener)

    def _apply(self, records: Sequence[LogRecord]) -> None:
        changes = [change for record in records if (change := self.state.apply(record)) is not None]
        for listener in self._listeners:
            listener.on_config_changes(changes)

    def _report_fencing(self) -> None:
        for listener in self._listeners:
            listener.on_fenced()
