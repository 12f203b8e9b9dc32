"""What services ask Kafka's administration for."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Collection, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from barnabas.kernel.kafka_clients.cluster_news import CLUSTER_NEWS
from barnabas.kernel.kafka_clients.topic_shape import TopicShape
from barnabas.kernel.kafka_log.failures import StoreFailure

REACH_TIMEOUT_S: Final = 5.0
REACH_RETRY_S: Final = 1.0
TIMEOUT_S: Final = 30.0
ANSWER_TIMEOUT_S: Final = 90.0
"""librdkafka answers within the time of a request, at most its socket.timeout.ms of 60 s; nobody waits for ever if it does not."""
VISIBLE_TIMEOUT_S: Final = 10.0
"""How long a new topic may take to be known to every broker."""
VISIBLE_POLL_S: Final = 0.05
LEADER_TIMEOUT_S: Final = 10.0
KNOWN_TIMEOUT_S: Final = 3.0
"""A topic that one broker has made is known to the others a moment later."""
LEADER_POLL_S: Final = 0.1
"""A partition that was just made, or whose broker has just gone, most often has a leader within a second."""

_EARLIEST: Final[OffsetSpec] = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST: Final[OffsetSpec] = OffsetSpec.latest()  # type: ignore[no-untyped-call]

_PATIENCE_S: Final = {
    KafkaError._NOENT: LEADER_TIMEOUT_S,
    KafkaError.FENCED_LEADER_EPOCH: LEADER_TIMEOUT_S,
    KafkaError.UNKNOWN_LEADER_EPOCH: LEADER_TIMEOUT_S,
    KafkaError.LEADER_NOT_AVAILABLE: LEADER_TIMEOUT_S,
    KafkaError.NOT_LEADER_FOR_PARTITION: LEADER_TIMEOUT_S,
    KafkaError.UNKNOWN_TOPIC_OR_PART: KNOWN_TIMEOUT_S,
}
"""How long an error may be one that passes."""

ResultT = TypeVar("ResultT")

_logger = logging.getLogger(__name__)


class KafkaRefusal(StoreFailure):
    """Kafka's own error."""

    def __init__(self, error: KafkaError) -> None:
        super().__init__(error.str())
        self.code = error.code()
        self.name = error.name()


@dataclass(frozen=True, slots=True)
class Cluster:
    id: str
    brokers: int


@dataclass(frozen=True, slots=True)
class TopicLayout:
    """How many replicas each partition has. `id` is the topic's own, where it was asked for: another of the same name has another."""

    replicas: tuple[int, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class TopicReaders:
    consumers: int
    groups: int


class Admin:
    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = {**CLUSTER_NEWS, **settings}
        self._client = AdminClient(self._settings)
        self._made_s: dict[str, float] = {}

    async def cluster(self, timeout_s: float = TIMEOUT_S) -> Cluster:
        described = await self._answer(self._client.describe_cluster(request_timeout=timeout_s))
        return Cluster(described.cluster_id or "", len(described.nodes))

    async def reach(self) -> Cluster:
        """Wait for Kafka, which may start later than a service, and return its cluster."""
        while True:
            try:
                return await self.cluster(REACH_TIMEOUT_S)
            except StoreFailure as failure:
                servers = self._settings.get("bootstrap.servers")
                _logger.warning("Kafka at %s does not answer, and is asked again: %s", servers, failure)
                await asyncio.sleep(REACH_RETRY_S)

    async def partition_count(self, topic: str) -> int | None:
        """None when there is no such topic."""
        layout = await self.layout(topic)
        return None if layout is None else len(layout.replicas)

    async def create_topic(self, shape: TopicShape) -> None:
        """Returns when the new topic is known. One that is there already is as good."""
        new = NewTopic(shape.name, shape.partitions, shape.replication_factor, config=dict(shape.settings))
        (asked,) = self._client.create_topics([new], request_timeout=TIMEOUT_S).values()
        try:
            await self._answer(asked)
        except KafkaRefusal as refusal:
            if refusal.code != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
        self._made_s[shape.name] = time.monotonic()
        if await self.layout(shape.name) is None:
            raise StoreFailure(f"topic {shape.name} was created and is not there after {VISIBLE_TIMEOUT_S:g} s")
        if (await self.cluster()).brokers == 1:
            # Nobody is left who has yet to hear of it: if it is not there next time, somebody else has deleted it.
            self._made_s.pop(shape.name, None)

    async def topics(self) -> dict[str, TopicLayout]:
        """All topics that there are, internal ones too."""
        names = await asyncio.to_thread(lambda: self._client.list_topics(timeout=TIMEOUT_S).topics)
        return {
            name: TopicLayout(tuple(len(partition.replicas) for _, partition in sorted(found.partitions.items())))
            for name, found in names.items()
        }

    async def layout(self, topic: str) -> TopicLayout | None:
        """None when there is no such topic. One that was made a moment ago is not known to every broker of a cluster, and is waited for."""
        found = await self._layout(topic)
        while found is None and time.monotonic() < self._made_s.get(topic, -VISIBLE_TIMEOUT_S) + VISIBLE_TIMEOUT_S:
            await asyncio.sleep(VISIBLE_POLL_S)
            found = await self._layout(topic)
        return found

    async def _layout(self, topic: str) -> TopicLayout | None:
        (asked,) = self._client.describe_topics(TopicCollection([topic]), request_timeout=TIMEOUT_S).values()
        try:
            described = await self._answer(asked)
        except KafkaRefusal as refusal:
            if refusal.code == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return None
            raise
        replicas = tuple(len(partition.replicas) for partition in described.partitions)
        return TopicLayout(replicas, str(described.topic_id))

    async def delete_topic(self, topic: str) -> None:
        """One that is not there need not be deleted."""
        self._made_s.pop(topic, None)
        (asked,) = self._client.delete_topics([topic], request_timeout=TIMEOUT_S).values()
        try:
            await self._answer(asked)
        except KafkaRefusal as refusal:
            if refusal.code != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise

    async def topic_setting(self, topic: str, name: str) -> str | None:
        return (await self.topic_settings(topic)).get(name)

    async def topic_settings(self, topic: str) -> Mapping[str, str]:
        """All that have a value, the broker's own included."""
        (asked,) = self._client.describe_configs([ConfigResource(ResourceType.TOPIC, topic)]).values()
        found = await self._answer(asked)
        return {name: entry.value for name, entry in found.items() if entry.value is not None}

    async def offsets_at(self, topic: str, partitions: Collection[int], timestamp_ms: int) -> Mapping[int, int | None]:
        """The first offset of each partition whose record has this timestamp or a later one; None where there is none."""
        spec = OffsetSpec.for_timestamp(timestamp_ms)
        places = dict.fromkeys([TopicPartition(topic, partition) for partition in partitions], spec)
        asked = self._client.list_offsets(places, request_timeout=TIMEOUT_S)
        answers = await asyncio.gather(*map(self._answer, asked.values()))
        return {
            place.partition: None if answer.offset < 0 else answer.offset
            for place, answer in zip(asked, answers, strict=True)
        }

    async def ends(
        self, topic: str, partitions: Sequence[int], isolation: IsolationLevel = IsolationLevel.READ_COMMITTED
    ) -> Mapping[int, int]:
        """The offsets behind the last record of each partition, as far as it is committed. Leaders are waited for, and for a moment
        brokers that have not heard of a new topic yet."""
        began_s = time.monotonic()
        while True:
            client = self._client
            try:
                return await self._ask_ends(topic, partitions, isolation)
            except KafkaRefusal as refusal:
                limit_s = _PATIENCE_S.get(refusal.code)
                if limit_s is None or time.monotonic() - began_s >= limit_s:
                    raise
            await asyncio.sleep(LEADER_POLL_S)
            # librdkafka goes on asking with what it knew before the partition had a leader, or another one; a new client asks first.
            if self._client is client:
                self._client = AdminClient(self._settings)

    async def _ask_ends(self, topic: str, partitions: Sequence[int], isolation: IsolationLevel) -> Mapping[int, int]:
        asked = self._client.list_offsets(
            {TopicPartition(topic, partition): _LATEST for partition in partitions},
            isolation_level=isolation,
            request_timeout=TIMEOUT_S,
        )
        answers = await asyncio.gather(*map(self._answer, asked.values()))
        return {place.partition: answer.offset for place, answer in zip(asked, answers, strict=True)}

    async def ranges(self, topics: Collection[str]) -> dict[str, dict[int, tuple[int, int]]]:
        """The log start offset of each partition, and the offset after its last committed record. Topics that do not exist are left out,
        and those whose partitions do not all have a leader."""
        if not topics:
            return {}
        client = self._client
        described = client.describe_topics(TopicCollection(list(topics)), request_timeout=TIMEOUT_S)
        places = []
        for topic, asked in described.items():
            with suppress(KafkaRefusal):
                partitions = (await _answer(client, asked)).partitions
                places += [TopicPartition(topic, partition.id) for partition in partitions]
        if not places:
            return {}
        committed = {"isolation_level": IsolationLevel.READ_COMMITTED, "request_timeout": TIMEOUT_S}
        starts = client.list_offsets(dict.fromkeys(places, _EARLIEST), **committed)
        ends = client.list_offsets(dict.fromkeys(places, _LATEST), **committed)
        found: dict[str, dict[int, tuple[int, int]]] = {}
        missing: set[str] = set()
        for place in places:
            try:
                start, end = await asyncio.gather(_answer(client, starts[place]), _answer(client, ends[place]))
                found.setdefault(place.topic, {})[place.partition] = start.offset, end.offset
            except KafkaRefusal:
                missing.add(place.topic)
        return {topic: partitions for topic, partitions in found.items() if topic not in missing}

    async def readers(self) -> dict[str, TopicReaders]:
        """Who reads each topic as a member of a group; topics that nobody reads so are left out, and groups that cannot be described."""
        listed = await self._answer(self._client.list_consumer_groups(request_timeout=TIMEOUT_S))
        names = [group.group_id for group in listed.valid]
        if not names:
            return {}
        client = self._client
        asked = client.describe_consumer_groups(names, request_timeout=TIMEOUT_S)
        consumers, groups = Counter[str](), Counter[str]()
        for described in asked.values():
            try:
                members = (await _answer(client, described)).members
            except KafkaRefusal:
                # It has gone since it was listed, or what its members wrote is of a protocol of their own.
                continue
            read: set[str] = set()
            for member in members:
                own = {place.topic for place in member.assignment.topic_partitions}
                consumers.update(own)
                read |= own
            groups.update(read)
        return {topic: TopicReaders(count, groups[topic]) for topic, count in consumers.items()}

    async def alter_group_offsets(self, group_id: str, offsets: Sequence[TopicPartition]) -> None:
        asked = self._client.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group_id, list(offsets))])
        changed = await self._answer(asked[group_id])
        for place in changed.topic_partitions:
            if place.error is not None:
                raise KafkaRefusal(place.error)

    async def delete_group(self, group_id: str) -> None:
        """One that is not there need not be deleted."""
        asked = self._client.delete_consumer_groups([group_id], request_timeout=TIMEOUT_S)
        try:
            await self._answer(asked[group_id])
        except KafkaRefusal as refusal:
            if refusal.code != KafkaError.GROUP_ID_NOT_FOUND:
                raise

    def _answer(self, asked: Future[ResultT]) -> Awaitable[ResultT]:
        """To be called as soon as it is asked: the client that was asked is the present one then."""
        return _answer(self._client, asked)


async def _answer(asked_client: AdminClient, asked: Future[ResultT]) -> ResultT:
    """A client that nobody holds any more takes what it was asked with it, and never answers; so it is held until it has."""
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            return await asyncio.wrap_future(asked)
    except KafkaException as problem:
        raise KafkaRefusal(problem.args[0]) from None
    except TimeoutError:
        raise StoreFailure(f"Kafka's administration has not answered in {ANSWER_TIMEOUT_S:g} s") from None
    finally:
        del asked_client
