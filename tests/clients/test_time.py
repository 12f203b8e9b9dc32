"""Timestamps: who sets them, and finding records by them."""

import asyncio
import time

import pytest
from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, TopicPartition

from tests.broker import BrokerProcess
from tests.clients import aiokafka_client, confluent_client, kafka_python_client
from tests.clients.confluent_client import ADMIN_DEADLINE_S, AdminClient, ConfluentClient, OffsetSpec, create_topic
from tests.clients.kcat_client import kcat
from tests.clients.records import EPOCH_MS, KEEP_FOREVER, Library, Record, numbered, stored_batches

# The broker's clock is ours; the margin is for rounding only.
CLOCK_MARGIN_MS = 1000
STEP_MS = 1000


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_the_broker_sets_the_time_where_the_topic_says_so(
    broker: BrokerProcess, library: Library, topic: str, codec: str
) -> None:
    configs = {**KEEP_FOREVER, "message.timestamp.type": "LogAppendTime"}
    create_topic(broker.address, topic, configs=configs)
    before_ms = int(time.time() * 1000) - CLOCK_MARGIN_MS
    library.produce(broker.address, topic, numbered(10), codec)
    after_ms = int(time.time() * 1000) + CLOCK_MARGIN_MS
    read = library.consume(broker.address, topic, 10)
    assert [r.record.untimed() for r in read] == [record.untimed() for record in numbered(10)]
    assert all(before_ms <= r.record.timestamp_ms <= after_ms for r in read)
    assert all(batch.log_append_time for batch in stored_batches(broker.log_dir, topic))
    with confluent_client.assigned(broker.address, [TopicPartition(topic, 0, 0)]) as consumer:
        assert {m.timestamp()[0] for m in confluent_client.take(consumer, 10)} == {TIMESTAMP_LOG_APPEND_TIME}


# The time asked for, and the offset of the first record that is not older: one inside a batch, one between two records,
# one before all and one after all.
SEARCHES = {EPOCH_MS + 42 * STEP_MS: 42, EPOCH_MS + 42 * STEP_MS + 1: 43, 0: 0, EPOCH_MS + 1000 * STEP_MS: None}


@pytest.fixture
def timed(broker_address: str, topic: str) -> str:
    """A topic with a record each second, in batches of ten."""
    create_topic(broker_address, topic, configs=KEEP_FOREVER)
    for first in range(0, 100, 10):
        records = [Record(None, b"%d" % n, timestamp_ms=EPOCH_MS + n * STEP_MS) for n in range(first, first + 10)]
        ConfluentClient().produce(broker_address, topic, records, "zstd")
    return topic


def test_confluent_kafka_finds_offsets_by_time(broker_address: str, timed: str) -> None:
    with confluent_client.assigned(broker_address, [TopicPartition(timed, 0, 0)]) as consumer:
        found = {
            searched: consumer.offsets_for_times([TopicPartition(timed, 0, searched)], ADMIN_DEADLINE_S)[0].offset
            for searched in SEARCHES
        }
        # librdkafka says "the end" where there is none.
        assert found == {searched: -1 if offset is None else offset for searched, offset in SEARCHES.items()}
        assert consumer.get_watermark_offsets(TopicPartition(timed, 0), ADMIN_DEADLINE_S) == (0, 100)


def test_kafka_python_finds_offsets_by_time(broker_address: str, timed: str) -> None:
    partition = kafka_python_client.TopicPartition(timed, 0)
    with kafka_python_client.assigned(broker_address, [partition]) as consumer:
        found = {searched: consumer.offsets_for_times({partition: searched})[partition] for searched in SEARCHES}
        assert {searched: at and at.offset for searched, at in found.items()} == SEARCHES
        exact = EPOCH_MS + 42 * STEP_MS
        assert found[exact + 1].timestamp == exact + STEP_MS
        assert consumer.beginning_offsets([partition]) == {partition: 0}
        assert consumer.end_offsets([partition]) == {partition: 100}
        consumer.seek(partition, found[exact].offset)
        assert kafka_python_client.take(consumer, 1)[0].record.value == b"42"


def test_aiokafka_finds_offsets_by_time(broker_address: str, timed: str) -> None:
    async def check() -> None:
        partition = aiokafka_client.TopicPartition(timed, 0)
        async with aiokafka_client.assigned(broker_address, [partition]) as consumer:
            for searched, offset in SEARCHES.items():
                found = (await consumer.offsets_for_times({partition: searched}))[partition]
                assert (found and found.offset) == offset
            assert await consumer.beginning_offsets([partition]) == {partition: 0}
            assert await consumer.end_offsets([partition]) == {partition: 100}

    asyncio.run(check())


def test_kcat_finds_offsets_by_time(broker_address: str, timed: str) -> None:
    for searched, offset in SEARCHES.items():
        printed = kcat(broker_address, "-Q", "-t", f"{timed}:0:{searched}").decode()
        assert printed.split() == [timed, "[0]", "offset", str(-1 if offset is None else offset)]


def test_the_newest_timestamp_is_found_wherever_it_lies(broker_address: str, topic: str) -> None:
    create_topic(broker_address, topic, configs=KEEP_FOREVER)
    times = [EPOCH_MS + step for step in (0, 500, 9000, 100, 7000)]
    records = [Record(None, b"v", timestamp_ms=moment) for moment in times]
    ConfluentClient().produce(broker_address, topic, records)
    partition = TopicPartition(topic, 0)
    admin = AdminClient({"bootstrap.servers": broker_address})
    newest = OffsetSpec.max_timestamp()  # type: ignore[no-untyped-call]
    found = admin.list_offsets({partition: newest})[partition].result(ADMIN_DEADLINE_S)
    assert (found.offset, found.timestamp) == (2, EPOCH_MS + 9000)
