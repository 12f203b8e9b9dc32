"""The consumer of the tools: it sees what it should and nothing twice, alone and with others."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable

import pytest

from barnabas.client.consumer.consumer import EARLIEST, LATEST, STORED, Consumer, TopicPartition
from barnabas.client.consumer.consumer_offsets import AtTime
from barnabas.client.consumer.consumer_settings import ConsumerSettings
from barnabas.client.producer.producer import Producer, ProducerSettings
from barnabas.kafka_tools.main import call
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError
from tests.broker import BrokerProcess
from tests.kafka_tools.members import members

DEADLINE_S = 90
POLL_MS = 500
QUICK_MS = 200


def limited(work: Awaitable[None]) -> None:
    async def main() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await work

    asyncio.run(main())


async def produce(address: str, topic: str, values: list[str], **properties: str) -> None:
    settings = ProducerSettings.from_properties({name.replace("_", "."): text for name, text in properties.items()})
    async with Client(address) as client, Producer(client, settings) as producer:
        for place, value in enumerate(values):
            await producer.send(topic, value.encode(), partition=0, timestamp_ms=1000 * place)


async def read(consumer: Consumer, count: int) -> list[str]:
    found: list[str] = []
    while len(found) < count:
        for batch in await consumer.poll(POLL_MS):
            found += [(record.value or b"").decode() for record in batch.records]
    return found


def test_it_begins_where_it_is_told(broker: BrokerProcess, topic: str) -> None:
    place = TopicPartition(topic, 0)

    async def work() -> None:
        await produce(broker.address, topic, list("abcdef"))
        async with Client(broker.address) as client, Consumer(client, ConsumerSettings(max_poll_records=2)) as consumer:
            await consumer.assign({place: EARLIEST})
            assert [record.value for batch in await consumer.poll(POLL_MS) for record in batch.records] == [b"a", b"b"]
            assert consumer.position(place) == 2
            await consumer.seek(place, AtTime(3500))
            assert await read(consumer, 2) == ["e", "f"]
            await consumer.seek(place, LATEST)
            assert await consumer.poll(QUICK_MS) == []
            assert consumer.position(place) == 6
            await consumer.seek(place, 3)
            assert await read(consumer, 3) == ["d", "e", "f"]

    limited(work())


def test_a_group_remembers_and_an_offset_out_of_range_is_reset(broker: BrokerProcess, topic: str) -> None:
    place = TopicPartition(topic, 0)
    settings = ConsumerSettings(topic, reset="earliest", auto_commit=False)

    async def work() -> None:
        await produce(broker.address, topic, list("abc"))
        async with Client(broker.address) as client, Consumer(client, settings) as consumer:
            await consumer.assign({place: STORED})
            assert await read(consumer, 3) == ["a", "b", "c"]
            await consumer.commit({place: 2})
        async with Client(broker.address) as client, Consumer(client, settings) as consumer:
            await consumer.assign({place: STORED})
            assert await read(consumer, 1) == ["c"]
            await consumer.seek(place, 1000)
            assert await read(consumer, 3) == ["a", "b", "c"]

    limited(work())


def test_without_a_place_to_begin_it_says_so(broker: BrokerProcess, topic: str) -> None:
    async def work() -> None:
        await produce(broker.address, topic, ["a"])
        async with (
            Client(broker.address) as client,
            Consumer(client, ConsumerSettings(topic, reset="none")) as consumer,
        ):
            with pytest.raises(KafkaError, match="Undefined offset with no reset policy") as caught:
                await consumer.assign({TopicPartition(topic, 0): STORED})
            assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE

    limited(work())


def test_read_committed_leaves_out_what_was_aborted(broker: BrokerProcess, topic: str) -> None:
    async def write() -> None:
        settings = ProducerSettings.from_properties({"transactional.id": topic})
        async with Client(broker.address) as client, Producer(client, settings) as producer:
            await producer.init_transactions()
            for number in range(6):
                producer.begin_transaction()
                await producer.send(topic, f"{number}".encode())
                await producer.flush()
                await (producer.abort_transaction() if number % 2 else producer.commit_transaction())

    async def work() -> None:
        await write()
        await produce(broker.address, topic, ["end"])
        for level, expected in (("read_committed", "0 2 4 end"), ("read_uncommitted", "0 1 2 3 4 5 end")):
            settings = ConsumerSettings(isolation_level=level)
            async with Client(broker.address) as client, Consumer(client, settings) as consumer:
                await consumer.assign({TopicPartition(topic, 0): EARLIEST})
                assert await read(consumer, len(expected.split())) == expected.split()

    limited(work())


def test_a_pattern_finds_topics(broker: BrokerProcess, topic: str) -> None:
    async def work() -> None:
        for number in (1, 2):
            await produce(broker.address, f"{topic}-{number}", [f"{number}"])
        settings = ConsumerSettings(topic, reset="earliest")
        async with Client(broker.address) as client, Consumer(client, settings) as consumer:
            await consumer.subscribe(re.compile(re.escape(topic) + "-."))
            assert sorted(await read(consumer, 2)) == ["1", "2"]

    limited(work())


@pytest.mark.parametrize("assignor", ["range", "sticky", "cooperative-sticky"])
def test_members_share_the_partitions_and_take_over_from_those_who_leave(
    assignor: str, broker: BrokerProcess, topic: str
) -> None:
    at = ["--bootstrap-server", broker.address, "--create", "--topic", topic, "--partitions", "5"]
    assert call("kafka-topics", at) == 0
    settings = ConsumerSettings(topic, assignors=(assignor,), heartbeat_interval_ms=100)
    whole = {TopicPartition(topic, number) for number in range(5)}
    with members(broker.address) as joined:
        first = joined.join(settings, [topic], "first")
        joined.wait_until(lambda: first.assignment == whole, "one member to have everything")
        second = joined.join(settings, [topic], "second")

        def is_shared() -> bool:
            loads = sorted((len(first.assignment), len(second.assignment)))
            return loads == [2, 3] and first.assignment | second.assignment == whole

        joined.wait_until(is_shared, "two members to share")
        joined.leave(second)
        joined.wait_until(lambda: first.assignment == whole, "one member to have everything again")
