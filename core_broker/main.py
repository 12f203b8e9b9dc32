"""The broker as a program."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from barnabas.kernel.service_runner import ServiceProgram
from barnabas.kernel.settings import Settings
from barnabas.wire.errors import KafkaError
from core_broker.broker import Broker
from core_broker.log.directory import LogDirectoryError

YOUNG_OBJECTS_MAX: Final = 20_000


class UncleanStop(Exception):
    """The broker has stopped without everything on disk."""


class BrokerService:
    def __init__(self, settings: Settings) -> None:
        self._broker = Broker(settings, asyncio.get_running_loop())
        self._starting: asyncio.Task[None] | None = None

    @property
    def addresses(self) -> Sequence[tuple[str, int]]:
        return [(listener.host, listener.port) for listener in self._broker.listeners]

    async def start(self, _on_failure: Callable[[], None]) -> None:
        self._starting = asyncio.create_task(self._broker.start())
        # A start that is cut short leaves logs that the next one has to recover.
        await asyncio.shield(self._starting)

    async def stop(self) -> None:
        if self._starting is None:
            return
        await asyncio.wait([self._starting])
        if self._starting.exception() is not None:
            return
        try:
            await self._broker.stop()
        except OSError as problem:
            raise UncleanStop(
                f"not everything could be written when it stopped: {problem}; what was acknowledged is safe, and the next start recovers"
            ) from problem


PROGRAM: Final = ServiceProgram(
    "the broker",
    BrokerService,
    failures=(LogDirectoryError, KafkaError, UncleanStop),
    # What it has to write when it stops must not be cut short.
    stop_deadline_s=None,
    young_objects_max=YOUNG_OBJECTS_MAX,
    switches_often=True,
)
