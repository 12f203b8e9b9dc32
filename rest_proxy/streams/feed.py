"""What comes in at the end of a topic, kept for a moment for all streams that follow it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence, Set
from typing import Final

from confluent_kafka import Message

from rest_proxy.formats.formats import Formats
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.streams.framing import Framing
from rest_proxy.streams.positions import Positions
from rest_proxy.streams.record_form import RecordForm

KEPT_MAX_BYTES: Final = 1024 * 1024
KEPT_MAX_RECORDS: Final = 5_000
"""The newest chunk is kept in any case."""


class Chunk:
    """Records that came together. They are encoded once for each form, however many streams show them."""

    def __init__(self, messages: Sequence[Message], before: Positions, after: Positions) -> None:
        self.messages = messages
        self.before = before
        self.after = after
        self.size_bytes = sum(len(message) + len(message.key() or b"") for message in messages)
        self._lines: dict[RecordForm, asyncio.Task[list[bytes]]] = {}
        self._bodies: dict[tuple[RecordForm, Framing], bytes] = {}

    async def lines(self, form: RecordForm, formats: Formats) -> list[bytes]:
        if form not in self._lines:
            self._lines[form] = asyncio.ensure_future(form.lines(formats, self.messages))
        # One stream that ends must not take the work of the others with it.
        return await asyncio.shield(self._lines[form])

    async def body(self, form: RecordForm, framing: Framing, formats: Formats) -> bytes:
        lines = await self.lines(form, formats)
        if (form, framing) not in self._bodies:
            self._bodies[form, framing] = framing.body(self.messages, lines, dict(self.before))
        return self._bodies[form, framing]


class Feed:
    """The newest chunks of a topic. Whoever has come as far as the oldest of them can go on from here."""

    def __init__(self) -> None:
        self.positions: Positions = {}
        """Where the next chunk begins."""
        self.partitions: frozenset[int] = frozenset()
        """All that the topic is known to have, whether they are followed or not."""
        self.failure: KafkaFailure | None = None
        self.followers = 0
        self._chunks: deque[Chunk] = deque()
        self._first = 0
        """The number of the oldest chunk."""
        self._start: Positions = {}
        """Where it begins."""
        self._kept_bytes = 0
        self._kept_records = 0
        self._arrived = asyncio.Event()

    def extend(self, positions: Positions) -> Positions:
        """Partitions that were not followed yet are from these positions on; returns them."""
        missing = {number: offset for number, offset in positions.items() if number not in self.positions}
        self.positions = {**self.positions, **missing}
        self._start.update(missing)
        return missing

    def add(self, messages: Sequence[Message], after: Positions) -> None:
        """What comes next; positions may move on without a record."""
        if messages:
            chunk = Chunk(messages, self.positions, after)
            self._chunks.append(chunk)
            self._kept_bytes += chunk.size_bytes
            self._kept_records += len(messages)
            while len(self._chunks) > 1 and self._is_full():
                self._drop()
        self.positions = after
        self._wake()

    def learn(self, partitions: Iterable[int]) -> None:
        """What partitions the topic has; news of more reach those who wait."""
        self.partitions = frozenset(partitions)
        self._wake()

    def fail(self, failure: KafkaFailure) -> None:
        self.failure = failure
        self._wake()

    def join(self, positions: Positions) -> int | None:
        """The number of the chunk to go on with; None when what comes next is no longer here."""
        if any(offset < self._start.get(partition, offset) for partition, offset in positions.items()):
            return None
        return self._first

    async def next(self, number: int, known: Set[int] | None) -> Chunk | None:
        """Waits for a chunk. None when it is gone already, or when the topic has more partitions than are known. KafkaFailure when no
        more will come."""
        while number >= self._first and (known is None or self.partitions <= known):
            if number < self._first + len(self._chunks):
                return self._chunks[number - self._first]
            if self.failure is not None:
                raise self.failure
            await self._arrived.wait()
        return None

    def _is_full(self) -> bool:
        return self._kept_bytes > KEPT_MAX_BYTES or self._kept_records > KEPT_MAX_RECORDS

    def _drop(self) -> None:
        dropped = self._chunks.popleft()
        self._first += 1
        self._start.update(dropped.after)
        self._kept_bytes -= dropped.size_bytes
        self._kept_records -= len(dropped.messages)

    def _wake(self) -> None:
        arrived, self._arrived = self._arrived, asyncio.Event()
        arrived.set()
