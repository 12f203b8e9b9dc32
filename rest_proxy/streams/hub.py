"""One consumer at the ends of all topics that streams follow."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from barnabas.kernel.settings import Settings
from rest_proxy.kafka.client_settings import CONSUMER, ONE_OF_MANY, client_settings
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.threads import Threads
from rest_proxy.streams.feed import Feed
from rest_proxy.streams.offsets import Offsets
from rest_proxy.streams.polling import poll
from rest_proxy.streams.positions import Positions
from rest_proxy.streams.readers import METADATA_TIMEOUT_S, NO_GROUP

POLL_S: Final = 0.2
"""The longest wait of a thread for records; when one comes the poll returns at once."""
CHECK_S: Final = 3.0
"""How often topics are asked for: librdkafka waits patiently for one that has been deleted to come back, and reads no partitions that
it was not told of."""
FETCHED_MAX_KB: Final = 8_192
FETCH_WAIT_MS: Final = 500

logger = logging.getLogger(__name__)


class Hub:
    """Feeds by their topics. The consumer reads while there are any."""

    def __init__(self, settings: Settings, threads: Threads, offsets: Offsets) -> None:
        own = {**NO_GROUP, "queued.max.messages.kbytes": FETCHED_MAX_KB, "fetch.wait.max.ms": FETCH_WAIT_MS}
        self._settings: Mapping[str, Any] = {**client_settings(settings, CONSUMER, ONE_OF_MANY), **own}
        self._threads = threads
        self._offsets = offsets
        self._feeds: dict[str, Feed] = {}
        self._consumer: Consumer | None = None
        self._left: list[TopicPartition] = []
        self._joined: list[TopicPartition] = []
        self._changing = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None

    def covers(self, topic: str, positions: Positions) -> bool:
        """Whether a stream that has come so far could go on with the feed that is there."""
        feed = self._feeds.get(topic)
        return feed is not None and feed.join(positions) is not None

    def follow(self, topic: str) -> Feed:
        """The feed of a topic, which the caller leaves when it has had enough."""
        feed = self._feeds.setdefault(topic, Feed())
        feed.followers += 1
        return feed

    async def extend(self, topic: str, feed: Feed, positions: Positions) -> None:
        """Partitions that a feed does not have yet are read from these positions on."""
        missing = feed.extend(positions)
        self._joined += [TopicPartition(topic, number, offset) for number, offset in missing.items()]
        await self._change()
        if self._reading is None or self._reading.done():
            self._reading = asyncio.ensure_future(self._read())

    def leave(self, topic: str, feed: Feed) -> None:
        """A feed without followers ends; its partitions are given up when the consumer is next asked."""
        feed.followers -= 1
        if feed.followers == 0:
            del self._feeds[topic]
            self._left += [TopicPartition(topic, number) for number in feed.positions]

    async def _change(self) -> None:
        """Tells the consumer what to read, in the order in which feeds went and came."""
        async with self._changing:
            if self._consumer is None:
                self._consumer = Consumer(dict(self._settings), logger=logger)
            left, self._left = self._left, []
            joined, self._joined = self._joined, []
            if left:
                await self._threads.run(self._consumer.incremental_unassign, left)
            if joined:
                await self._threads.run(_assign, self._consumer, joined)

    async def _read(self) -> None:
        """Never cancelled: what a poll has returned is nowhere else."""
        checked_s = monotonic()
        while self._feeds:
            self._spread(await self._threads.run(self._poll))
            if self._left:
                await self._change()
            if monotonic() - checked_s > CHECK_S and (self._checking is None or self._checking.done()):
                checked_s = monotonic()
                self._checking = asyncio.ensure_future(self._check())
        await self._change()

    def _poll(self) -> list[Message]:
        assert self._consumer is not None, "somebody follows"
        return poll(self._consumer, POLL_S)

    def _spread(self, messages: Iterable[Message]) -> None:
        """To each feed what belongs to it."""
        records: dict[str, list[Message]] = {}
        moved: dict[str, Positions] = {}
        for message in messages:
            topic, partition, offset = message.topic() or "", message.partition() or 0, message.offset() or 0
            feed = self._feeds.get(topic)
            error = message.error()
            if feed is None:
                continue
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                feed.fail(KafkaFailure.of(error))
                continue
            positions = moved.setdefault(topic, dict(feed.positions))
            # What an earlier feed of the same topic had asked for may still be under way.
            if error is None and offset >= positions.get(partition, offset + 1):
                records.setdefault(topic, []).append(message)
                positions[partition] = offset + 1
            elif error is not None and partition in positions:
                positions[partition] = max(positions[partition], offset)
        for topic, positions in moved.items():
            self._feeds[topic].add(records.get(topic, []), positions)

    async def _check(self) -> None:
        for topic, feed in list(self._feeds.items()):
            try:
                feed.learn(await self._offsets.partitions(topic))
            except KafkaFailure as failure:
                # Kafka's own numbers are answers of the cluster; others mean that it cannot be reached.
                if failure.code > 0 and (failure.code == KafkaError.UNKNOWN_TOPIC_OR_PART or not failure.retriable):
                    feed.fail(failure)


def _assign(consumer: Consumer, places: list[TopicPartition]) -> None:
    for topic in {place.topic for place in places}:
        # Whoever is assigned a topic that it has not heard of looks for its leaders a second later.
        consumer.list_topics(topic, METADATA_TIMEOUT_S)
    consumer.incremental_assign(places)
