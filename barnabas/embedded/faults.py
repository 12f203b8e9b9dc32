"""What can go wrong with an embedded broker, at the wish of a test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from barnabas.embedded import arguments
from barnabas.embedded.failing_disk import DISK_FULL, FailingDisk
from barnabas.embedded.gate import Gate
from barnabas.embedded.shifted_time import ShiftedTime

SESSION_MAX_MS: Final = 1_800_001
"""A little more than the longest session that a broker allows by default (`group.max.session.timeout.ms`)."""

Call = Callable[[Callable[[], Awaitable[Any]]], Any]


class Faults:
    """May be used by any thread; each takes effect before it returns. `clear` undoes all of them but for time, which does not go back."""

    def __init__(self, call: Call, gate: Gate, disk: FailingDisk, time: ShiftedTime) -> None:
        self._call = call
        self._gate = gate
        self._disk = disk
        self._time = time

    def delay(self, milliseconds: int) -> None:
        """Hold everything between clients and broker for so long, in both directions. 0 ends it."""
        delay_ms = arguments.milliseconds(milliseconds)
        self._on_loop(lambda: setattr(self._gate, "delay_ms", delay_ms))

    def drop_connections(self) -> int:
        """Cut the connections of all clients; returns how many there were."""
        count: int = self._on_loop(self._gate.drop_connections)
        return count

    def refuse_connections(self, is_on: bool = True) -> None:
        """New connections are closed at once."""
        self._on_loop(lambda: setattr(self._gate, "is_shut", is_on))

    def stall(self, is_on: bool = True) -> None:
        """Nothing passes and nothing is closed: a cable that is pulled, a machine that is suspended."""
        self._on_loop(lambda: self._gate.stall(is_on))

    def fail_appends(self, error_number: int | None = DISK_FULL) -> None:
        """Writes to the log fail with this error of the system, by default as if the disk were full; None ends it."""
        self._disk.error_number = arguments.system_error(error_number)

    def advance_clock(self, milliseconds: int) -> None:
        """Put the broker's time forward: retention, sessions, transactions and everything else that waits for a time."""
        by_ms = arguments.milliseconds(milliseconds)
        self._on_loop(lambda: self._time.advance(by_ms))

    def expire_sessions(self) -> None:
        """All members of all groups have been silent for too long: the next they hear is that they are unknown."""
        self.advance_clock(SESSION_MAX_MS)

    def clear(self) -> None:
        self.delay(0)
        self.refuse_connections(False)
        self.stall(False)
        self.fail_appends(None)

    def _on_loop(self, work: Callable[[], Any]) -> Any:
        async def run() -> Any:
            return work()

        return self._call(run)
