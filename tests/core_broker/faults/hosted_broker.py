"""A broker inside the test's process, on a thread of its own: its disk and its clock are the test's, and so is a look inside."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, TypeVar

import uvloop

from barnabas.kernel.settings import Settings, resolve
from core_broker.broker import Broker, system_clock_ms
from core_broker.configs.broker import BROKER_CATALOGUE
from core_broker.log.disk import Disk
from core_broker.partition import Partition
from tests.core_broker.broker_client import BrokerClient

CALL_DEADLINE_S = 90.0
Result = TypeVar("Result")


class HostedBroker:
    """Starts when it is made."""

    def __init__(
        self,
        log_dir: Path,
        settings: Mapping[str, object] = MappingProxyType({}),
        *,
        disk: Disk | None = None,
        clock_ms: Callable[[], int] = system_clock_ms,
    ) -> None:
        given = {name: str(value) for name, value in settings.items()}
        flags = {"log.dirs": str(log_dir), "listeners": "PLAINTEXT://127.0.0.1:0", **given}
        self.log_dir = log_dir
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hosted broker")
        self._thread.start()
        try:
            self.broker = self.run(self._start(resolve(BROKER_CATALOGUE, flags, {}, None), disk, clock_ms))
        except BaseException:
            self._end_loop()
            raise

    async def _start(self, settings: Settings, disk: Disk | None, clock_ms: Callable[[], int]) -> Broker:
        broker = Broker(settings, self._loop, disk=disk, clock_ms=clock_ms)
        await broker.start()
        return broker

    def __enter__(self) -> HostedBroker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop.is_closed():
            return
        if kind is None:
            self.stop()
        else:
            self.die()  # what went wrong before is what counts

    @property
    def address(self) -> str:
        return self.address_of(0)

    def address_of(self, listener: int) -> str:
        found = self.broker.listeners[listener]
        return f"{found.host}:{found.port}"

    def client(self) -> BrokerClient:
        return BrokerClient(self.address)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Runs a coroutine on the broker's event loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(CALL_DEADLINE_S)

    def look(self, question: Callable[[Broker], Result]) -> Result:
        """Asks something on the broker's event loop, where everything inside it is at rest."""

        async def ask() -> Result:
            return question(self.broker)

        return self.run(ask())

    def partition(self, topic: str, index: int = 0) -> Partition:
        found = self.look(lambda broker: broker.partition(topic, index))
        assert found is not None
        return found

    def stop(self) -> None:
        try:
            self.run(self.broker.stop())
        finally:
            self._end_loop()

    def die(self) -> None:
        """Ends the threads of a broker whose disk no longer takes anything: nothing that it still does can reach a file."""
        with suppress(OSError):
            self.stop()

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
