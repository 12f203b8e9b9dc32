"""Every client gets back what it wrote, with every codec, and what other clients wrote."""

import pytest

from tests.broker import BrokerProcess
from tests.clients.confluent_client import ConfluentClient, create_topic
from tests.clients.kcat_client import KcatClient
from tests.clients.records import (
    CODECS,
    KEEP_FOREVER,
    Client,
    Record,
    edge_cases,
    numbered,
    stored_batches,
)

COMPRESSIBLE_RECORDS = 40


@pytest.mark.parametrize("codec", CODECS)
def test_a_client_reads_back_what_it_wrote(broker: BrokerProcess, client: Client, topic: str, codec: str) -> None:
    create_topic(broker.address, topic, configs=KEEP_FOREVER)
    written = numbered(COMPRESSIBLE_RECORDS)
    client.produce(broker.address, topic, written, codec)
    read = client.consume(broker.address, topic, len(written))
    assert [r.offset for r in read] == list(range(len(written)))
    assert [comparable(client, r.record) for r in read] == [comparable(client, record) for record in written]
    # A broker whose version ranges displease the client gets uncompressed batches without a word.
    assert {batch.codec for batch in stored_batches(broker.log_dir, topic)} == {codec}


def test_nulls_and_empties_survive(broker: BrokerProcess, client: Client, topic: str) -> None:
    create_topic(broker.address, topic, configs=KEEP_FOREVER)
    written = [record for record in edge_cases() if client.can_write(record)]
    client.produce(broker.address, topic, written)
    read = client.consume(broker.address, topic, len(written))
    assert [comparable(client, r.record) for r in read] == [comparable(client, record) for record in written]


def test_reading_starts_inside_a_batch(broker: BrokerProcess, client: Client, topic: str) -> None:
    create_topic(broker.address, topic, configs=KEEP_FOREVER)
    ConfluentClient().produce(broker.address, topic, numbered(100), "zstd")
    assert len(stored_batches(broker.log_dir, topic)) < 100
    read = client.consume(broker.address, topic, 40, offset=37)
    assert [r.offset for r in read] == list(range(37, 77))
    assert [r.record for r in read] == numbered(100)[37:77]


def comparable(client: Client, record: Record) -> Record:
    return record.untimed() if isinstance(client, KcatClient) else record
