"""A topic of fifty partitions, written and read at once."""

import asyncio
import secrets

import pytest
from confluent_kafka import Producer, TopicPartition

from tests.clients import aiokafka_client, confluent_client, kafka_python_client
from tests.clients.confluent_client import create_topic
from tests.clients.records import CONSUME_DEADLINE_S

PARTITIONS = 50
RECORDS_PER_PARTITION = 40
RECORDS = PARTITIONS * RECORDS_PER_PARTITION


@pytest.fixture(scope="module")
def wide(broker_address: str) -> str:
    """A topic with numbers dealt to its partitions in turn."""
    topic = f"wide-{secrets.token_hex(4)}"
    create_topic(broker_address, topic, PARTITIONS)
    producer = Producer({"bootstrap.servers": broker_address, "linger.ms": 5, "compression.type": "lz4"})
    for number in range(RECORDS):
        producer.produce(topic, str(number).encode(), partition=number % PARTITIONS)
    assert producer.flush(CONSUME_DEADLINE_S) == 0
    return topic


def test_confluent_kafka_reads_every_partition_in_order(broker_address: str, wide: str) -> None:
    partitions = [TopicPartition(wide, partition, 0) for partition in range(PARTITIONS)]
    with confluent_client.assigned(broker_address, partitions) as consumer:
        messages = confluent_client.take(consumer, RECORDS)
    check_order([(message.partition(), message.value()) for message in messages])


def test_kafka_python_reads_every_partition_in_order(broker_address: str, wide: str) -> None:
    partitions = [kafka_python_client.TopicPartition(wide, partition) for partition in range(PARTITIONS)]
    with kafka_python_client.assigned(broker_address, partitions) as consumer:
        consumer.seek_to_beginning()
        reads = kafka_python_client.take(consumer, RECORDS)
    check_order([(None, read.record.value) for read in reads])


def test_aiokafka_reads_every_partition_in_order(broker_address: str, wide: str) -> None:
    async def read_all() -> list[bytes | None]:
        partitions = [aiokafka_client.TopicPartition(wide, partition) for partition in range(PARTITIONS)]
        async with aiokafka_client.assigned(broker_address, partitions) as consumer:
            await consumer.seek_to_beginning()
            return [read.record.value for read in await aiokafka_client.take(consumer, RECORDS)]

    check_order([(None, value) for value in asyncio.run(read_all())])


def check_order(read: list[tuple[int | None, bytes | None]]) -> None:
    """Every number came once, from its partition, and in order within it."""
    numbers: dict[int, list[int]] = {partition: [] for partition in range(PARTITIONS)}
    for partition, value in read:
        assert value is not None
        number = int(value)
        assert partition in (None, number % PARTITIONS)
        numbers[number % PARTITIONS].append(number)
    assert numbers == {partition: list(range(partition, RECORDS, PARTITIONS)) for partition in range(PARTITIONS)}
