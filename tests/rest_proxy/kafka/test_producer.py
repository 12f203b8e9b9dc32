"""The producer that all requests share, on our broker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.producer import Batch, OutgoingRecord, SharedProducer
from tests.broker import BarnabasBroker, BrokerProcess

T = TypeVar("T")

DEADLINE_S = 90.0
PARTITIONS = 2
NEW_TOPICS = 20


@pytest.fixture
def topic(barnabas: BarnabasBroker) -> str:
    name = f"produced-{uuid4().hex}"
    admin = AdminClient({"bootstrap.servers": barnabas.address})
    admin.create_topics([NewTopic(name, PARTITIONS)])[name].result(DEADLINE_S)
    return name


def with_producer(address: str, work: Callable[[SharedProducer], Awaitable[T]], **settings: Any) -> T:
    async def run() -> T:
        producer = SharedProducer({"bootstrap.servers": address, "acks": "all", "linger.ms": 0, **settings}, print)
        try:
            return await asyncio.wait_for(work(producer), DEADLINE_S)
        finally:
            await producer.stop()

    return asyncio.run(run())


def values(topic: str, partition: int, *texts: str) -> list[OutgoingRecord]:
    return [OutgoingRecord(topic, None, text.encode(), partition) for text in texts]


def stored(address: str, topic: str, partition: int, count: int) -> list[Message]:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "reader", "enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition(topic, partition, 0)])
        found: list[Message] = []
        while len(found) < count:
            found += consumer.consume(count - len(found), DEADLINE_S) or pytest.fail("records are missing")
        return found
    finally:
        consumer.close()


def test_requests_of_one_turn_are_sent_together_and_each_has_its_own_results(
    barnabas: BarnabasBroker, topic: str
) -> None:
    async def work(producer: SharedProducer) -> list[list[Any]]:
        lots = [values(topic, 0, "a0", "a1"), values(topic, 1, "b0"), values(topic, 0, "a2"), []]
        return await asyncio.gather(*map(producer.send, lots))

    results = with_producer(barnabas.address, work)
    assert [[(partition, offset) for partition, offset, _ in lot] for lot in results] == [
        [(0, 0), (0, 1)],
        [(1, 0)],
        [(0, 2)],
        [],
    ]
    assert [message.value() for message in stored(barnabas.address, topic, 0, 3)] == [b"a0", b"a1", b"a2"]


def test_records_with_headers_and_times_keep_their_places_among_the_others(
    barnabas: BarnabasBroker, topic: str
) -> None:
    records = [
        *values(topic, 0, "0"),
        OutgoingRecord(topic, None, b"1", 0, [("h", b"x"), ("n", None)]),
        OutgoingRecord(topic, b"k", b"2", 0, (), 1_700_000_000_000),
        *values(topic, 0, "3"),
    ]
    results = with_producer(barnabas.address, lambda producer: producer.send(records))
    assert [result[1] for result in results if not isinstance(result, KafkaFailure)] == [0, 1, 2, 3]
    found = stored(barnabas.address, topic, 0, 4)
    assert [message.value() for message in found] == [b"0", b"1", b"2", b"3"]
    assert [message.headers() for message in found] == [None, [("h", b"x"), ("n", None)], None, None]
    assert (found[2].key(), found[2].timestamp()[1]) == (b"k", 1_700_000_000_000)
    assert found[1].timestamp()[1] > 1_700_000_000_000


def test_a_record_that_is_refused_fails_alone(barnabas: BarnabasBroker, topic: str) -> None:
    large = "x" * 3_000
    lots = [values(topic, 0, "a", large, "b"), values(topic, 0, large), values(topic, 0, "c")]

    async def work(producer: SharedProducer) -> list[list[Any]]:
        return await asyncio.gather(*map(producer.send, lots))

    first, second, third = with_producer(barnabas.address, work, **{"message.max.bytes": 2_000})
    assert [result[1] for result in (first[0], first[2], third[0])] == [0, 1, 2]
    for failure in (first[1], second[0]):
        assert isinstance(failure, KafkaFailure)
        assert failure.name == "MSG_SIZE_TOO_LARGE"


def test_many_small_requests_at_once_are_all_answered_in_the_order_of_their_sending(
    barnabas: BarnabasBroker, topic: str
) -> None:
    async def work(producer: SharedProducer) -> list[list[Any]]:
        waves = []
        for wave in range(20):
            waves += [
                asyncio.ensure_future(producer.send(values(topic, 0, f"{wave}-{number}"))) for number in range(25)
            ]
            await asyncio.sleep(0)
        return await asyncio.gather(*waves)

    results = with_producer(barnabas.address, work)
    assert [offset for ((_, offset, _),) in results] == list(range(500))
    found = stored(barnabas.address, topic, 0, 500)
    assert [message.value() for message in found] == [f"{n // 25}-{n % 25}".encode() for n in range(500)]


def test_a_full_queue_holds_senders_up_and_loses_nothing(barnabas: BarnabasBroker, topic: str) -> None:
    async def work(producer: SharedProducer) -> list[list[Any]]:
        lots = [values(topic, 0, *(f"{lot}-{number}" for number in range(30))) for lot in range(20)]
        return await asyncio.gather(*map(producer.send, lots))

    results = with_producer(barnabas.address, work, **{"queue.buffering.max.messages": 10})
    offsets = [[offset for _, offset, _ in lot] for lot in results]
    # Each sender's records are in its own order, and all are there once.
    assert all(lot == sorted(lot) for lot in offsets)
    assert sorted(offset for lot in offsets for offset in lot) == list(range(600))
    found = {message.offset(): message.value() for message in stored(barnabas.address, topic, 0, 600)}
    assert found == {
        offset: f"{lot}-{number}".encode() for lot, places in enumerate(offsets) for number, offset in enumerate(places)
    }


def test_partitions_that_were_added_a_moment_ago_are_written_to_in_order(barnabas: BarnabasBroker, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": barnabas.address})

    async def work(producer: SharedProducer) -> list[Any]:
        (first,) = await producer.send(values(topic, 0, "known"))
        (refused,) = await producer.send(values(topic, PARTITIONS, "too early"))
        admin.create_partitions([NewPartitions(topic, PARTITIONS + 1)])[topic].result(DEADLINE_S)
        batches = [await producer.begin(values(topic, PARTITIONS, text)) for text in ("a", "b")]
        await asyncio.sleep(0)
        batches.append(await producer.begin([OutgoingRecord(topic, b"k", b"c", PARTITIONS, [("h", b"v")])]))
        await asyncio.gather(*(batch.done for batch in batches))
        return [first, refused, *(result for batch in batches for result in batch.results)]

    first, refused, *added = with_producer(barnabas.address, work)
    assert first[:2] == (0, 0)
    assert isinstance(refused, KafkaFailure)
    assert refused.name == "_UNKNOWN_PARTITION"
    assert [place[:2] for place in added] == [(PARTITIONS, 0), (PARTITIONS, 1), (PARTITIONS, 2)]
    assert [message.value() for message in stored(barnabas.address, topic, PARTITIONS, 3)] == [b"a", b"b", b"c"]


def test_a_topic_that_was_deleted_stays_away_until_somebody_writes_to_it(barnabas: BarnabasBroker, topic: str) -> None:
    """librdkafka asks for its topics again and again: new partitions of another one show that it has."""
    admin = AdminClient({"bootstrap.servers": barnabas.address})
    deleted = f"{topic}-deleted"

    def is_there() -> bool:
        return deleted in admin.list_topics(timeout=DEADLINE_S).topics

    async def work(producer: SharedProducer) -> None:
        for name in (topic, deleted):
            await producer.send([OutgoingRecord(name, None, b"made")])
        admin.delete_topics([deleted])[deleted].result(DEADLINE_S)
        producer.forget(deleted)
        admin.create_partitions([NewPartitions(topic, PARTITIONS + 1)])[topic].result(DEADLINE_S)
        place: Any = (0, 0, None)
        while place[0] != PARTITIONS:
            (place,) = await producer.send([OutgoingRecord(topic, None, b"anywhere")])
        assert not is_there()
        (place,) = await producer.send([OutgoingRecord(deleted, None, b"made anew")])
        assert place[:2] == (0, 0)
        assert is_there()

    with_producer(barnabas.address, work, **{"topic.metadata.refresh.interval.ms": 100})


def test_a_topic_that_somebody_else_deleted_is_made_again_by_the_next_write(kafka: BrokerProcess) -> None:
    """librdkafka alone would wait for the old one until the records' time is over, which is later than the deadline."""
    admin = AdminClient({"bootstrap.servers": kafka.address})
    kept, deleted = (f"{name}-{uuid4().hex}" for name in ("kept", "deleted"))

    async def work(producer: SharedProducer) -> list[Any]:
        for name in (kept, deleted):
            await producer.send(values(name, 0, "first", "second"))
        admin.delete_topics([deleted])[deleted].result(DEADLINE_S)
        batches: list[Batch] = []
        while not batches or not batches[0].done.done():
            batches.append(await producer.begin(values(deleted, 0, f"{len(batches)}")))
            await producer.send(values(kept, 0, "beside"))
        await asyncio.gather(*(batch.done for batch in batches))
        return [result for batch in batches for result in batch.results]

    results = with_producer(kafka.address, work, **{"enable.idempotence": True})
    assert [place[:2] for place in results] == [(0, number) for number in range(len(results))]
    found = stored(kafka.address, deleted, 0, len(results))
    assert [message.value() for message in found] == [b"%d" % number for number in range(len(results))]


def test_the_first_records_of_a_topic_stay_before_those_that_come_while_it_is_looked_for(
    barnabas: BarnabasBroker, topic: str
) -> None:
    async def work(producer: SharedProducer) -> None:
        for number in range(NEW_TOPICS):
            name = f"{topic}-{number}"
            batches = [await producer.begin(values(name, 0, "first"))]
            while not batches[0].done.done():
                batches.append(await producer.begin(values(name, 0, "later")))
                await asyncio.sleep(0)
            await asyncio.gather(*(batch.done for batch in batches))
            places: list[Any] = [batch.results[0] for batch in batches]
            assert [offset for _, offset, _ in places] == list(range(len(batches)))

    with_producer(barnabas.address, work)
