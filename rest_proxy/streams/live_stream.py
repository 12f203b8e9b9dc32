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
_GONE: Final = frozenset({"_AUTO_OFFSET_RESET", "UNKNOWN_TOPIC_OR_PART"})
"""What was to be read has been deleted, perhaps with its topic, of which there may be a new one."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a client wants to see of a topic."""

    topic: str
    form: RecordForm
    framing: Framing
    keys: frozenset[bytes] | None
    """Of which a record must have one."""
    limit: int | None
    whole: bool
    """All partitions, those too that the topic is given later."""


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

    def opening(self) -> bytes:
        return self._framing.opening(self._positions)

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
                chunk = await feed.next(self._number, self._positions.keys() if self._wish.whole else None)
        except TimeoutError:
            return self._wish.framing.heartbeat
        if chunk is None:
            # The client was too slow, or there are partitions that it has seen nothing of: what comes next for it is on disk alone.
            self._leave()
            if self._wish.whole:
                self._positions = {**dict.fromkeys(sorted(feed.partitions), 0), **self._positions}
            return b""
        self._number += 1
        if self._left is None and self._wish.keys is None and self._positions == chunk.before:
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
        positions, keys = self._positions, self._wish.keys
        found = [
            message
            for message in messages
            if (message.offset() or 0) >= positions.get(message.partition() or 0, _NEVER)
            and (keys is None or message.key() in keys)
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
        if failure.name in _GONE:
            await self._move_to_what_is_there(failure)
        elif failure.name in _PASSING or failure.retriable:
            await asyncio.sleep(RETRY_S)
        else:
            raise failure

    async def _move_to_what_is_there(self, failure: KafkaFailure) -> None:
        """A position beyond the end is one of an earlier topic of that name: everything in the new one is news."""
        topic, offsets = self._wish.topic, self._sources.offsets
        partitions = [each for each in await offsets.partitions(topic) if self._wish.whole or each in self._positions]
        if not partitions:
            raise failure
        first, end = await offsets.earliest(topic, partitions), await offsets.latest(topic, partitions)
        positions = {each: self._positions.get(each, 0) for each in partitions}
        self._positions = {
            each: max(offset, first[each]) if offset <= end[each] else first[each] for each, offset in positions.items()
        }
        if failure.name == "UNKNOWN_TOPIC_OR_PART":
            # librdkafka may have heard of the deletion and not yet of the new topic.
            await asyncio.sleep(RETRY_S)


_NEVER: Final = 2**63
"""Beyond every offset."""


def _place(message: Message) -> tuple[int | None, int | None]:
    return message.partition(), message.offset()
