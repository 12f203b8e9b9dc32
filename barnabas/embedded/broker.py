"""A broker in this process, in a thread of its own: real sockets, real files, ready within a moment."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import tempfile
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Final, TypeVar

from barnabas.embedded import arguments, topic_client
from barnabas.embedded.arguments import Configs, Content, Headers
from barnabas.embedded.failing_disk import FailingDisk
from barnabas.embedded.faults import Faults
from barnabas.embedded.gate import Gate
from barnabas.embedded.shifted_time import ShiftedTime
from barnabas.embedded.topic_client import TopicRecord
from barnabas.kernel import event_loop
from barnabas.services import BROKER
from barnabas.wire.client import Client
from core_broker.broker import Broker

START_TIMEOUT_S: Final = 30.0
CALL_TIMEOUT_S: Final = 60.0
SETTINGS: Final[Mapping[str, str]] = {
    "listeners": "PLAINTEXT://127.0.0.1:0",
    # A test does not outlive a power cut, and a group of a test has all its members at once.
    "durability": "relaxed",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
_NAME_BYTES: Final = 4

Result = TypeVar("Result")


class EmbeddedBroker:
    """Started when it is made, until `close` (or the end of a `with` block). Everything but the faults is as with any broker."""

    def __init__(self, settings: Configs | None = None, folder: Path | None = None) -> None:
        """`settings` are the broker's own. Without a `folder` the data go with the broker."""
        self._settings = {**SETTINGS, **arguments.texts("settings", settings or {})}
        self._is_own_folder = folder is None
        self._folder = Path(tempfile.mkdtemp(prefix="barnabas-")) if folder is None else folder
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="barnabas broker", daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._stopping: asyncio.Event
        self._client: Client
        self._gate: Gate
        self.faults: Faults
        self._thread.start()
        try:
            self._ready.result(START_TIMEOUT_S)
        except BaseException:
            self._remove_folder()
            raise

    @property
    def bootstrap_servers(self) -> str:
        """HOST:PORT, as the setting of that name takes it."""
        return f"127.0.0.1:{self._gate.port}"

    def create_topic(self, name: str | None = None, partitions: int = 1, configs: Configs | None = None) -> str:
        """Returns the name, which nobody has used before if none is given."""
        made = f"topic-{secrets.token_hex(_NAME_BYTES)}" if name is None else arguments.text("name", name)
        count = arguments.whole_number("partitions", partitions)
        written = arguments.texts("configs", configs or {})
        self._call(lambda: topic_client.create_topic(self._client, made, count, written))
        return made

    def topics(self) -> list[str]:
        """The names of all topics but the broker's own."""
        return self._call(lambda: topic_client.topics(self._client))

    def delete_topic(self, name: str) -> None:
        wanted = arguments.text("name", name)
        self._call(lambda: topic_client.delete_topics(self._client, [wanted]))

    def produce(
        self,
        topic: str,
        *values: Content,
        key: Content = None,
        partition: int = 0,
        headers: Headers = (),
    ) -> int:
        """Write records to one partition; returns the offset of the first. None as a value is a tombstone."""
        if not values:
            raise ValueError("give at least one value to produce")
        place = (arguments.text("topic", topic), arguments.whole_number("partition", partition))
        encoded = [arguments.content(f"values[{number}]", value) for number, value in enumerate(values)]
        own_key, own_headers = arguments.content("key", key), arguments.header_list(headers)
        return self._call(lambda: topic_client.append(self._client, *place, own_key, encoded, own_headers))

    def records(self, topic: str) -> list[TopicRecord]:
        """What is in the topic now, as a reader of committed records sees it, partition by partition."""
        wanted = arguments.text("topic", topic)
        return self._call(lambda: topic_client.read_all(self._client, wanted))

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(CALL_TIMEOUT_S)
        self._remove_folder()

    def __enter__(self) -> EmbeddedBroker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _remove_folder(self) -> None:
        if self._is_own_folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _call(self, work: Callable[[], Awaitable[Result]]) -> Result:
        async def run() -> Result:
            return await work()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(CALL_TIMEOUT_S)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=event_loop.loop_factory()) as runner:
            try:
                runner.run(self._serve())
            except BaseException as problem:  # noqa: BLE001 - whoever waits for the broker is told
                if not self._ready.done():
                    self._ready.set_exception(problem)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        self._gate = Gate()
        try:
            await self._serve_behind(self._gate)
        finally:
            await self._gate.close()

    async def _serve_behind(self, gate: Gate) -> None:
        time, disk = ShiftedTime(self._loop), FailingDisk()
        flags = {
            "log.dirs": str(self._folder),
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap_servers}",
            **self._settings,
        }
        settings = BROKER.resolve(flags, {}, None).settings.over(BROKER.own_catalogue())
        broker = Broker(settings, self._loop, disk=disk, clock_ms=time.time_ms, timers=time)
        await broker.start()
        try:
            place = (broker.listeners[0].host, broker.listeners[0].port)
            await gate.open(place)
            # Past the gate: what a test arranges is not subject to its faults.
            self._client = Client(f"{place[0]}:{place[1]}")
            self.faults = Faults(self._call, gate, disk, time)
            self._ready.set_result(None)
            await self._stopping.wait()
            await self._client.close()
        finally:
            disk.error_number = None
            await broker.stop()
