"""Several listeners, each with an address of its own for clients, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.waiting import wait_for

EXIT_USAGE = 2
DEADLINE_S = 90
LISTENERS = {
    "listeners": "INSIDE://127.0.0.1:0,OUTSIDE://127.0.0.1:0,PLAIN://127.0.0.1:0",
    "advertised.listeners": "OUTSIDE://broker.example.com:19092,INSIDE://10.1.2.3:9093",
    "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT,PLAIN:PLAINTEXT",
    "inter.broker.listener.name": "INSIDE",
}


def test_each_listener_tells_its_own_address(tmp_path: Path) -> None:
    with HostedBroker(tmp_path / "logs", LISTENERS) as hosted:
        own = hosted.address_of(2)
        told = [("10.1.2.3", 9093), ("broker.example.com", 19092), (own.split(":")[0], int(own.split(":")[1]))]
        for number, address in enumerate(told):
            with AdminClient(hosted.address_of(number)) as client:
                metadata = client.ask(MetadataRequest(topics=[]), MetadataResponse, 9)
                assert [(broker.host, broker.port) for broker in metadata.brokers] == [address]
                cluster = client.ask(DescribeClusterRequest(), DescribeClusterResponse, 0)
                assert [(broker.host, broker.port) for broker in cluster.brokers] == [address]


def test_what_is_written_on_one_listener_is_read_on_another(tmp_path: Path) -> None:
    with (
        HostedBroker(tmp_path / "logs", LISTENERS) as hosted,
        AdminClient(hosted.address_of(0)) as inside,
        AdminClient(hosted.address_of(1)) as outside,
    ):
        inside.create("topic")
        assert inside.append("topic", b"a") == 0
        assert [record.value for record in outside.read_all("topic")] == [b"a"]


def is_served(address: str) -> bool:
    try:
        with AdminClient(address) as client:
            client.topics()
            return True
    except ConnectionError:
        return False


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({"max.connections.per.ip": 2}, 2),
        ({"max.connections.per.ip": 0, "max.connections.per.ip.overrides": "127.0.0.1:3"}, 3),
        ({"max.connections": 2}, 2),
    ],
)
def test_no_more_connections_than_allowed(tmp_path: Path, settings: dict[str, object], allowed: int) -> None:
    with HostedBroker(tmp_path / "logs", settings) as hosted:
        clients = [AdminClient(hosted.address) for _ in range(allowed)]
        for client in clients:
            client.topics()
        assert not is_served(hosted.address)
        clients[0].topics()
        clients[0].socket.close()
        wait_for(lambda: is_served(hosted.address), "the place of a client that has left")
        for client in clients:
            client.socket.close()


@pytest.mark.parametrize(
    ("settings", "complaints"),
    [
        ({"listeners": "SSL://127.0.0.1:0"}, ["listeners", "SSL", "only PLAINTEXT is served"]),
        ({"listeners": "SASL_PLAINTEXT://127.0.0.1:0"}, ["SASL_PLAINTEXT", "only PLAINTEXT is served"]),
        (
            {"listeners": "ODD://127.0.0.1:0", "listener.security.protocol.map": "ODD:TELEPATHY"},
            ["TELEPATHY"],
        ),
        ({"listeners": "ODD://127.0.0.1:0"}, ["ODD", "listener.security.protocol.map"]),
        ({"listeners": "PLAINTEXT://127.0.0.1"}, ["PLAINTEXT://127.0.0.1", "NAME://HOST:PORT"]),
        ({"listeners": "PLAINTEXT://127.0.0.1:70000"}, ["70000", "65535"]),
        (
            {"listeners": "PLAINTEXT://127.0.0.1:0", "advertised.listeners": "OTHER://127.0.0.1:9092"},
            ["advertised.listeners", "OTHER"],
        ),
        ({"log.dirs": "one,two"}, ["log.dirs", "one,two"]),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_reason(
    tmp_path: Path, settings: dict[str, str], complaints: list[str]
) -> None:
    program = Path(sys.executable).with_name("barnabas")
    given = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    ended = subprocess.run(
        [str(program), "serve", "broker", "--data-dir", str(tmp_path / "data"), *given],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        cwd=tmp_path,
    )
    assert ended.returncode == EXIT_USAGE, ended.stderr
    assert "Traceback" not in ended.stderr
    for complaint in complaints:
        assert complaint in ended.stderr
