"""The command topic, which the catalogue is replayed from."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.kafka_log.log import ConfigLog, LogRecord
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.changes import Changes
from streams_sql.engine.catalogue.command import Command, UnknownCommand
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.engine.failures import NotCaughtUp, Unavailable
from streams_sql.problem import SqlProblem

CATCH_UP_TIMEOUT_S: Final = 5.0
"""How long a request waits for the change that it comes after."""
CATCH_UP_INTERVAL_S: Final = 0.05
_KEY: Final = b"command"

_logger = logging.getLogger(__name__)


class CommandReplay:
    """Applies commands in the order of the topic. One that cannot be applied is logged and passed over: it must not keep the server from
    those after it. `on_applied` is called for each of the others."""

    def __init__(self, catalogue: Catalogue, changes: Changes, on_applied: Callable[[Outcome], None]) -> None:
        self._catalogue = catalogue
        self._changes = changes
        self._on_applied = on_applied
        self._count = 0
        self._last: Outcome | SqlProblem | None = None

    @property
    def count(self) -> int:
        """How many commands there have been."""
        return self._count

    @property
    def last(self) -> Outcome:
        """The outcome of the last command. SqlProblem."""
        if isinstance(self._last, SqlProblem):
            raise self._last
        assert self._last is not None, "a command has been applied"
        return self._last

    def apply(self, records: Sequence[LogRecord]) -> None:
        for record in records:
            self._count += 1
            if record.value is not None:
                self._apply(record.value)

    def _apply(self, raw: bytes) -> None:
        try:
            command = Command.decode(raw)
        except UnknownCommand as unknown:
            _logger.error("command %d is passed over: %s", self._count, unknown)
            return
        try:
            self._last = self._changes.replay(command, self._catalogue)
        except SqlProblem as problem:
            self._last = problem
            _logger.error("command %d is passed over: %s: %s", self._count, command.statement, problem.message)
            return
        self._on_applied(self._last)


class CommandLog:
    """The log whose records `replay` applies. Who holds `exclusive` alone writes: a statement is tried out on what those before it have
    made."""

    def __init__(self, log: ConfigLog, replay: CommandReplay) -> None:
        self._log = log
        self._replay = replay
        self.exclusive = asyncio.Lock()

    @property
    def count(self) -> int:
        """How many commands have been applied here."""
        return self._replay.count

    async def append(self, command: Command) -> Outcome:
        """Write a command; returns when it is durable and has been applied here. StoreFailure, Superseded, SqlProblem."""
        await self._log.append([LogRecord(_KEY, command.encode())])
        return self._replay.last

    async def catch_up(self) -> None:
        """Read what the leader has written. Unavailable."""
        try:
            await self._log.read_to_end()
        except StoreFailure as failure:
            raise Unavailable(str(failure)) from None

    async def reach(self, position: int) -> None:
        """Wait until the command with this number has been applied here. Unavailable."""
        try:
            async with asyncio.timeout(CATCH_UP_TIMEOUT_S):
                while self.count < position:
                    await self.catch_up()
                    if self.count < position:
                        await asyncio.sleep(CATCH_UP_INTERVAL_S)
        except TimeoutError:
            raise NotCaughtUp(
                f"Timed out while waiting for a previous command to execute. command sequence number: {position}"
            ) from None
