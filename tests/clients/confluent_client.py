"""confluent-kafka: librdkafka, in the newest release that Python has."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import cast

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined] # Its types do not say what it exports.
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

from tests.clients.records import CLIENT_LIMIT_BYTES, CONSUME_DEADLINE_S, Read, Record
from tests.waiting import wait_for

__all__ = [
    "AdminClient",
    "AlterConfigOpType",
    "ConfigEntry",
    "ConfigResource",
    "ConfluentClient",
    "NewPartitions",
    "NewTopic",
    "OffsetSpec",
    "assigned",
    "create_topic",
    "take",
]

POLL_S = 0.5
ADMIN_DEADLINE_S = 90.0


class ConfluentClient:
    name = "confluent-kafka"

    def can_write(self, record: Record) -> bool:
        return True

    def produce(
        self,
        address: str,
        topic: str,
        records: Sequence[Record],
        codec: str = "none",
        partition: int = 0,
        **settings: str | int | bool,
    ) -> None:
        """Write the records and raise the first error that the broker reported."""
        errors: list[KafkaError] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                errors.append(error)

        producer = Producer(
            {
                "bootstrap.servers": address,
                "compression.type": codec,
                "message.max.bytes": CLIENT_LIMIT_BYTES,
                "linger.ms": 5,
                **{name.replace("_", "."): value for name, value in settings.items()},
            }
        )
        for record in records:
            producer.produce(
                topic,
                record.value,
                record.key,
                partition,
                on_delivery=delivered,
                timestamp=record.timestamp_ms,
                headers=list(record.headers),
            )
        assert producer.flush(CONSUME_DEADLINE_S) == 0, "records were left in the producer's queue"
        if errors:
            raise KafkaException(errors[0])

    def consume(self, address: str, topic: str, count: int, offset: int = 0, partition: int = 0) -> list[Read]:
        with assigned(address, [TopicPartition(topic, partition, offset)]) as consumer:
            return [_read(message) for message in take(consumer, count)]


@contextmanager
def assigned(address: str, partitions: list[TopicPartition], **settings: str | int | bool) -> Iterator[Consumer]:
    """A consumer of exactly these partitions, from the offsets that they carry."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            # librdkafka insists on a name; nothing joins a group or commits.
            "group.id": "assigned",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "fetch.message.max.bytes": CLIENT_LIMIT_BYTES,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
    )
    try:
        consumer.assign(partitions)
        yield consumer
    finally:
        consumer.close()


def take(consumer: Consumer, count: int) -> list[Message]:
    """Poll until that many records came; an error of the consumer is raised."""
    taken: list[Message] = []

    def enough() -> bool:
        for message in consumer.consume(count - len(taken), POLL_S):
            if (error := message.error()) is not None:
                raise KafkaException(error)
            taken.append(message)
        return len(taken) == count

    wait_for(enough, f"{count} records", CONSUME_DEADLINE_S)
    return taken


def create_topic(address: str, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
    admin = AdminClient({"bootstrap.servers": address})
    new = NewTopic(name, num_partitions=partitions, replication_factor=1, config=dict(configs or {}))
    admin.create_topics([new])[name].result(ADMIN_DEADLINE_S)


def _read(message: Message) -> Read:
    offset = message.offset()
    assert offset is not None
    headers = tuple(cast("list[tuple[str, bytes | None]]", message.headers() or []))
    return Read(offset, Record(message.key(), message.value(), headers, message.timestamp()[1]))
