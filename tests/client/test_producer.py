"""The producer of the tools: what it writes can be read, what fails is tried again in order, transactions are whole."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable

import pytest

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.consumer import EARLIEST, Consumer
from barnabas.client.consumer.consumer_settings import ConsumerSettings
from barnabas.client.producer.partitioner import StickyPartition
from barnabas.client.producer.producer import Producer, ProducerBatch, ProducerSettings
from barnabas.wire.batch import parse_header
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.key_partitions import murmur2, partition_of_key
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from barnabas.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from tests.wire.scripted_broker import ScriptedBroker

DEADLINE_S = 90
POLL_MS = 1_000
TOPIC = "t"


def limited(work: Awaitable[None]) -> None:
    async def main() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await work

    asyncio.run(main())


async def read_values(address: str, topic: str, count: int, *, committed: bool = False) -> list[bytes | None]:
    settings = ConsumerSettings(isolation_level="read_committed" if committed else "read_uncommitted")
    found: list[bytes | None] = []
    async with Client(address) as client, Consumer(client, settings) as consumer:
        await consumer.assign({TopicPartition(topic, 0): EARLIEST})
        while len(found) < count:
            for batch in await consumer.poll(POLL_MS):
                found += [record.value for record in batch.records]
    return found


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_keys_are_hashed_as_every_client_hashes_them(key: bytes, expected: int) -> None:
    assert murmur2(key) == expected & 0xFFFFFFFF
    assert partition_of_key(key, 7) == (expected & 0x7FFFFFFF) % 7


def test_records_without_key_stay_together_until_a_batch_is_full() -> None:
    sticky = StickyPartition(100, random.Random(7))
    taken = [sticky.take(25, range(10)) for _ in range(400)]
    runs = [taken[start : start + 4] for start in range(0, 400, 4)]
    assert all(len(set(run)) == 1 for run in runs)
    assert set(taken) == set(range(10))


@pytest.mark.parametrize(
    "properties",
    [
        {"acks": "0"},
        {"acks": "1", "linger.ms": "0"},
        {"batch.size": "0"},
        {"compression.type": "gzip"},
        {"compression.type": "snappy"},
        {"compression.type": "lz4"},
        {"compression.type": "zstd", "batch.size": "100000"},
    ],
    ids=lambda properties: " ".join(f"{name}={value}" for name, value in properties.items()),
)
def test_what_was_sent_is_there_in_order(broker_address: str, topic: str, properties: dict[str, str]) -> None:
    values = [b"value %d" % number * 10 for number in range(1000)]

    async def main() -> None:
        settings = ProducerSettings.from_properties(properties)
        async with Client(broker_address) as client, Producer(client, settings) as producer:
            deliveries = [await producer.send(topic, value, b"k", headers=(("h", None),)) for value in values]
            await producer.flush()
            outcomes = [await delivery.outcome() for delivery in deliveries]
            numbered = [-1] * len(values) if properties.get("acks") == "0" else list(range(len(values)))
            assert [outcome.offset for outcome in outcomes] == numbered
        assert await read_values(broker_address, topic, len(values)) == values

    limited(main())


def test_values_alone_take_the_short_way(broker_address: str, topic: str) -> None:
    values = [b"%d" % number for number in range(5000)]

    async def main() -> None:
        settled = 0

        def count(batch: ProducerBatch) -> None:
            nonlocal settled
            settled += batch.count

        async with Client(broker_address) as client, Producer(client, ProducerSettings(), settled=count) as producer:
            await producer.start(topic)
            sent = 0
            while sent < len(values):
                taken = producer.try_send_values(topic, values[sent : sent + 64], 1_700_000_000_000)
                sent += taken
                if taken < 64:
                    await producer.room()
            await producer.flush()
        assert settled == len(values)
        assert await read_values(broker_address, topic, len(values)) == values

    limited(main())


def test_a_transaction_is_seen_whole_or_not_at_all(broker_address: str, topic: str) -> None:
    async def main() -> None:
        settings = ProducerSettings(transactional_id=topic)
        async with Client(broker_address) as client, Producer(client, settings) as producer:
            await producer.init_transactions()
            for number in range(5):
                producer.begin_transaction()
                for place in range(3):
                    await producer.send(topic, b"%d-%d" % (number, place))
                if number % 2:
                    await producer.flush()
                    await producer.abort_transaction()
                else:
                    await producer.commit_transaction()
            producer.begin_transaction()
            await producer.commit_transaction()
        expected = [b"%d-%d" % (number, place) for number in (0, 2, 4) for place in range(3)]
        assert await read_values(broker_address, topic, 9, committed=True) == expected

    limited(main())


def test_a_second_producer_of_the_same_id_fences_the_first(broker_address: str, topic: str) -> None:
    async def main() -> None:
        settings = ProducerSettings(transactional_id=topic)
        async with Client(broker_address) as client, Producer(client, settings) as first:
            await first.init_transactions()
            first.begin_transaction()
            await first.send(topic, b"lost")
            await first.flush()
            async with Producer(client, settings) as second:
                await second.init_transactions()
                second.begin_transaction()
                await second.send(topic, b"kept")
                await second.commit_transaction()
            with pytest.raises(KafkaError) as failure:
                await first.commit_transaction()
            assert failure.value.code in (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH)
        assert await read_values(broker_address, topic, 1, committed=True) == [b"kept"]

    limited(main())


def metadata(broker: ScriptedBroker) -> MetadataResponse:
    """A topic of one partition, led by the broker itself."""
    host, _, port = broker.address.rpartition(":")
    partition = MetadataResponsePartition(partition_index=0, leader_id=1, replica_nodes=[1], isr_nodes=[1])
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=1, host=host, port=int(port))],
        topics=[MetadataResponseTopic(name=TOPIC, partitions=[partition])],
    )


def produced(code: ErrorCode) -> ProduceResponse:
    one = PartitionProduceResponse(index=0, error_code=code, base_offset=0 if code is ErrorCode.NONE else -1)
    return ProduceResponse(responses=[TopicProduceResponse(name=TOPIC, partition_responses=[one])])


def scripted(codes: list[ErrorCode | None]) -> ScriptedBroker:
    """Answers each Produce with the next code, then with success; None leaves one unanswered."""
    ids = iter(range(100))

    def produce(request: ProduceRequest) -> ProduceResponse | None:
        code = codes.pop(0) if codes else ErrorCode.NONE
        return None if code is None else produced(code)

    broker: ScriptedBroker = ScriptedBroker(
        {
            MetadataRequest: lambda request: metadata(broker),
            InitProducerIdRequest: lambda request: InitProducerIdResponse(producer_id=next(ids), producer_epoch=0),
            ProduceRequest: produce,
        }
    )
    return broker


def sent_sequences(broker: ScriptedBroker) -> list[tuple[int, int]]:
    """Producer id and first sequence number of each batch that came."""
    headers = [parse_header(request.topic_data[0].partition_data[0].records) for request in broker.seen(ProduceRequest)]
    return [(header.producer_id, header.base_sequence) for header in headers]


def test_a_batch_that_a_broker_refuses_for_now_goes_again_with_its_number() -> None:
    async def main() -> None:
        settings = ProducerSettings(linger_ms=0, batch_bytes=0, retry_backoff_ms=1)
        async with (
            scripted([ErrorCode.NOT_LEADER_OR_FOLLOWER]) as broker,
            Client(broker.address) as client,
            Producer(client, settings) as producer,
        ):
            deliveries = [await producer.send(TOPIC, b"%d" % number) for number in range(3)]
            await producer.flush()
            for delivery in deliveries:
                await delivery.outcome()
            numbers = sent_sequences(broker)
            assert {number for _, number in numbers} == {0, 1, 2}
            assert len(numbers) == 4
            assert numbers.count((0, 0)) == 2

    limited(main())


def test_a_record_that_is_refused_for_good_costs_the_producer_its_id() -> None:
    """Otherwise the broker would take the hole in the numbers for lost records."""

    async def main() -> None:
        settings = ProducerSettings(linger_ms=0, retry_backoff_ms=1)
        async with (
            scripted([ErrorCode.INVALID_RECORD]) as broker,
            Client(broker.address) as client,
            Producer(client, settings) as producer,
        ):
            refused = await producer.send(TOPIC, b"bad")
            with pytest.raises(KafkaError) as failure:
                await refused.outcome()
            assert failure.value.code is ErrorCode.INVALID_RECORD
            await (await producer.send(TOPIC, b"good")).outcome()
            assert sent_sequences(broker) == [(0, 0), (1, 0)]

    limited(main())


def test_a_record_that_nobody_acknowledges_expires() -> None:
    async def main() -> None:
        settings = ProducerSettings(linger_ms=0, request_timeout_ms=50, delivery_timeout_ms=150, retry_backoff_ms=1)
        async with (
            scripted([None] * 50) as broker,
            Client(broker.address) as client,
            Producer(client, settings) as producer,
        ):
            delivery = await producer.send(TOPIC, b"x")
            with pytest.raises(KafkaError) as failure:
                await delivery.outcome()
            assert failure.value.code is ErrorCode.REQUEST_TIMED_OUT

    limited(main())


def test_a_record_that_is_too_large_is_refused_at_once() -> None:
    async def main() -> None:
        async with (
            scripted([]) as broker,
            Client(broker.address) as client,
            Producer(client, ProducerSettings(max_request_bytes=100)) as producer,
        ):
            with pytest.raises(KafkaError, match="larger than 100"):
                await producer.send(TOPIC, b"x" * 200)

    limited(main())


def test_a_topic_that_does_not_appear_ends_the_wait() -> None:
    async def main() -> None:
        async with (
            ScriptedBroker({MetadataRequest: lambda request: MetadataResponse()}) as broker,
            Client(broker.address) as client,
            Producer(client, ProducerSettings(max_block_ms=150)) as producer,
        ):
            with pytest.raises(KafkaError, match="Topic absent not present in metadata after 150 ms"):
                await producer.send("absent", b"x")

    limited(main())


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        ({"acks": "7"}, "Invalid value 7 for configuration acks"),
        ({"compression.type": "rar"}, "Invalid value rar for configuration compression.type"),
        ({"linger.ms": "-1"}, "Invalid value -1 for configuration linger.ms"),
        ({"acks": "1", "enable.idempotence": "true"}, "Must set acks to all"),
        ({"transactional.id": "t", "enable.idempotence": "false"}, "Cannot set a transactional.id"),
        ({"max.in.flight.requests.per.connection": "6", "enable.idempotence": "true"}, "at most 5"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_javas_words(properties: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        ProducerSettings.from_properties(properties)


def test_without_full_acknowledgement_there_is_no_idempotence() -> None:
    assert ProducerSettings.from_properties({}).idempotence
    assert not ProducerSettings.from_properties({"acks": "1"}).idempotence
