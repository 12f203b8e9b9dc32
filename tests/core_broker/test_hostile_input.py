"""Frames that no client sends: the connection ends, nobody else notices, and memory stays bounded."""

from __future__ import annotations

import random
import socket
import struct

import pytest

from barnabas.wire.frames import encode_request
from barnabas.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from barnabas.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from tests.broker import BrokerProcess
from tests.conftest import StartBroker
from tests.core_broker.wire_socket import WireSocket

SEED = 20260101
GROWTH_MAX_MB = 40


def resident_mb(broker: BrokerProcess) -> float:
    with open(f"/proc/{broker.pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def assert_serves(address: str) -> None:
    with WireSocket(address) as wire:
        wire.ask(MetadataRequest(topics=[]), MetadataResponse, 9)


@pytest.mark.parametrize("size", [-1, -(2**31), 2**31 - 1, 104857601])
def test_an_impossible_length_ends_the_connection(broker_address: str, size: int) -> None:
    with WireSocket(broker_address) as bystander, WireSocket(broker_address) as wire:
        bystander.send(MetadataRequest(topics=[]), 9)
        wire.socket.sendall(struct.pack(">i", size) + b"GET / HTTP/1.1\r\n\r\n")
        assert wire.is_closed_by_peer()
        bystander.receive(MetadataResponse, 9)
    assert_serves(broker_address)


def requests() -> list[bytes]:
    topic = FetchTopic(topic="t", partitions=[FetchPartition(partition=0, partition_max_bytes=1)])
    return [
        encode_request(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3, 1, "c"),
        encode_request(MetadataRequest(topics=[MetadataRequestTopic(name="x" * 40)]), 9, 1, "c"),
        encode_request(FetchRequest(max_wait_ms=0, min_bytes=0, topics=[topic]), 12, 1, "c"),
        encode_request(
            CreateTopicsRequest(topics=[CreatableTopic(name="y", num_partitions=1)], validate_only=True), 5, 1, "c"
        ),
        encode_request(
            ListOffsetsRequest(topics=[ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(timestamp=-1)])]),
            7,
            1,
            "c",
        ),
    ]


@pytest.mark.parametrize("number", range(5))
def test_a_request_cut_short_is_refused_wherever_it_is_cut(broker_address: str, number: int) -> None:
    whole = requests()[number][4:]
    for length in range(len(whole)):
        with WireSocket(broker_address) as wire:
            wire.socket.sendall(struct.pack(">i", length) + whole[:length])
            wire.socket.shutdown(socket.SHUT_WR)
            while wire.socket.recv(65536):
                pass  # a cut request may still be a whole one of another form; an answer is fine, a hang is not
    assert_serves(broker_address)


def test_random_bytes_in_valid_frames_do_no_harm(start_broker: StartBroker) -> None:
    broker = start_broker()
    assert_serves(broker.address)
    before_mb = resident_mb(broker)
    chance = random.Random(SEED)
    keys = [0, 1, 2, 3, 10, 18, 19, 20, 22, 23, 32, 37, 44, 60, 75]
    for _ in range(400):
        with WireSocket(broker.address) as wire:
            body = struct.pack(">hhih", chance.choice(keys), chance.randint(0, 14), 1, -1) + chance.randbytes(
                chance.randint(0, 300)
            )
            wire.socket.sendall(struct.pack(">i", len(body)) + body)
            wire.socket.shutdown(socket.SHUT_WR)
            while wire.socket.recv(65536):
                pass
    assert_serves(broker.address)
    assert resident_mb(broker) - before_mb < GROWTH_MAX_MB


def test_announced_lengths_reserve_no_memory(start_broker: StartBroker) -> None:
    broker = start_broker(socket_request_max_bytes=1_000_000)
    assert_serves(broker.address)
    before_mb = resident_mb(broker)
    # Arrays and strings that claim to hold millions of elements, in frames of a few bytes.
    for version in (0, 9):
        claims = struct.pack(">i", 2**31 - 1) if version < 9 else b"\xff\xff\xff\xff\x07"
        with WireSocket(broker.address) as wire:
            head = struct.pack(">hhih", 3, version, 1, -1) + (b"\0" if version >= 9 else b"")
            wire.socket.sendall(struct.pack(">i", len(head + claims)) + head + claims)
            assert wire.is_closed_by_peer()
    with WireSocket(broker.address) as wire:
        wire.socket.sendall(struct.pack(">i", 1_000_001))
        assert wire.is_closed_by_peer()
    assert resident_mb(broker) - before_mb < GROWTH_MAX_MB


def test_a_client_that_never_reads_is_not_served_without_bound(start_broker: StartBroker) -> None:
    broker = start_broker()
    with WireSocket(broker.address) as wire:
        topics = [
            CreatableTopic(name=f"topic-{number:040d}", num_partitions=20, replication_factor=1)
            for number in range(200)
        ]
        wire.send(CreateTopicsRequest(topics=topics, timeout_ms=30_000), 5)
        wire.receive_frame()
    before_mb = resident_mb(broker)
    with WireSocket(broker.address) as wire:
        wire.socket.settimeout(0.5)
        request = encode_request(MetadataRequest(topics=None), 9, 1, "greedy")
        with pytest.raises(TimeoutError):  # the broker stops reading, so that sending blocks
            wire.socket.sendall(request * (100_000_000 // len(request)))
        assert_serves(broker.address)
        assert resident_mb(broker) - before_mb < GROWTH_MAX_MB


def test_idle_connections_end(start_broker: StartBroker) -> None:
    broker = start_broker(connections_max_idle_ms=1_000)
    with WireSocket(broker.address) as idle:
        assert idle.is_closed_by_peer()


def test_connections_are_bounded(start_broker: StartBroker) -> None:
    broker = start_broker(max_connections=3)
    wires = [WireSocket(broker.address) for _ in range(3)]
    for wire in wires:
        wire.ask(ApiVersionsRequest(), ApiVersionsResponse, 0)
    with WireSocket(broker.address) as fourth:
        assert fourth.is_closed_by_peer()
    wires.pop().socket.close()
    for wire in wires:
        wire.ask(ApiVersionsRequest(), ApiVersionsResponse, 0)
        wire.socket.close()
