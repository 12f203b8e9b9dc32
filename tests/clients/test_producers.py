"""What producers ask for beyond delivery: acknowledgements, idempotence, topics that do not exist yet."""

import pytest

from tests.broker import BrokerProcess
from tests.clients.confluent_client import create_topic
from tests.clients.records import KEEP_FOREVER, Library, numbered, stored_batches


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_every_kind_of_acknowledgement(broker_address: str, library: Library, topic: str, acks: str | int) -> None:
    create_topic(broker_address, topic, configs=KEEP_FOREVER)
    library.produce(broker_address, topic, numbered(20), acks=acks, enable_idempotence=False)
    assert [r.record for r in library.consume(broker_address, topic, 20)] == numbered(20)


def test_idempotent_producers_number_their_batches(broker: BrokerProcess, library: Library, topic: str) -> None:
    create_topic(broker.address, topic, configs=KEEP_FOREVER)
    for _ in range(2):
        library.produce(broker.address, topic, numbered(300), acks="all", enable_idempotence=True)
    assert [r.record for r in library.consume(broker.address, topic, 600)] == numbered(300) * 2
    batches = stored_batches(broker.log_dir, topic)
    producers = {batch.producer_id for batch in batches}
    assert len(producers) == 2
    assert min(producers) >= 0
    for producer in producers:
        sequences = [(b.base_sequence, b.record_count) for b in batches if b.producer_id == producer]
        assert [first for first, _ in sequences] == [sum(c for _, c in sequences[:n]) for n in range(len(sequences))]


def test_a_topic_is_created_by_the_first_record(broker_address: str, library: Library, topic: str) -> None:
    library.produce(broker_address, topic, numbered(3))
    assert [r.record.key for r in library.consume(broker_address, topic, 3)] == [b"key-0", b"key-1", b"key-2"]
