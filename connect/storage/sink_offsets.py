"""How far sinks have been written: what their consumer groups have committed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import re2  # type: ignore[import-untyped]
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from barnabas.kernel.kafka_clients.admin import Admin, KafkaRefusal
from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode
from barnabas.wire.errors import KafkaError as WireError
from barnabas.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from connect.api.source import JsonObject, SourceOffset
from connect.cluster.failures import BadRequest
from connect.tasks.client_log import CLIENT_LOG

TOPIC: Final = "kafka_topic"
PARTITION: Final = "kafka_partition"
OFFSET: Final = "kafka_offset"
GROUP_OVERRIDE: Final = "consumer.override.group.id"

COMMITTED_TIMEOUT_S: Final = 30.0
NO_OFFSET: Final = 0
"""Offsets below it are librdkafka's words for none."""
_BUSY: Final = frozenset({KafkaError.UNKNOWN_MEMBER_ID, KafkaError.NON_EMPTY_GROUP})


class SinkOffsets:
    """`make_client` makes a client of the group protocol, for what librdkafka cannot ask."""

    def __init__(self, admin: Admin, consumer: Mapping[str, Any], make_client: Callable[[], Client]) -> None:
        self._admin = admin
        self._consumer = consumer
        self._make_client = make_client

    async def read(self, name: str, config: Mapping[str, str]) -> list[SourceOffset]:
        found = await asyncio.to_thread(self._committed, group_of(name, config), config)
        return [
            SourceOffset({TOPIC: place.topic, PARTITION: place.partition}, {OFFSET: place.offset})
            for place in sorted(found, key=lambda place: (place.topic, place.partition))
        ]

    async def write(self, name: str, config: Mapping[str, str], offsets: Sequence[SourceOffset]) -> None:
        places = [_place(each) for each in offsets]
        kept = [place for place in places if place.offset >= NO_OFFSET]
        gone = [place for place in places if place.offset < NO_OFFSET]
        group = group_of(name, config)
        try:
            if kept:
                await self._admin.alter_group_offsets(group, kept)
            if gone:
                await self._forget(group, gone)
        except KafkaRefusal as refusal:
            raise StoreFailure(_refused("alter", name, is_busy=refusal.code in _BUSY, reason=str(refusal))) from None

    async def reset(self, name: str, config: Mapping[str, str]) -> None:
        try:
            await self._admin.delete_group(group_of(name, config))
        except KafkaRefusal as refusal:
            raise StoreFailure(_refused("reset", name, is_busy=refusal.code in _BUSY, reason=str(refusal))) from None

    async def _forget(self, group: str, places: Iterable[TopicPartition]) -> None:
        partitions: dict[str, list[OffsetDeleteRequestPartition]] = {}
        for place in places:
            partitions.setdefault(place.topic, []).append(OffsetDeleteRequestPartition(partition_index=place.partition))
        request = OffsetDeleteRequest(
            group_id=group,
            topics=[OffsetDeleteRequestTopic(name=topic, partitions=found) for topic, found in partitions.items()],
        )
        try:
            async with self._make_client() as client:
                connection = await client.connect(await client.find_coordinator(group))
                try:
                    answer = await connection.send(request, OffsetDeleteResponse)
                finally:
                    await connection.close()
        except WireError as error:
            raise StoreFailure(f"Failed to alter consumer group offsets: {error.message}") from None
        codes = {answer.error_code, *(each.error_code for topic in answer.topics for each in topic.partitions)}
        for code in codes - {ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND}:
            raise StoreFailure(f"Failed to alter consumer group offsets: {ErrorCode(code).message}")

    def _committed(self, group: str, config: Mapping[str, str]) -> list[TopicPartition]:
        """Asked by a consumer of the group that never joins it: the admin client may end the whole process."""
        own = {"group.id": group, "enable.auto.commit": False}
        consumer = Consumer({**self._consumer, **own}, logger=CLIENT_LOG)
        try:
            topics = consumer.list_topics(timeout=COMMITTED_TIMEOUT_S).topics
            places = [
                TopicPartition(topic, partition)
                for topic, described in topics.items()
                if _is_read(topic, config)
                for partition in described.partitions
            ]
            found = consumer.committed(places, timeout=COMMITTED_TIMEOUT_S) if places else []
        except KafkaException as problem:
            raise StoreFailure(f"Failed to retrieve consumer group offsets: {problem.args[0].str()}") from None
        finally:
            consumer.close()
        return [place for place in found if place.error is None and place.offset >= NO_OFFSET]


def group_of(name: str, config: Mapping[str, str]) -> str:
    return config.get(GROUP_OVERRIDE) or f"connect-{name}"


def _is_read(topic: str, config: Mapping[str, str]) -> bool:
    pattern = config.get("topics.regex")
    if pattern:
        return bool(re2.fullmatch(pattern, topic))
    return topic in [word.strip() for word in config.get("topics", "").split(",")]


def _place(offset: SourceOffset) -> TopicPartition:
    """What somebody wants of a partition; BadRequest in Kafka Connect's words. No offset: one below all offsets."""
    partition: JsonObject = offset.partition
    if TOPIC not in partition or PARTITION not in partition:
        raise BadRequest(f"The partition for a sink connector offset must contain the keys '{TOPIC}' and '{PARTITION}'")
    if partition[TOPIC] is None or partition[TOPIC] == "":
        raise BadRequest("Kafka topic names must be valid strings and may not be null")
    if partition[PARTITION] is None:
        raise BadRequest("Kafka partitions must be valid numbers and may not be null")
    number = _whole(partition[PARTITION], "partition", "Partition")
    if offset.offset is None:
        return TopicPartition(str(partition[TOPIC]), number)
    if OFFSET not in offset.offset:
        raise BadRequest(f"The offset for a sink connector should either be null or contain the key '{OFFSET}'")
    return TopicPartition(str(partition[TOPIC]), number, _whole(offset.offset[OFFSET], "offset", "Offset"))


def _whole(value: object, what: str, title: str) -> int:
    text = str(value)
    if isinstance(value, bool) or not text.isdecimal():
        raise BadRequest(
            f"Failed to parse the following Kafka {what} value in the provided offsets: '{value}'. "
            f"{title} values for sink connectors need to be integers."
        )
    return int(text)


def _refused(what: str, name: str, *, is_busy: bool, reason: str) -> str:
    if not is_busy:
        return f"Failed to {what} consumer group offsets for connector {name}: {reason}"
    return (
        f"Failed to {what} consumer group offsets for connector {name} either because its tasks haven't stopped completely yet or the "
        f"connector was resumed before the request to {what} its offsets could be successfully completed. If the connector is in a stopped "
        "state, this operation can be safely retried."
    )
