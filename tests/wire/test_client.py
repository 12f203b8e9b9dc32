"""The client against a running broker."""

import asyncio

import pytest

from barnabas.wire.batch import Record, build_batch, compute_crc, iterate_batches, iterate_records
from barnabas.wire.client import Client, Connection, parse_address
from barnabas.wire.compression import Compression
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.wire.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData

EARLIEST_TIMESTAMP = -2
FETCH_BY_NAME_VERSION = 12
RECORDS = [
    Record(0, 1_700_000_000_000, b"key", b"value", (("trace", b"1"), ("empty", None))),
    Record(1, 1_700_000_000_001, None, None),
    Record(2, 1_700_000_000_002, b"", b"x" * 5000),
]


async def create_topic(client: Client, name: str) -> bytes:
    request = CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=1, replication_factor=1)], timeout_ms=10_000
    )
    response = await client.send(request, CreateTopicsResponse)
    assert response.topics[0].error_code == ErrorCode.NONE
    await partition_is_led(client, name)
    return response.topics[0].topic_id


async def partition_is_led(client: Client, topic: str) -> None:
    """A new partition may take a moment to get its leader: asks until it has one."""
    partition = ListOffsetsPartition(partition_index=0, timestamp=EARLIEST_TIMESTAMP)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[partition])])
    async with asyncio.timeout(90):
        while True:
            response = await client.send(request, ListOffsetsResponse)
            code = ErrorCode(response.topics[0].partitions[0].error_code)
            if not code:
                return
            assert code.retriable


async def fetch(client: Client, topic: str, wanted: int) -> list[Record]:
    """Records of the topic's partition 0 from the start, at least `wanted` of them."""
    found: list[Record] = []
    async with asyncio.timeout(90):
        while len(found) < wanted:
            partition = FetchPartition(partition=0, fetch_offset=len(found), partition_max_bytes=1 << 20)
            request = FetchRequest(
                max_wait_ms=500,
                min_bytes=1,
                max_bytes=1 << 20,
                topics=[FetchTopic(topic=topic, partitions=[partition])],
            )
            response = await client.send(request, FetchResponse, version=FETCH_BY_NAME_VERSION)
            data = response.responses[0].partitions[0]
            assert data.error_code == ErrorCode.NONE
            for position, header in iterate_batches(data.records or b""):
                assert header.crc == compute_crc(data.records or b"", position, header.size_bytes)
                found += iterate_records(data.records or b"", position)
    return found


def produce_request(topic_id: bytes, batch: bytearray, acks: int) -> ProduceRequest:
    data = TopicProduceData(topic_id=topic_id, partition_data=[PartitionProduceData(index=0, records=batch)])
    return ProduceRequest(acks=acks, timeout_ms=10_000, topic_data=[data])


@pytest.mark.parametrize("compression", list(Compression))
def test_what_is_produced_is_fetched(broker_address: str, topic: str, compression: Compression) -> None:
    async def scenario() -> None:
        async with Client(broker_address) as client:
            topic_id = await create_topic(client, topic)
            batch = build_batch(RECORDS, compression=compression)
            response = await client.send(produce_request(topic_id, batch, acks=-1), ProduceResponse)
            assert response.responses[0].partition_responses[0].error_code == ErrorCode.NONE
            assert await fetch(client, topic, len(RECORDS)) == RECORDS

    asyncio.run(scenario())


def test_acks_zero_is_sent_without_waiting(broker_address: str, topic: str) -> None:
    async def scenario() -> None:
        async with Client(broker_address) as client:
            topic_id = await create_topic(client, topic)
            connection = await client.connection()
            await connection.send_without_response(produce_request(topic_id, build_batch(RECORDS), acks=0))
            assert await fetch(client, topic, len(RECORDS)) == RECORDS

    asyncio.run(scenario())


def test_every_version_of_api_versions(broker_address: str) -> None:
    async def scenario() -> None:
        connection = await Connection.open(broker_address)
        known = ApiVersionsRequest.VERSIONS
        for version in range(known.low, known.high + 1):
            request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
            response = await connection.send(request, ApiVersionsResponse, version=version)
            assert response.error_code == ErrorCode.NONE
            assert {api.api_key for api in response.api_keys} == connection.versions.keys()
        await connection.close()

    asyncio.run(scenario())


def test_requests_in_flight_get_their_own_responses(broker_address: str) -> None:
    async def scenario() -> None:
        connection = await Connection.open(broker_address)
        names = [f"no-such-topic-{number}" for number in range(20)]
        responses = await asyncio.gather(
            *(
                connection.send(
                    MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False),
                    MetadataResponse,
                )
                for name in names
            )
        )
        assert [response.topics[0].name for response in responses] == names
        await connection.close()
        assert not connection.is_open
        with pytest.raises(KafkaError, match="closed by us"):
            await connection.send(MetadataRequest(), MetadataResponse)

    asyncio.run(scenario())


def test_one_reachable_bootstrap_server_is_enough(broker_address: str) -> None:
    async def scenario() -> None:
        async with Client(f"127.0.0.1:1, {broker_address}") as client:
            response = await client.send(MetadataRequest(topics=[]), MetadataResponse)
            host, port = parse_address(broker_address)
            assert [(broker.host, broker.port) for broker in response.brokers] == [(host, port)]

    asyncio.run(scenario())
