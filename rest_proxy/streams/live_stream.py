"""One live stream: it catches up by itself, follows the feed of its topic with all others, and falls back when its client is slow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from confluent_kafka import Message

from rest_proxy.formats.formats import Formats
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.streams.feed import Chunk, Feed
from rest_proxy.streams.framing import Framing
from rest_proxy.streams.hub import Hub
from rest_proxy.streams.offsets import Offsets
from rest_proxy.streams.positions import Positions
from rest_proxy.streams.readers import Readers
from rest_proxy.streams.record_form import RecordForm
from rest_proxy.streams.stream_answer import StreamAnswer

HEARTBEAT_S: Final = 15.0
CATCH_UP_WAIT_S: Final = 1.0
RETRY_S: Final = 1.0

_PASSING: Final = frozenset({"_ALL_BROKERS_DOWN", "_RESOLVE", "_TIMED_OUT", "_TRANSPORT"})
"""The cluster cannot be reached: streams wait for it."""
_GONE: Final = "_AUTO_OFFSET_RESET"
"""What was to be read has been deleted."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a client wants to see of a topic."""

    topic: str
    form: RecordForm
    framing: Framing
    key: bytes | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Sources:
    """What all streams share."""

    hub: Hub
    readers: Readers
    offsets: Offsets
    formats: Formats
    stopping: asyncio.Event


class LiveStream(StreamAnswer):
    """It holds no more than one batch of records at a time: the next one is read when the client has taken the last."""

    def __init__(self, wish: Wish, positions: Positions, sources: Sources) -> None:
        super().__init__(wish.framing, sources.stopping)
        self._wish = wish
        self._positions = positions
        self._sources = sources
        self._left = wish.limit
        self._feed: Feed | None = None
        self._number = 0

    async def bodies(self) -> AsyncIterator[bytes]:
        while self._left != 0:
            try:
                body = await (self._caught_up() if self._feed is None else self._followed(self._feed))
            except KafkaFailure as failure:
                await self._recover(failure)
                continue
            if body:
                yield body

    async def end(self) -> None:
        self._leave()

    async def _caught_up(self) -> bytes:
        """The next records by a reader; when there are none for now, or the feed has them, the feed is next."""
        topic, sources = self._wish.topic, self._sources
        if sources.hub.covers(topic, self._positions):
            await self._join()
            return b""
        portion = await sources.readers.read(topic, self._positions, CATCH_UP_WAIT_S)
        if not portion.messages and not portion.at_end:
            await sources.offsets.partitions(topic)
        wanted = self._wanted(portion.messages)
        lines = await self._wish.form.lines(sources.formats, wanted)
        body = self._body(wanted, lines, portion.positions)
        if self._left != 0 and portion.at_end:
            await self._join()
        return body

    async def _join(self) -> None:
        topic, hub = self._wish.topic, self._sources.hub
        # Set before anything is waited for, so that a stream that ends meanwhile leaves it.
        self._feed = feed = hub.follow(topic)
        await hub.extend(topic, feed, self._positions)
        number = feed.join(self._positions)
        if number is None:
            self._leave()
        else:
            self._number = number

    def _leave(self) -> None:
        if self._feed is not None:
            feed, self._feed = self._feed, None
            self._sources.hub.leave(self._wish.topic, feed)

    async def _followed(self, feed: Feed) -> bytes:
        try:
            async with asyncio.timeout(HEARTBEAT_S):
                chunk = await feed.next(self._number)
        except TimeoutError:
            return self._wish.framing.heartbeat
        if chunk is None:
            # The client was too slow: what comes next for it is on disk alone.
            self._leave()
            return b""
        self._number += 1
        if self._left is None and self._wish.key is None and self._positions == chunk.before:
            self._positions = dict(chunk.after)
            return await chunk.body(self._wish.form, self._wish.framing, self._sources.formats)
        return await self._part(chunk)

    async def _part(self, chunk: Chunk) -> bytes:
        """What a stream of its own kind shows of a chunk."""
        wanted = self._wanted(chunk.messages)
        if not wanted:
            self._move(chunk.after)
            return b""
        line_of = dict(
            zip(
                map(_place, chunk.messages),
                await chunk.lines(self._wish.form, self._sources.formats),
                strict=True,
            )
        )
        return self._body(wanted, [line_of[_place(message)] for message in wanted], chunk.after)

    def _wanted(self, messages: Iterable[Message]) -> list[Message]:
        positions, key = self._positions, self._wish.key
        found = [
            message
            for message in messages
            if (message.offset() or 0) >= positions.get(message.partition() or 0, _NEVER)
            and (key is None or message.key() == key)
        ]
        return found if self._left is None else found[: self._left]

    def _body(self, messages: Sequence[Message], lines: Sequence[bytes], after: Positions) -> bytes:
        body = self._wish.framing.body(messages, lines, self._positions)
        if self._left is not None:
            self._left -= len(messages)
        self._move(after)
        return body

    def _move(self, after: Positions) -> None:
        for partition, offset in self._positions.items():
            self._positions[partition] = max(offset, after.get(partition, offset))

    async def _recover(self, failure: KafkaFailure) -> None:
        """Waits for a cluster that is not there, and passes over what has been deleted; else the failure is the end."""
        self._leave()
        if failure.name in _PASSING:
            await asyncio.sleep(RETRY_S)
        elif failure.name == _GONE:
            self._move(await self._sources.offsets.earliest(self._wish.topic, self._positions))
        else:
            raise failure


_NEVER: Final = 2**63
"""Beyond every offset."""


def _place(message: Message) -> tuple[int | None, int | None]:
    return message.partition(), message.offset()
