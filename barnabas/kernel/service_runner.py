"""Running a service in this process, from its settings to its exit status."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from barnabas.kernel import event_loop
from barnabas.kernel.settings import Settings

EXIT_FAILURE: Final = 1
YOUNG_OBJECTS_MAX: Final = 50_000
"""Requests leave no cycles behind but may hold thousands of objects, which the collector would look at in vain."""
SHORT_SWITCH_INTERVAL_S: Final = 0.0005
"""How long a thread waits at most for a busy event loop, and the loop for a busy thread; Python's default is ten times as much."""

Announce: TypeAlias = Callable[[Sequence[tuple[str, int]]], None]
"""Called once with the host and port of each listener, when the service responds."""

_logger = logging.getLogger(__name__)


class RunnableService(Protocol):
    """A service made from its settings. `stop` is called even if `start` has failed or was cancelled."""

    @property
    def addresses(self) -> Sequence[tuple[str, int]]:
        """Host and port of each listener, known once it has started."""

    async def start(self, on_failure: Callable[[], None]) -> None:
        """Return when requests are served. `on_failure` stops a service that cannot go on later."""

    async def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ServiceProgram:
    """What one service supplies to be run.

    `assemble` is called in the event loop. `failures` are errors of a start or a stop whose message is all that an operator needs. A
    service without a `stop_deadline_s` is given the time it needs to stop. `switches_often` is for services whose threads share the
    interpreter with a busy event loop.
    """

    name: str
    assemble: Callable[[Settings], RunnableService]
    failures: tuple[type[Exception], ...] = ()
    stop_deadline_s: float | None = event_loop.STOP_DEADLINE_S
    young_objects_max: int = YOUNG_OBJECTS_MAX
    switches_often: bool = False


def run(program: ServiceProgram, settings: Settings, announce: Announce) -> int:
    """Serve until SIGTERM or SIGINT, and return the exit status."""
    if program.switches_often:
        sys.setswitchinterval(SHORT_SWITCH_INTERVAL_S)
    return event_loop.run(_run(program, settings, announce))


def collect_garbage_rarely(young_objects_max: int = YOUNG_OBJECTS_MAX) -> None:
    """What start-up leaves behind lives as long as the process; the collector need not look at it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(young_objects_max)


async def _run(program: ServiceProgram, settings: Settings, announce: Announce) -> int:
    stopping = event_loop.stop_signal(program.stop_deadline_s)
    try:
        service = program.assemble(settings)
        stopped = asyncio.create_task(stopping.wait())
        starting = asyncio.create_task(service.start(stopping.set))
        try:
            await asyncio.wait([starting, stopped], return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                starting.result()
                collect_garbage_rarely(program.young_objects_max)
                announce(service.addresses)
                await stopped
        finally:
            for task in (starting, stopped):
                task.cancel()
            await asyncio.gather(starting, stopped, return_exceptions=True)
            await service.stop()
    except program.failures as problem:
        _logger.critical("%s has failed: %s", program.name, problem)
        return EXIT_FAILURE
    return 0
