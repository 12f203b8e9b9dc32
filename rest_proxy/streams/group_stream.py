"""A live stream that is a member of a consumer group: what it has sent is committed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import Consumer, Message, TopicPartition

from rest_proxy.formats.formats import Formats
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.threads import Threads
from rest_proxy.streams.live_stream import HEARTBEAT_S, Wish
from rest_proxy.streams.polling import poll
from rest_proxy.streams.positions import Positions
from rest_proxy.streams.readers import FETCH_AGAIN_MS, FETCHED_MAX_KB
from rest_proxy.streams.stream_answer import StreamAnswer

POLL_S: Final = 0.2

GROUP_MEMBER: Final[Mapping[str, Any]] = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "allow.auto.create.topics": False,
    "queued.max.messages.kbytes": FETCHED_MAX_KB,
    "fetch.queue.backoff.ms": FETCH_AGAIN_MS,
    # How soon the group learns of partitions that are added to the topic.
    "topic.metadata.refresh.interval.ms": 5_000,
}

_TAKEN_AWAY: Final = frozenset({"ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "_STATE"})
"""The group has given the partitions to others, who will send the records once more."""
_PASSING: Final = frozenset({"_ALL_BROKERS_DOWN", "_RESOLVE", "_TIMED_OUT", "_TRANSPORT"})

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Membership:
    """How a stream becomes a member, and what members share."""

    settings: Mapping[str, Any]
    threads: Threads
    formats: Formats
    seats: asyncio.Semaphore
    stopping: asyncio.Event


class GroupStream(StreamAnswer):
    """Each record goes to one member of the group, at least once."""

    def __init__(self, wish: Wish, membership: Membership) -> None:
        super().__init__(wish.framing, membership.stopping)
        self._wish = wish
        self._settings = membership.settings
        self._threads = membership.threads
        self._formats = membership.formats
        self._seats = membership.seats
        self._left = wish.limit
        self._consumer: Consumer | None = None
        self._polling: asyncio.Future[list[Message]] | None = None

    async def bodies(self) -> AsyncIterator[bytes]:
        await self._seats.acquire()
        consumer = self._consumer = Consumer(dict(self._settings), logger=logger)
        consumer.subscribe([self._wish.topic])
        idle_s = 0.0
        while self._left != 0:
            self._polling = asyncio.ensure_future(self._threads.run(poll, consumer, POLL_S))
            # The thread has the consumer until it returns, even when nobody waits any more.
            messages = self._passed(await asyncio.shield(self._polling))
            idle_s = 0.0 if messages else idle_s + POLL_S
            if idle_s >= HEARTBEAT_S:
                idle_s = 0.0
                yield self._framing.heartbeat
            if messages:
                positions: Positions = {}
                yield await self._body(messages, positions)
                await self._commit(consumer, positions)

    async def end(self) -> None:
        if self._polling is not None:
            await asyncio.gather(self._polling, return_exceptions=True)
        if self._consumer is not None:
            await self._threads.run(self._consumer.close)
            self._seats.release()

    def _passed(self, messages: Sequence[Message]) -> list[Message]:
        """Records without news of failures, which pass or end the stream."""
        records = []
        for message in messages:
            error = message.error()
            if error is None:
                records.append(message)
            elif error.name() not in _PASSING:
                raise KafkaFailure.of(error)
        return records

    async def _body(self, messages: Sequence[Message], positions: Positions) -> bytes:
        """What the client sees of the messages; `positions` are moved behind all that it has had its chance to see."""
        wanted: list[Message] = []
        for message in messages:
            if len(wanted) == self._left:
                break
            positions[message.partition() or 0] = (message.offset() or 0) + 1
            if self._wish.keys is None or message.key() in self._wish.keys:
                wanted.append(message)
        if self._left is not None:
            self._left -= len(wanted)
        return self._framing.body(wanted, await self._wish.form.lines(self._formats, wanted), {})

    async def _commit(self, consumer: Consumer, positions: Positions) -> None:
        offsets = [TopicPartition(self._wish.topic, number, offset) for number, offset in positions.items()]
        try:
            await self._threads.run(lambda: consumer.commit(offsets=offsets, asynchronous=False))
        except KafkaFailure as failure:
            if failure.name not in _TAKEN_AWAY:
                raise
