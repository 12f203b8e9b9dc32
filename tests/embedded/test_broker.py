"""The broker in this process: what tests of our users build on, with a real client."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from barnabas.embedded.broker import EmbeddedBroker
from barnabas.wire.errors import KafkaError as WireKafkaError
from tests.waiting import wait_for

HOUR_MS = 3_600_000
QUIET: dict[str, Any] = {"log_level": 0}


@pytest.fixture(scope="module")
def shared() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as running:
        yield running


@pytest.fixture
def kafka(shared: EmbeddedBroker) -> Iterator[EmbeddedBroker]:
    yield shared
    shared.faults.clear()


def producer(kafka: EmbeddedBroker, **settings: object) -> Producer:
    return Producer({"bootstrap.servers": kafka.bootstrap_servers, **QUIET, **settings})


def delivered(client: Producer, topic: str, value: bytes) -> KafkaError | None:
    reports: list[KafkaError | None] = []

    def note(error: KafkaError | None, _message: Message) -> None:
        reports.append(error)

    client.produce(topic, value, on_delivery=note)
    wait_for(lambda: [client.poll(0.1)] and reports, "the report of the delivery")
    return reports[0]


def test_what_a_client_writes_can_be_read(kafka: EmbeddedBroker) -> None:
    topic = kafka.create_topic(partitions=2)
    client = producer(kafka)
    client.produce(topic, b"nail", key=b"1", partition=1, headers=[("by", b"ada")])
    client.flush()
    (record,) = kafka.records(topic)
    assert (record.partition, record.offset, record.key, record.value) == (1, 0, b"1", b"nail")
    assert record.headers == (("by", b"ada"),)


def test_what_it_writes_a_client_can_read(kafka: EmbeddedBroker) -> None:
    topic = kafka.create_topic(configs={"cleanup.policy": "compact"})
    assert kafka.produce(topic, "a", None, key="k") == 0
    assert kafka.produce(topic, b"c", key="k", headers=[("n", None)]) == 2
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": topic, **QUIET})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = consumer.consume(3, 30)
    consumer.close()
    assert [message.value() for message in found] == [b"a", None, b"c"]


def test_records_of_aborted_transactions_are_not_shown(kafka: EmbeddedBroker) -> None:
    topic = kafka.create_topic()
    client = producer(kafka, **{"transactional.id": topic})
    client.init_transactions()
    for value, end in ((b"lost", client.abort_transaction), (b"kept", client.commit_transaction)):
        client.begin_transaction()
        client.produce(topic, value)
        client.flush()
        end()
    kafka.produce(topic, "plain")
    assert [record.value for record in kafka.records(topic)] == [b"kept", b"plain"]


def test_a_topic_that_is_not_there_and_one_that_is_there_are_told(kafka: EmbeddedBroker) -> None:
    topic = kafka.create_topic()
    with pytest.raises(WireKafkaError, match="already exists"):
        kafka.create_topic(topic)
    kafka.delete_topic(topic)
    assert topic not in kafka.topics()
    with pytest.raises(WireKafkaError, match=f"topic '{topic}'"):
        kafka.records(topic)


def test_appends_fail_as_they_do_on_a_full_disk(kafka: EmbeddedBroker) -> None:
    topic = kafka.create_topic()
    client = producer(kafka, retries=0)
    kafka.faults.fail_appends(errno.ENOSPC)
    error = delivered(client, topic, b"lost")
    assert error is not None
    assert error.code() == KafkaError.KAFKA_STORAGE_ERROR
    kafka.faults.clear()
    assert delivered(client, topic, b"kept") is None
    assert [record.value for record in kafka.records(topic)] == [b"kept"]


def test_a_client_gets_over_connections_that_are_cut(kafka: EmbeddedBroker) -> None:
    topic = kafka.create_topic()
    client = producer(kafka)
    assert delivered(client, topic, b"before") is None
    assert kafka.faults.drop_connections() >= 1
    assert delivered(client, topic, b"after") is None


def test_while_nothing_passes_nothing_is_delivered_and_nothing_lost(kafka: EmbeddedBroker) -> None:
    topic = kafka.create_topic()
    client = producer(kafka)
    assert delivered(client, topic, b"1") is None
    for hold in (kafka.faults.stall, kafka.faults.refuse_connections):
        hold()
        kafka.faults.drop_connections()
        client.produce(topic, b"2")
        assert client.flush(0.3) == 1
        kafka.faults.clear()
        assert client.flush(90) == 0
    assert {record.value for record in kafka.records(topic)} == {b"1", b"2"}


def test_a_delay_is_felt(kafka: EmbeddedBroker) -> None:
    topic = kafka.create_topic()
    client = producer(kafka)
    assert delivered(client, topic, b"quick") is None
    kafka.faults.delay(400)
    client.produce(topic, b"slow")
    assert client.flush(0.3) == 1
    kafka.faults.delay(0)
    assert client.flush(90) == 0


def test_members_of_groups_lose_their_partitions_when_sessions_expire(kafka: EmbeddedBroker) -> None:
    topic = kafka.create_topic()
    settings = {"group.id": topic, "session.timeout.ms": 6_000, "heartbeat.interval.ms": 200}
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, **settings, **QUIET})
    assigned, lost = list[int](), list[int]()
    consumer.subscribe(
        [topic],
        on_assign=lambda _, partitions: assigned.append(len(partitions)),
        on_lost=lambda _, partitions: lost.append(len(partitions)),
    )
    wait_for(lambda: consumer.poll(0.1) or assigned, "the first assignment")
    kafka.faults.expire_sessions()
    wait_for(lambda: consumer.poll(0.1) or lost, "the loss of the partitions")
    wait_for(lambda: consumer.poll(0.1) or len(assigned) == 2, "the second assignment")
    consumer.close()


def test_what_is_too_old_goes_when_time_is_put_forward() -> None:
    settings = {"log.retention.check.interval.ms": "100", "log.roll.jitter.ms": "0"}
    with EmbeddedBroker(settings) as kafka:
        topic = kafka.create_topic(configs={"retention.ms": str(HOUR_MS), "file.delete.delay.ms": "0"})
        kafka.produce(topic, "old")
        kafka.faults.advance_clock(2 * HOUR_MS)
        wait_for(lambda: kafka.records(topic) == [], "the record to go")


def test_a_broker_that_cannot_start_says_why(tmp_path: Any) -> None:
    with pytest.raises(Exception, match=r"log\.retention\.ms"):
        EmbeddedBroker({"log.retention.ms": "soon"}, tmp_path)
