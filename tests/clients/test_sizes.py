"""Records larger than the default limit, and the limit itself."""

import random

import pytest
from confluent_kafka import KafkaException

from tests.clients.aiokafka_client import AiokafkaError
from tests.clients.confluent_client import (
    ADMIN_DEADLINE_S,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    create_topic,
)
from tests.clients.kafka_python_client import KafkaPythonError
from tests.clients.records import KEEP_FOREVER, Client, Library, Record

BIG_BYTES = 3 * 1024 * 1024
LIMIT_BYTES = 8 * 1024 * 1024
MESSAGE_TOO_LARGE = 10


def test_big_records_pass_where_the_topic_allows_them(broker_address: str, client: Client, topic: str) -> None:
    create_topic(broker_address, topic, configs={**KEEP_FOREVER, "max.message.bytes": str(LIMIT_BYTES)})
    written = [big_record(seed) for seed in range(3)]
    client.produce(broker_address, topic, written)
    read = client.consume(broker_address, topic, len(written))
    assert [r.record.untimed() for r in read] == [record.untimed() for record in written]


def test_a_big_record_is_refused_by_default(broker_address: str, library: Library, topic: str) -> None:
    create_topic(broker_address, topic, configs=KEEP_FOREVER)
    assert refusal(library, broker_address, topic) == MESSAGE_TOO_LARGE
    library.produce(broker_address, topic, [Record(b"small", b"passes")])
    assert [r.record.key for r in library.consume(broker_address, topic, 1)] == [b"small"]


def test_the_limit_can_be_raised_while_the_topic_is_in_use(broker_address: str, library: Library, topic: str) -> None:
    create_topic(broker_address, topic, configs=KEEP_FOREVER)
    assert refusal(library, broker_address, topic) == MESSAGE_TOO_LARGE
    limit = ConfigEntry("max.message.bytes", str(LIMIT_BYTES), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[limit])
    admin = AdminClient({"bootstrap.servers": broker_address})
    admin.incremental_alter_configs([resource])[resource].result(ADMIN_DEADLINE_S)
    library.produce(broker_address, topic, [big_record(1)])
    assert library.consume(broker_address, topic, 1)[0].record == big_record(1)


def big_record(seed: int) -> Record:
    """A record of hexadecimal digits, which kcat can write too and which no codec makes small."""
    return Record(b"big", random.Random(seed).randbytes(BIG_BYTES // 2).hex().encode())


def refusal(library: Library, address: str, topic: str) -> int:
    """The code of the error with which a big record is refused."""
    with pytest.raises((KafkaException, KafkaPythonError, AiokafkaError)) as refused:
        library.produce(address, topic, [big_record(1)])
    error = refused.value
    return int(error.args[0].code() if isinstance(error, KafkaException) else error.errno)
