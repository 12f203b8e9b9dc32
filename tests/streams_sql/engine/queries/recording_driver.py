"""A driver that runs nothing and remembers what it was told, and a clock that goes when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from streams_sql.spark.driver.messages import StartQuery
from streams_sql.spark.driver.slots import NoSlots


@dataclass
class RecordingDriver:
    """`full` tells of which queries Spark has no room for."""

    started: list[StartQuery] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    forgotten: list[tuple[str, str]] = field(default_factory=list)
    full: set[str] = field(default_factory=set)
    settled: list[str] = field(default_factory=list)

    def start_query(self, command: StartQuery) -> None:
        if command.query_id in self.full:
            raise NoSlots("there is no room")
        self.started.append(command)

    def stop_query(self, query_id: str) -> None:
        self.stopped.append(query_id)

    def settle_query(self, query_id: str) -> None:
        self.settled.append(query_id)

    def forget_query(self, query_id: str, folder: str) -> None:
        self.forgotten.append((query_id, folder))

    def explain_query(self, query_id: str) -> None:
        pass


class ManualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time stands still until `advance`."""

    def __init__(self) -> None:
        self._now_s = 0.0
        super().__init__()

    def time(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        """What is due within this time is done, in its order."""
        end = self._now_s + seconds
        while due := [handle.when() for handle in self._pending() if handle.when() <= end]:
            self._now_s = max(min(due), self._now_s)
            self.run_until_complete(asyncio.sleep(0))
        self._now_s = end

    def call(self, function: Callable[[], None]) -> None:
        """Call something that wants a running loop."""

        async def called() -> None:
            function()

        self.run_until_complete(called())

    def _pending(self) -> list[asyncio.TimerHandle]:
        scheduled: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        return [handle for handle in scheduled if not handle.cancelled()]
