"""Transactions of real clients: readers of committed data see each wholly or not at all."""

import asyncio
from typing import Protocol

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition  # type: ignore[import-untyped]
from aiokafka.structs import OffsetAndMetadata  # type: ignore[import-untyped]
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka import TopicPartition as Place
from kafka import KafkaProducer  # type: ignore[import-untyped]

from tests.clients.confluent_client import ConfluentClient, assigned, create_topic, take
from tests.clients.java_client import JavaTools
from tests.clients.records import KEEP_FOREVER, numbered
from tests.waiting import wait_for

PARTITIONS = 3
CLIENT_DEADLINE_S = 90.0
COMMITTED, ABORTED = 20, 7
FIRST_OFFSET = 0


class Transactions(Protocol):
    def write(self, address: str, transactional_id: str, topic: str) -> None:
        """Three transactions over all partitions: one that commits, one that aborts, and another that commits."""


class ConfluentTransactions:
    def write(self, address: str, transactional_id: str, topic: str) -> None:
        producer = Producer({"bootstrap.servers": address, "transactional.id": transactional_id})
        producer.init_transactions(CLIENT_DEADLINE_S)
        for count, commits in ((COMMITTED, True), (ABORTED, False), (COMMITTED, True)):
            producer.begin_transaction()
            for number in range(count):
                producer.produce(topic, value(number, commits), partition=number % PARTITIONS)
            if commits:
                producer.commit_transaction(CLIENT_DEADLINE_S)
            else:
                producer.flush(CLIENT_DEADLINE_S)
                producer.abort_transaction(CLIENT_DEADLINE_S)


class KafkaPythonTransactions:
    def write(self, address: str, transactional_id: str, topic: str) -> None:
        producer = KafkaProducer(bootstrap_servers=address, transactional_id=transactional_id)
        producer.init_transactions()
        for count, commits in ((COMMITTED, True), (ABORTED, False), (COMMITTED, True)):
            producer.begin_transaction()
            for number in range(count):
                producer.send(topic, value(number, commits), partition=number % PARTITIONS)
            producer.flush(CLIENT_DEADLINE_S)
            if commits:
                producer.commit_transaction()
            else:
                producer.abort_transaction()
        producer.close()


class AiokafkaTransactions:
    def write(self, address: str, transactional_id: str, topic: str) -> None:
        asyncio.run(self._write(address, transactional_id, topic))

    async def _write(self, address: str, transactional_id: str, topic: str) -> None:
        async with AIOKafkaProducer(bootstrap_servers=address, transactional_id=transactional_id) as producer:
            for count, commits in ((COMMITTED, True), (ABORTED, False), (COMMITTED, True)):
                await producer.begin_transaction()
                for number in range(count):
                    await producer.send_and_wait(topic, value(number, commits), partition=number % PARTITIONS)
                if commits:
                    await producer.commit_transaction()
                else:
                    await producer.abort_transaction()


WRITERS: dict[str, Transactions] = {
    "confluent-kafka": ConfluentTransactions(),
    "kafka-python": KafkaPythonTransactions(),
    "aiokafka": AiokafkaTransactions(),
}


def value(number: int, commits: bool) -> bytes:
    return f"{'kept' if commits else 'dropped'}-{number}".encode()


def read(address: str, topic: str, count: int, isolation: str = "read_committed") -> list[bytes | None]:
    places = [Place(topic, partition, FIRST_OFFSET) for partition in range(PARTITIONS)]
    with assigned(address, places, isolation_level=isolation) as consumer:
        return [message.value() for message in take(consumer, count)]


@pytest.mark.parametrize("writer", list(WRITERS))
def test_readers_of_committed_data_see_what_was_committed(broker_address: str, topic: str, writer: str) -> None:
    create_topic(broker_address, topic, PARTITIONS, KEEP_FOREVER)
    WRITERS[writer].write(broker_address, topic, topic)
    kept = sorted([value(number, True) for number in range(COMMITTED)] * 2)
    assert sorted(found or b"" for found in read(broker_address, topic, len(kept))) == kept
    everything = read(broker_address, topic, len(kept) + ABORTED, "read_uncommitted")
    assert sum((found or b"").startswith(b"dropped") for found in everything) == ABORTED


def test_an_instance_that_was_replaced_is_fenced(broker_address: str, topic: str) -> None:
    create_topic(broker_address, topic, PARTITIONS, KEEP_FOREVER)
    settings: dict[str, str | int | float | bool] = {"bootstrap.servers": broker_address, "transactional.id": topic}
    old = Producer(settings)
    old.init_transactions(CLIENT_DEADLINE_S)
    old.begin_transaction()
    old.produce(topic, b"zombie", partition=0)
    old.flush(CLIENT_DEADLINE_S)
    new = Producer(settings)
    new.init_transactions(CLIENT_DEADLINE_S)
    with pytest.raises(KafkaException) as refusal:
        old.commit_transaction(CLIENT_DEADLINE_S)
    assert refusal.value.args[0].fatal()
    new.begin_transaction()
    new.produce(topic, b"kept", partition=0)
    new.commit_transaction(CLIENT_DEADLINE_S)
    assert read(broker_address, topic, 1) == [b"kept"]


@pytest.mark.parametrize("commits", [True, False])
def test_offsets_belong_to_the_transaction(broker_address: str, topic: str, commits: bool) -> None:
    """Consume, transform, produce: the group's offsets move when the transaction commits."""
    create_topic(broker_address, topic, PARTITIONS, KEEP_FOREVER)
    target = f"{topic}-target"
    create_topic(broker_address, target, PARTITIONS, KEEP_FOREVER)
    ConfluentClient().produce(broker_address, topic, numbered(10))
    consumer = Consumer(
        {
            "bootstrap.servers": broker_address,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    producer = Producer({"bootstrap.servers": broker_address, "transactional.id": topic})
    producer.init_transactions(CLIENT_DEADLINE_S)
    producer.begin_transaction()
    for message in take(consumer, 10):
        producer.produce(target, message.value(), partition=0)
    positions = consumer.position(consumer.assignment())
    producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), CLIENT_DEADLINE_S)
    if commits:
        producer.commit_transaction(CLIENT_DEADLINE_S)
    else:
        producer.abort_transaction(CLIENT_DEADLINE_S)
    (committed,) = consumer.committed([Place(topic, 0)], CLIENT_DEADLINE_S)
    consumer.close()
    assert committed.offset == (10 if commits else -1001)
    assert len(read(broker_address, target, 10 if commits else 0)) == (10 if commits else 0)


def test_offsets_in_a_transaction_of_aiokafka(broker_address: str, topic: str) -> None:
    create_topic(broker_address, topic, 1, KEEP_FOREVER)
    ConfluentClient().produce(broker_address, topic, numbered(5))

    async def copy() -> int | None:
        place = TopicPartition(topic, 0)
        async with (
            AIOKafkaProducer(bootstrap_servers=broker_address, transactional_id=topic) as producer,
            producer.transaction(),
        ):
            await producer.send_offsets_to_transaction({place: OffsetAndMetadata(5, "m")}, topic)
        async with AIOKafkaConsumer(bootstrap_servers=broker_address, group_id=topic) as consumer:
            committed: int | None = await consumer.committed(place)
            return committed

    assert asyncio.run(copy()) == 5


def test_java_producer(broker_address: str, java_tools: JavaTools, topic: str) -> None:
    """Kafka's own client: where `transaction.version` is 2 its partitions join transactions without a word."""
    create_topic(broker_address, topic, PARTITIONS, KEEP_FOREVER)
    printed = java_tools.run(
        "org.apache.kafka.tools.ProducerPerformance",
        *("--topic", topic, "--num-records", "3000", "--record-size", "100", "--throughput", "-1"),
        *("--transactional-id", topic, "--transaction-duration-ms", "50"),
        *("--command-property", f"bootstrap.servers={broker_address}"),
    )
    assert "3000 records sent" in printed
    assert len(read(broker_address, topic, 3000)) == 3000


def test_java_admin_lists_and_aborts_transactions(broker_address: str, java_tools: JavaTools, topic: str) -> None:
    create_topic(broker_address, topic, 1, KEEP_FOREVER)
    producer = Producer({"bootstrap.servers": broker_address, "transactional.id": topic})
    producer.init_transactions(CLIENT_DEADLINE_S)
    producer.begin_transaction()
    producer.produce(topic, b"hangs", partition=0)
    producer.flush(CLIENT_DEADLINE_S)
    command = ("org.apache.kafka.tools.TransactionsCommand", "--bootstrap-server", broker_address)
    listed = java_tools.run(*command, "list")
    assert [line.split()[3] for line in listed.splitlines() if line.startswith(topic)] == ["Ongoing"]
    java_tools.run(*command, "abort", "--topic", topic, "--partition", "0", "--start-offset", "0")

    def is_stable() -> bool:
        with assigned(broker_address, [Place(topic, 0, 0)], isolation_level="read_committed") as consumer:
            return consumer.get_watermark_offsets(Place(topic, 0), CLIENT_DEADLINE_S)[1] == 2

    wait_for(is_stable, "the last stable offset to pass the aborted transaction")
    producer.abort_transaction(CLIENT_DEADLINE_S)
