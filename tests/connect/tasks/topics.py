"""What lies in topics."""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.waiting import wait_for

POLL_S = 0.05


def create(bootstrap: str, topic: str, partitions: int = 1) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result()


def write(bootstrap: str, topic: str, values: Sequence[str], *, partition: int = -1) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
    for value in values:
        producer.produce(topic, value, partition=partition)
    assert producer.flush(90) == 0


def read(bootstrap: str, topic: str) -> list[Message]:
    """Everything that is committed."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "tests-reader",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            # The end of a partition is told when the broker had nothing for so long.
            "fetch.wait.max.ms": 5,
            "isolation.level": "read_committed",
        }
    )
    try:
        described = consumer.list_topics(timeout=90).topics.get(topic)
        partitions = set() if described is None else set(described.partitions)
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        found: list[Message] = []
        while partitions:
            for message in consumer.consume(1000, POLL_S):
                error = message.error()
                if error is None:
                    found.append(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    partitions.discard(message.partition() or 0)
        return found
    finally:
        consumer.close()


def values(bootstrap: str, topic: str) -> list[str]:
    return [(message.value() or b"").decode() for message in read(bootstrap, topic)]


def wait_for_values(bootstrap: str, topic: str, count: int) -> list[str]:
    def enough() -> list[str] | None:
        found = values(bootstrap, topic)
        return found if len(found) >= count else None

    return wait_for(enough, f"{count} records in {topic}")


def headers(message: Message) -> dict[str, str]:
    return {name: (value or b"").decode() for name, value in message.headers() or ()}  # type: ignore[union-attr, str-unpack]
