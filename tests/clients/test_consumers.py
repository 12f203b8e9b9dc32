"""Consumers at the edges of a log: its end, before its start, and after it is gone."""

import asyncio
import time

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from tests.broker import BrokerProcess
from tests.clients import aiokafka_client, confluent_client, kafka_python_client
from tests.clients.confluent_client import ADMIN_DEADLINE_S, AdminClient, ConfluentClient, create_topic
from tests.clients.records import KEEP_FOREVER, Library, numbered
from tests.waiting import wait_for

LONG_POLL_MS = 60_000
# Less than the long poll: whoever gets a record within this time was woken by it.
WOKEN_S = 45.0


def test_a_waiting_consumer_is_woken_by_a_record(broker_address: str, topic: str) -> None:
    create_topic(broker_address, topic, configs=KEEP_FOREVER)
    patience = {"fetch_wait_max_ms": LONG_POLL_MS, "socket_timeout_ms": 2 * LONG_POLL_MS}
    with confluent_client.assigned(broker_address, [TopicPartition(topic, 0, 0)], **patience) as consumer:
        assert consumer.poll(1.0) is None
        sent = time.monotonic()
        ConfluentClient().produce(broker_address, topic, numbered(1))
        confluent_client.take(consumer, 1)
        assert time.monotonic() - sent < WOKEN_S


def test_a_consumer_of_committed_records_reads_plain_ones(broker_address: str, topic: str) -> None:
    create_topic(broker_address, topic, configs=KEEP_FOREVER)
    ConfluentClient().produce(broker_address, topic, numbered(10))
    partition = kafka_python_client.TopicPartition(topic, 0)
    with kafka_python_client.assigned(broker_address, [partition], isolation_level="read_committed") as consumer:
        consumer.seek(partition, 0)
        assert [r.record for r in kafka_python_client.take(consumer, 10)] == numbered(10)


def test_deleted_records_are_out_of_reach(broker_address: str, library: Library, topic: str) -> None:
    create_topic(broker_address, topic, configs=KEEP_FOREVER)
    library.produce(broker_address, topic, numbered(50), acks="all")
    assert delete_records[library.name](broker_address, topic, 20) == 20
    assert [r.record for r in library.consume(broker_address, topic, 30, offset=20)] == numbered(50)[20:]
    assert out_of_range[library.name](broker_address, topic, 19)
    assert out_of_range[library.name](broker_address, topic, 51)


def confluent_delete(address: str, topic: str, before: int) -> int:
    partition = TopicPartition(topic, 0, before)
    admin = AdminClient({"bootstrap.servers": address})
    return int(admin.delete_records([partition])[partition].result(ADMIN_DEADLINE_S).low_watermark)


def kafka_python_delete(address: str, topic: str, before: int) -> int:
    admin = kafka_python_client.KafkaAdminClient(bootstrap_servers=address)
    try:
        partition = kafka_python_client.TopicPartition(topic, 0)
        return int(admin.delete_records({partition: before})[partition]["low_watermark"])
    finally:
        admin.close()


def aiokafka_delete(address: str, topic: str, before: int) -> int:
    async def delete() -> int:
        partition = aiokafka_client.TopicPartition(topic, 0)
        async with aiokafka_client.administrator(address) as admin:
            wanted = {partition: aiokafka_client.RecordsToDelete(before_offset=before)}
            return int((await admin.delete_records(wanted))[partition])

    return asyncio.run(delete())


delete_records = {
    "confluent-kafka": confluent_delete,
    "kafka-python": kafka_python_delete,
    "aiokafka": aiokafka_delete,
}


def confluent_is_out_of_range(address: str, topic: str, offset: int) -> bool:
    with (
        confluent_client.assigned(address, [TopicPartition(topic, 0, offset)]) as consumer,
        pytest.raises(KafkaException) as refused,
    ):
        confluent_client.take(consumer, 1)
    # Told to treat the lack of an offset as an error, librdkafka reports its own code.
    return bool(refused.value.args[0].code() == KafkaError._AUTO_OFFSET_RESET)


def kafka_python_is_out_of_range(address: str, topic: str, offset: int) -> bool:
    with pytest.raises(kafka_python_client.OffsetOutOfRangeError):
        kafka_python_client.KafkaPythonClient().consume(address, topic, 1, offset)
    return True


def aiokafka_is_out_of_range(address: str, topic: str, offset: int) -> bool:
    with pytest.raises(aiokafka_client.OffsetOutOfRangeError):
        aiokafka_client.AiokafkaClient().consume(address, topic, 1, offset)
    return True


out_of_range = {
    "confluent-kafka": confluent_is_out_of_range,
    "kafka-python": kafka_python_is_out_of_range,
    "aiokafka": aiokafka_is_out_of_range,
}


def test_a_topic_can_be_deleted_while_it_is_read(broker: BrokerProcess, topic: str) -> None:
    create_topic(broker.address, topic, configs=KEEP_FOREVER)
    ConfluentClient().produce(broker.address, topic, numbered(10))
    with confluent_client.assigned(broker.address, [TopicPartition(topic, 0, 0)]) as consumer:
        confluent_client.take(consumer, 10)
        admin = AdminClient({"bootstrap.servers": broker.address})
        admin.delete_topics([topic])[topic].result(ADMIN_DEADLINE_S)
        # librdkafka goes on fetching; the topic must neither come back by that nor disturb the consumer.
        assert consumer.poll(0.5) is None
        unknown = consumer.list_topics(topic, ADMIN_DEADLINE_S).topics[topic].error
        assert unknown is not None
        assert unknown.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
    wait_for(lambda: not (broker.log_dir / f"{topic}-0").exists(), "the folder of the partition to go")
    # The name is free again, and the new topic is empty.
    create_topic(broker.address, topic, configs=KEEP_FOREVER)
    with confluent_client.assigned(broker.address, [TopicPartition(topic, 0, 0)]) as consumer:
        assert consumer.get_watermark_offsets(TopicPartition(topic, 0), ADMIN_DEADLINE_S) == (0, 0)
