"""The client against brokers that are gone, old, silent or broken."""

import asyncio

import pytest

from barnabas.wire.client import Client, Connection, parse_address
from barnabas.wire.codec import encode
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.frames import decode_request_header, frame_response
from barnabas.wire.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from barnabas.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from tests.wire.scripted_broker import ScriptedBroker


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("127.0.0.1:19092", ("127.0.0.1", 19092)),
        ("broker", ("broker", 9092)),
        ("[::1]:9093", ("::1", 9093)),
        ("[::1]", ("::1", 9092)),
        (" host:1 ", ("host", 1)),
    ],
)
def test_addresses(text: str, parsed: tuple[str, int]) -> None:
    assert parse_address(text) == parsed


@pytest.mark.parametrize("text", ["", ":9092", "host:", "host:port", "host:0", "host:65536", "http://host:9092"])
def test_bad_addresses(text: str) -> None:
    with pytest.raises(ValueError, match="is not a broker address"):
        parse_address(text)


def test_no_bootstrap_servers() -> None:
    with pytest.raises(ValueError, match="no bootstrap servers"):
        Client(" , ")


def test_nobody_listens() -> None:
    async def scenario() -> None:
        with pytest.raises(KafkaError, match="is the broker running") as caught:
            await Client("127.0.0.1:1").connection()
        assert caught.value.code is ErrorCode.NETWORK_EXCEPTION
        assert caught.value.code.retriable

    asyncio.run(scenario())


def test_an_api_or_version_that_the_broker_lacks() -> None:
    async def scenario() -> None:
        async with ScriptedBroker({ListGroupsRequest: lambda request: None}) as broker:
            connection = await Connection.open(broker.address)
            with pytest.raises(KafkaError, match="does not serve DescribeCluster"):
                connection.version_of(DescribeClusterRequest)
            assert connection.version_of(ListGroupsRequest) == ListGroupsRequest.VERSIONS.high
            await connection.close()

    asyncio.run(scenario())


def test_a_broker_that_knows_only_older_api_versions() -> None:
    """It refuses version 4 in the form of version 0, and the client asks again in a version that it named."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ranges = [
            ApiVersion(api_key=18, min_version=0, max_version=2),
            ApiVersion(api_key=60, min_version=7, max_version=9),
        ]
        for code, versions in ((ErrorCode.UNSUPPORTED_VERSION, (4, 0)), (ErrorCode.NONE, (2, 2))):
            frame = await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
            header, _ = decode_request_header(frame)
            assert header.api_version == versions[0]
            body = encode(ApiVersionsResponse(error_code=code, api_keys=ranges), versions[1])
            writer.write(frame_response(header.correlation_id, 0, body))
        await reader.read()
        writer.close()

    async def scenario() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            connection = await Connection.open(f"127.0.0.1:{server.sockets[0].getsockname()[1]}")
            assert connection.version_of(ApiVersionsRequest) == 2
            with pytest.raises(KafkaError, match="serves DescribeCluster 7-9, this client knows 0-2"):
                connection.version_of(DescribeClusterRequest)
            await connection.close()

    asyncio.run(scenario())


def test_a_silent_broker_times_out_and_the_connection_stays_usable() -> None:
    silent = iter([True, False])

    def answer(request: ListGroupsRequest) -> ListGroupsResponse | None:
        return None if next(silent) else ListGroupsResponse(throttle_time_ms=7)

    async def scenario() -> None:
        async with ScriptedBroker({ListGroupsRequest: answer}) as broker:
            connection = await Connection.open(broker.address)
            with pytest.raises(KafkaError, match="no answer to ListGroupsRequest v5") as caught:
                await connection.send(ListGroupsRequest(), ListGroupsResponse, timeout_ms=50)
            assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT
            answered = await connection.send(ListGroupsRequest(), ListGroupsResponse)
            assert answered.throttle_time_ms == 7
            await connection.close()

    asyncio.run(scenario())


def test_a_broker_that_hangs_up_fails_every_wait() -> None:
    async def scenario() -> None:
        async with ScriptedBroker({ListGroupsRequest: lambda request: None}) as broker:
            connection = await Connection.open(broker.address)
            sends = [asyncio.create_task(connection.send(ListGroupsRequest(), ListGroupsResponse)) for _ in range(3)]
            await broker.wait_for(ListGroupsRequest, 3)
            broker.drop_connections()
            for outcome in await asyncio.gather(*sends, return_exceptions=True):
                assert isinstance(outcome, KafkaError)
                assert outcome.code is ErrorCode.NETWORK_EXCEPTION
            assert not connection.is_open
            await connection.close()

    asyncio.run(scenario())


def test_a_client_reconnects_after_a_hang_up() -> None:
    async def scenario() -> None:
        answers = {ListGroupsRequest: lambda request: ListGroupsResponse()}
        async with ScriptedBroker(answers) as broker, Client(broker.address) as client:
            first = await client.connection()
            broker.drop_connections()
            with pytest.raises(KafkaError):
                await first.send(ListGroupsRequest(), ListGroupsResponse)
            assert await client.send(ListGroupsRequest(), ListGroupsResponse) == ListGroupsResponse()

    asyncio.run(scenario())


@pytest.mark.parametrize("garbage", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff\xff\xff\xff", b"\0\0\0\1\0"])
def test_a_peer_that_is_no_broker(garbage: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(garbage)
        writer.write_eof()
        await reader.read()
        writer.close()

    async def scenario() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
            with pytest.raises(KafkaError, match=f"connection to {address} lost") as caught:
                await Connection.open(address)
            assert caught.value.code is ErrorCode.NETWORK_EXCEPTION

    asyncio.run(scenario())


def test_coordinator_of_a_broker_that_has_none() -> None:
    def refuse(request: FindCoordinatorRequest) -> FindCoordinatorResponse:
        (key,) = request.coordinator_keys
        return FindCoordinatorResponse(
            coordinators=[Coordinator(key=key, error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)]
        )

    async def scenario() -> None:
        async with ScriptedBroker({FindCoordinatorRequest: refuse}) as broker, Client(broker.address) as client:
            with pytest.raises(KafkaError) as caught:
                await client.find_coordinator("group")
            assert caught.value.code is ErrorCode.COORDINATOR_NOT_AVAILABLE

    asyncio.run(scenario())


def test_cluster_description_over_a_scripted_broker() -> None:
    async def scenario() -> None:
        answers = {DescribeClusterRequest: lambda request: DescribeClusterResponse(cluster_id="c", controller_id=3)}
        async with ScriptedBroker(answers) as broker, Client(broker.address, client_id=None) as client:
            response = await client.send(DescribeClusterRequest(), DescribeClusterResponse)
            assert (response.cluster_id, response.controller_id) == ("c", 3)

    asyncio.run(scenario())
