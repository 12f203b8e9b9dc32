"""A tool's connection to a cluster: who is asked, how long it is tried, and what is refused."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from barnabas.client.admin.session import Session
from barnabas.client.client_config import ClientConfig, load_properties
from barnabas.client.client_error import ClientError
from barnabas.kafka_tools import main as commands
from barnabas.wire.client import Connection
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from tests.broker import BarnabasBroker
from tests.ports import free_port

NOWHERE_MS = {"default.api.timeout.ms": "300", "request.timeout.ms": "200", "retry.backoff.ms": "20"}


def test_the_cluster_is_known_after_the_first_question(barnabas: BarnabasBroker) -> None:
    async def ask() -> None:
        async with Session.open(barnabas.address) as session:
            cluster = await session.cluster()
            assert list(cluster.nodes) == [1]
            assert cluster.nodes[1].address == barnabas.address
            assert cluster.controller_id == 1
            answer = await session.send_to_controller(DescribeClusterRequest(), DescribeClusterResponse)
            assert answer.cluster_id == cluster.cluster_id
            assert await session.connection(1) is await session.connection()

    asyncio.run(ask())


def test_a_node_that_is_not_there_is_named_with_those_that_are(barnabas: BarnabasBroker) -> None:
    async def ask() -> None:
        async with Session.open(barnabas.address) as session:
            await session.send(DescribeClusterRequest(), DescribeClusterResponse, node=9)

    with pytest.raises(KafkaError, match=r"no node 9; it has \[1\]"):
        asyncio.run(ask())


def test_leaders_of_a_topic_that_is_not_there_are_looked_for_until_the_time_is_over(barnabas: BarnabasBroker) -> None:
    async def ask() -> None:
        async with Session.open(barnabas.address, None, {"default.api.timeout.ms": "400"}) as session:
            await session.leaders([("no-such-topic", 0)])

    with pytest.raises(KafkaError) as failure:
        asyncio.run(ask())
    assert failure.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_broker_that_is_away_is_tried_again_and_then_given_up(caplog: pytest.LogCaptureFixture) -> None:
    address = f"127.0.0.1:{free_port()}"

    async def ask() -> None:
        async with Session.open(address, None, NOWHERE_MS) as session:
            await session.cluster()

    with pytest.raises(KafkaError, match=r"Timed out waiting for a node assignment\. Call: describeTopics") as failure:
        asyncio.run(ask())
    assert failure.value.code == ErrorCode.REQUEST_TIMED_OUT
    (warning,) = caplog.messages
    assert f"cannot connect to {address}: Connection refused; is the broker running?" in warning


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 1)"), "Connection refused"),
        (
            OSError("Multiple exceptions: [Errno 111] Connect call failed ('::1', 1), [Errno 111] Connect call failed"),
            "Connection refused",
        ),
        (OSError("Multiple exceptions: [Errno 111] a, [Errno 113] b"), "Connection refused, No route to host"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
    ],
)
def test_why_there_is_no_connection_is_told_in_the_words_of_the_system(
    failure: OSError, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(asyncio, "open_connection", fail)
    with pytest.raises(KafkaError) as raised:
        asyncio.run(Connection.open("somewhere:1"))
    assert raised.value.message == f"cannot connect to somewhere:1: {reason}; is the broker running?"


def test_retriable_errors_are_retried_and_others_are_not() -> None:
    seen: list[ErrorCode] = []

    async def tried(*codes: ErrorCode) -> str:
        pending = list(codes)

        async def attempt() -> str:
            if pending:
                seen.append(pending[0])
                raise KafkaError(pending.pop(0))
            return "done"

        return await Session.open("127.0.0.1:1", None, NOWHERE_MS).retry(attempt, "anything")

    assert asyncio.run(tried(ErrorCode.NOT_CONTROLLER, ErrorCode.NOT_COORDINATOR)) == "done"
    assert seen == [ErrorCode.NOT_CONTROLLER, ErrorCode.NOT_COORDINATOR]
    with pytest.raises(KafkaError):
        asyncio.run(tried(ErrorCode.INVALID_REQUEST))


@pytest.mark.parametrize(
    ("bootstrap", "complaint"),
    [
        ("localhost", "Invalid url in bootstrap.servers: localhost"),
        ("localhost:port", "Invalid url in bootstrap.servers: localhost:port"),
        ("localhost:99999", "Invalid port in bootstrap.servers: localhost:99999"),
        ("", "No resolvable bootstrap urls given in bootstrap.servers"),
        (" , ", "No resolvable bootstrap urls given in bootstrap.servers"),
    ],
)
def test_addresses_follow_javas_rules(bootstrap: str, complaint: str) -> None:
    with pytest.raises(ClientError) as refused:
        Session.open(bootstrap)
    assert complaint in refused.value.message


def test_properties_of_the_client_are_checked(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("client.id = mine\nrequest.timeout.ms: 1000\nunknown.thing=1\n")
    config = ClientConfig.of(load_properties(str(file)))
    assert (config.client_id, config.request_timeout_ms) == ("mine", 1000)
    with pytest.raises(ClientError, match=r"Invalid value x for configuration request\.timeout\.ms: Not a number"):
        ClientConfig.of({"request.timeout.ms": "x"})
    with pytest.raises(ClientError, match=r"security\.protocol=SASL_SSL is not supported"):
        ClientConfig.of({"security.protocol": "SASL_SSL"})
    with pytest.raises(ClientError, match="No such file or directory"):
        load_properties(str(tmp_path / "missing"))


def test_a_tool_says_so_when_the_broker_is_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "short.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in NOWHERE_MS.items()))
    address = f"127.0.0.1:{free_port()}"
    status = commands.call("kafka-topics", ["--bootstrap-server", address, "--command-config", str(file), "--list"])
    printed = capsys.readouterr()
    assert status == 1
    assert printed.out == (
        "Error while executing topic command : Timed out waiting for a node assignment. Call: listTopics\n"
    )
    assert any(f"cannot connect to {address}" in message for message in caplog.messages)
