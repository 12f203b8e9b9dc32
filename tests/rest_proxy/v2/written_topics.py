"""Topics with records that tests know."""

from collections.abc import Sequence

from confluent_kafka import Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined] # Its types do not say what it exports.
    AdminClient,
    NewTopic,
)

from tests.broker import BrokerProcess

FIRST_MS = 1_700_000_000_000
STEP_MS = 1000
PATIENCE_S = 90.0


def create_topic(broker: BrokerProcess, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.create_topics([NewTopic(topic, partitions)])[topic].result(PATIENCE_S)


def write(
    broker: BrokerProcess, topic: str, values: Sequence[bytes], headers: Sequence[tuple[str, bytes | None]] = ()
) -> None:
    """Records in partition 0, with the key "k" in JSON, a second apart from each other."""
    producer = Producer({"bootstrap.servers": broker.address})
    for index, value in enumerate(values):
        producer.produce(topic, value, b'"k"', 0, timestamp=FIRST_MS + STEP_MS * index, headers=list(headers))
    assert producer.flush(PATIENCE_S) == 0
