"""aiokafka: the asyncio client, with codecs from cramjam."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition  # type: ignore[import-untyped]
from aiokafka.admin import (  # type: ignore[import-untyped]
    AIOKafkaAdminClient,
    NewPartitions,
    NewTopic,
    RecordsToDelete,
)
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType  # type: ignore[import-untyped]
from aiokafka.errors import KafkaError as AiokafkaError  # type: ignore[import-untyped]
from aiokafka.errors import OffsetOutOfRangeError

from tests.clients.records import CLIENT_LIMIT_BYTES, CONSUME_DEADLINE_S, Read, Record

__all__ = [
    "AiokafkaClient",
    "AiokafkaError",
    "ConfigResource",
    "ConfigResourceType",
    "NewPartitions",
    "NewTopic",
    "OffsetOutOfRangeError",
    "RecordsToDelete",
    "TopicPartition",
    "administrator",
    "assigned",
    "take",
]


class AiokafkaClient:
    name = "aiokafka"

    def can_write(self, record: Record) -> bool:
        """It refuses to send a record without key and value."""
        return record.key is not None or record.value is not None

    def produce(
        self,
        address: str,
        topic: str,
        records: Sequence[Record],
        codec: str = "none",
        partition: int = 0,
        **settings: object,
    ) -> None:
        asyncio.run(_produce(address, topic, records, codec, partition, settings))

    def consume(self, address: str, topic: str, count: int, offset: int = 0, partition: int = 0) -> list[Read]:
        return asyncio.run(_consume(address, TopicPartition(topic, partition), count, offset))


async def _produce(
    address: str, topic: str, records: Sequence[Record], codec: str, partition: int, settings: dict[str, object]
) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=address,
        compression_type=None if codec == "none" else codec,
        max_request_size=CLIENT_LIMIT_BYTES,
        linger_ms=5,
        **settings,
    )
    await producer.start()
    try:
        sent = [
            await producer.send(
                topic,
                value=record.value,
                key=record.key,
                headers=list(record.headers),
                partition=partition,
                timestamp_ms=record.timestamp_ms,
            )
            for record in records
        ]
        async with asyncio.timeout(CONSUME_DEADLINE_S):
            await asyncio.gather(*sent)
    finally:
        await producer.stop()


async def _consume(address: str, wanted: TopicPartition, count: int, offset: int) -> list[Read]:
    async with assigned(address, [wanted]) as consumer:
        consumer.seek(wanted, offset)
        return await take(consumer, count)


@asynccontextmanager
async def assigned(
    address: str, partitions: list[TopicPartition], **settings: object
) -> AsyncIterator[AIOKafkaConsumer]:
    consumer = AIOKafkaConsumer(
        bootstrap_servers=address, max_partition_fetch_bytes=CLIENT_LIMIT_BYTES, auto_offset_reset="none", **settings
    )
    await consumer.start()
    try:
        consumer.assign(partitions)
        yield consumer
    finally:
        await consumer.stop()


@asynccontextmanager
async def administrator(address: str) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


async def take(consumer: AIOKafkaConsumer, count: int) -> list[Read]:
    taken: list[Read] = []
    async with asyncio.timeout(CONSUME_DEADLINE_S):
        while len(taken) < count:
            m = await consumer.getone()
            taken.append(Read(m.offset, Record(m.key, m.value, tuple(map(tuple, m.headers)), m.timestamp)))
    return taken
