"""Consumers of the tools that run beside a test, in a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TypeVar

from barnabas.client.consumer.consumer import Consumer
from barnabas.client.consumer.consumer_settings import ConsumerSettings
from barnabas.wire.client import Client
from tests.waiting import wait_for

POLL_MS = 100
DEADLINE_S = 90.0

T = TypeVar("T")


class Members:
    """Members that consume until the block ends."""

    def __init__(self, address: str, loop: asyncio.AbstractEventLoop) -> None:
        self.consumers: list[Consumer] = []
        self._address = address
        self._loop = loop
        self._pumps: dict[Consumer, Future[None]] = {}

    def run(self, work: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(DEADLINE_S)

    def join(self, settings: ConsumerSettings, topics: Sequence[str], client_id: str) -> Consumer:
        async def start() -> Consumer:
            consumer = Consumer(Client(self._address, client_id=client_id), settings)
            await consumer.subscribe(topics)
            return consumer

        consumer = self.run(start())
        self.consumers.append(consumer)
        self._pumps[consumer] = asyncio.run_coroutine_threadsafe(_pump(consumer), self._loop)
        return consumer

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        wait_for(condition, what, DEADLINE_S)

    def leave(self, consumer: Consumer) -> None:
        self.consumers.remove(consumer)
        self._pumps.pop(consumer).cancel()
        self.run(_end(consumer))

    def stop(self) -> None:
        for consumer in list(self.consumers):
            self.leave(consumer)


async def _pump(consumer: Consumer) -> None:
    while True:
        await consumer.poll(POLL_MS)


async def _end(consumer: Consumer) -> None:
    await consumer.close()
    await consumer.cluster.client.close()


@contextmanager
def members(address: str) -> Iterator[Members]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="members")
    thread.start()
    found = Members(address, loop)
    try:
        yield found
    finally:
        found.stop()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(DEADLINE_S)
        loop.close()
