"""A store with a memory of its own, as one instance of the registry has it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from barnabas.wire.client import Client
from schema_registry.schema import Schema
from schema_registry.store.keys import Key, SchemaKey
from schema_registry.store.record import Record
from schema_registry.store.store import Applied, Store
from schema_registry.store.topic import TopicSettings
from schema_registry.store.topic_log import TopicLog
from schema_registry.store.values import SchemaValue, Value

TIMEOUT_MS = 10_000


def registration(subject: str, schema_id: int = 1, version: int = 1) -> Record:
    value = SchemaValue(subject, version, schema_id, Schema(f'"{subject}"'))
    return Record(SchemaKey(subject, version).encode(), value.encode())


class Instance:
    """Remembers what its store applied; `refuse` makes the memory fail for a key."""

    def __init__(self, client: Client, topic: str, *, timeout_ms: int = TIMEOUT_MS) -> None:
        self.applied: list[Applied] = []
        self.memory: dict[Key, Value | None] = {}
        self.refuse: Key | None = None
        self.restarts = 0
        self.fenced = asyncio.Event()
        self.log = TopicLog(client, TopicSettings(topic, 1), f"{topic}-leader")
        self.store = Store(
            self.log, self._apply, start_again=self._start_again, on_fenced=self.fenced.set, timeout_ms=timeout_ms
        )

    @property
    def offsets(self) -> list[int]:
        return [applied.offset for applied in self.applied]

    def _apply(self, applied: Applied) -> None:
        if applied.key == self.refuse:
            raise RuntimeError("this record is refused")
        self.applied.append(applied)
        self.memory[applied.key] = applied.value

    def _start_again(self) -> None:
        self.restarts += 1
        self.memory.clear()


@asynccontextmanager
async def started(
    client: Client, topic: str, *, leads: bool = True, timeout_ms: int = TIMEOUT_MS
) -> AsyncIterator[Instance]:
    instance = Instance(client, topic, timeout_ms=timeout_ms)
    try:
        await instance.store.start()
        if leads:
            await instance.store.lead()
        yield instance
    finally:
        await instance.store.stop()
