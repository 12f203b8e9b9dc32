"""Consumers without a group that read from any place of any topic, a few of them for everybody."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from barnabas.kernel.settings import Settings
from rest_proxy.clients import Clients
from rest_proxy.kafka.client_settings import CONSUMER, ONE_OF_MANY, client_settings
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.streams.polling import poll

READERS_MAX: Final = 8
"""Of one pool. Each has a few threads of librdkafka's."""
FETCHED_MAX_KB: Final = 2_048
"""What librdkafka fetches ahead for one consumer."""
FETCH_WAIT_MS: Final = 50
"""How long the broker may hold a fetch at the end of a partition. The next read of another topic may have to wait for it."""

FETCH_AGAIN_MS: Final = 2
"""How soon librdkafka looks again whether there is room for more."""
METADATA_TIMEOUT_S: Final = 10.0

NO_GROUP: Final[Mapping[str, Any]] = {
    # librdkafka wants a name, but a consumer that assigns its partitions itself is no member of it.
    "group.id": "barnabas-rest-reader",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "allow.auto.create.topics": False,
    "queued.max.messages.kbytes": FETCHED_MAX_KB,
    "fetch.queue.backoff.ms": FETCH_AGAIN_MS,
    "fetch.wait.max.ms": FETCH_WAIT_MS,
}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Portion:
    """Records in the order in which they came, and for each partition the offset to go on from."""

    messages: list[Message]
    positions: dict[int, int]
    at_end: bool
    """Whether there was nothing more in any of the partitions."""


class Reader:
    """One consumer. Its calls block; it goes on where it was, without a seek, when it is asked to."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._consumer = Consumer(dict(settings), logger=logger)
        self._place: tuple[str, dict[int, int]] | None = None
        self._ended: set[int] = set()

    def is_at(self, topic: str, positions: Mapping[int, int]) -> bool:
        return self._place == (topic, positions)

    def read(self, topic: str, positions: Mapping[int, int], wait_s: float) -> Portion:
        """A portion of what has been fetched, as soon as there is something; nothing when all partitions end or the time is up."""
        if not self.is_at(topic, positions):
            # Whoever is assigned a topic that it has not heard of looks for its leaders a second later.
            self._consumer.list_topics(topic, METADATA_TIMEOUT_S)
            self._consumer.assign([TopicPartition(topic, number, offset) for number, offset in positions.items()])
            self._ended.clear()
        self._place = None
        after = dict(positions)
        try:
            messages = [message for message in poll(self._consumer, wait_s) if self._is_record(message, after)]
        except KafkaFailure:
            self._consumer.unassign()
            raise
        self._place = topic, after
        return Portion(messages, after, len(self._ended) == len(after))

    def _is_record(self, message: Message, positions: dict[int, int]) -> bool:
        """Moves the position behind a message; tells records from news of an end."""
        error = message.error()
        partition, offset = message.partition() or 0, message.offset() or 0
        if error is None:
            positions[partition] = offset + 1
            self._ended.discard(partition)
            return True
        if error.code() != KafkaError._PARTITION_EOF:
            raise KafkaFailure.of(error)
        # Behind the last record there may be marks of transactions, which nobody is given.
        positions[partition] = max(positions[partition], offset)
        self._ended.add(partition)
        return False


class Readers:
    """A bounded number of readers, made when they are needed. Who reads on is given the reader that is there already."""

    def __init__(self, settings: Settings, clients: Clients) -> None:
        self._settings = {**client_settings(settings, CONSUMER, ONE_OF_MANY), **NO_GROUP}
        self._threads = clients.threads
        self._reachability = clients.reachability
        self._idle: list[Reader] = []
        self._free = asyncio.Semaphore(READERS_MAX)

    async def read(self, topic: str, positions: Mapping[int, int], wait_s: float) -> Portion:
        """KafkaFailure when it cannot be read, or when the cluster goes away."""
        await self._reachability.check()
        return await self._reachability.unless_lost(self._in_turn(topic, dict(positions), wait_s))

    async def _in_turn(self, topic: str, positions: dict[int, int], wait_s: float) -> Portion:
        await self._free.acquire()
        reading = asyncio.ensure_future(self._read(topic, positions, wait_s))
        # Whoever waits may be cancelled; the thread still has the reader then.
        return await asyncio.shield(reading)

    async def _read(self, topic: str, positions: dict[int, int], wait_s: float) -> Portion:
        try:
            reader = self._take(topic, positions)
            try:
                return await self._threads.run(reader.read, topic, positions, wait_s)
            finally:
                self._idle.append(reader)
        finally:
            self._free.release()

    def _take(self, topic: str, positions: dict[int, int]) -> Reader:
        for index, reader in enumerate(self._idle):
            if reader.is_at(topic, positions):
                return self._idle.pop(index)
        # The one that has been idle for longest is the one that is missed the least.
        return self._idle.pop(0) if self._idle else Reader(self._settings)
