"""The store of statuses: the status topic as replayed, which every worker writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from barnabas.kernel.kafka_log.log import Apply, Log, LogRecord
from connect.storage.statuses import Statuses


class StatusStore:
    """`state` is what has been read so far; listeners are called after every later change."""

    def __init__(self, make_log: Callable[[Apply], Log]) -> None:
        self.state = Statuses()
        self.log = make_log(self._apply)
        self._listeners: list[Callable[[], None]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def _apply(self, records: Sequence[LogRecord]) -> None:
        for record in records:
            self.state.apply(record)
        for listener in self._listeners:
            listener()
