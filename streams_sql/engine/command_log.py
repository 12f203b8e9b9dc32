"""The command topic: what the catalogue is replayed from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final

from barnabas.kernel.kafka_log.log import ConfigLog, LogRecord
from streams_sql.engine.catalogue import Catalogue
from streams_sql.engine.changes import Changes
from streams_sql.engine.command import Command, UnknownCommand
from streams_sql.engine.outcome import Outcome
from streams_sql.language.problem import SqlProblem

_KEY: Final = b"command"

_logger = logging.getLogger(__name__)


class CommandLog:
    """Applies commands in the order of the topic. One that cannot be applied is told in the log and passed over: it must not keep the
    server from those behind it. `on_applied` hears of each of the others."""

    def __init__(self, catalogue: Catalogue, changes: Changes, on_applied: Callable[[Outcome], None]) -> None:
        self._catalogue = catalogue
        self._changes = changes
        self._on_applied = on_applied
        self._log: ConfigLog | None = None
        self._count = 0
        self._last: Outcome | SqlProblem | None = None

    @property
    def count(self) -> int:
        """How many commands there have been."""
        return self._count

    def open(self, log: ConfigLog) -> None:
        """The log whose records are handed to `apply`."""
        self._log = log

    def apply(self, records: Sequence[LogRecord]) -> None:
        for record in records:
            self._count += 1
            if record.value is not None:
                self._apply(record.value)

    async def append(self, command: Command) -> Outcome:
        """Write a command; returns when it is durable and has been applied here. StoreFailure, Superseded, SqlProblem."""
        assert self._log is not None, "the log is open when commands are written"
        await self._log.append([LogRecord(_KEY, command.encode())])
        if isinstance(self._last, SqlProblem):
            raise self._last
        assert self._last is not None, "the command has been applied"
        return self._last

    def _apply(self, raw: bytes) -> None:
        try:
            command = Command.decode(raw)
        except UnknownCommand as unknown:
            _logger.error("command %d is passed over: %s", self._count, unknown)
            return
        try:
            self._last = self._changes.apply(command, self._catalogue)
        except SqlProblem as problem:
            self._last = problem
            _logger.error("command %d is passed over: %s: %s", self._count, command.statement, problem.message)
            return
        self._on_applied(self._last)
