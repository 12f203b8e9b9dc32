"""Clients that die or stop reading hold nothing back."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.fetch import FetchResponse
from core_broker import server
from core_broker.log.segment import CLOSED
from tests.broker import BarnabasBroker
from tests.conftest import StartBroker
from tests.core_broker.broker_client import FETCH_VERSION, records_in, values
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.waiting import wait_for

LONG_WAIT_MS = 600_000
RECORD_BYTES = 500_000
RECORDS = 20
STUCK_CONSUMERS = 10
REQUESTS_OF_A_STUCK_CONSUMER = 10
GROWTH_MAX_MB = 40  # what they asked for is 1,000 MB


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[HostedBroker]:
    with HostedBroker(tmp_path / "logs") as running:
        yield running


def close(sock: socket.socket) -> None:
    sock.close()


def reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def hang_up_half(sock: socket.socket) -> None:
    sock.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("leave", [close, reset, hang_up_half])
def test_a_parked_fetch_goes_with_its_client(hosted: HostedBroker, leave: Callable[[socket.socket], None]) -> None:
    with AdminClient(hosted.address) as client, AdminClient(hosted.address) as consumer:
        client.create("topic")
        client.append("topic", b"a")
        partition = hosted.partition("topic")
        consumer.start_fetch("topic", 1, max_wait_ms=LONG_WAIT_MS)
        wait_for(lambda: hosted.look(lambda _: partition.watchers), "the fetch to be parked")
        leave(consumer.socket)
        wait_for(lambda: hosted.look(lambda _: not partition.watchers), "the fetch to be forgotten")
        assert client.append("topic", b"b") == 1


def test_many_clients_that_come_and_go_leave_nothing_behind(hosted: HostedBroker) -> None:
    with AdminClient(hosted.address) as client:
        client.create("topic")
        client.append("topic", b"a")
        partition = hosted.partition("topic")
        for _ in range(5):
            with ExitStack() as stack:
                for _ in range(30):
                    stack.enter_context(AdminClient(hosted.address)).start_fetch("topic", 1, max_wait_ms=LONG_WAIT_MS)
        wait_for(lambda: hosted.look(lambda _: not partition.watchers), "all fetches to be forgotten")
        assert client.append("topic", b"b") == 1


def resident_mb(broker: BarnabasBroker) -> float:
    with open(f"/proc/{broker.pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def fill(client: AdminClient) -> None:
    client.create("topic")
    for number in range(RECORDS):
        client.append("topic", b"%d:" % number + bytes(RECORD_BYTES))


def stop_reading(consumer: AdminClient, requests: int = REQUESTS_OF_A_STUCK_CONSUMER) -> None:
    for _ in range(requests):
        consumer.start_fetch("topic", 0, max_wait_ms=0)


def test_consumers_that_stop_reading_hold_no_memory(start_broker: StartBroker) -> None:
    broker = start_broker()
    with AdminClient(broker.address) as client, ExitStack() as stack:
        fill(client)
        assert len(client.read_all("topic")) == RECORDS
        before_mb = resident_mb(broker)
        stuck = [stack.enter_context(AdminClient(broker.address)) for _ in range(STUCK_CONSUMERS)]
        for consumer in stuck:
            stop_reading(consumer)
        assert len(client.read_all("topic")) == RECORDS, "others are served"
        assert resident_mb(broker) - before_mb < GROWTH_MAX_MB
        for consumer in stuck:
            for _ in range(REQUESTS_OF_A_STUCK_CONSUMER):
                _, answer = consumer.receive(FetchResponse, FETCH_VERSION)
                found = values(records_in(answer.responses[0].partitions[0]))
                assert [(value or b"")[:4] for value in found] == [
                    (b"%d:" % n + bytes(4))[:4] for n in range(len(found))
                ]


def test_a_deleted_topic_stays_readable_for_who_is_in_the_middle_of_an_answer(hosted: HostedBroker) -> None:
    with AdminClient(hosted.address) as client, AdminClient(hosted.address) as consumer:
        fill(client)
        log = hosted.partition("topic").log
        stop_reading(consumer, 1)
        wait_for(lambda: hosted.look(lambda _: log.active.pins), "the answer to be under way")
        assert client.delete("topic") == ErrorCode.NONE
        _, answer = consumer.receive(FetchResponse, FETCH_VERSION)
        found = records_in(answer.responses[0].partitions[0])
        assert [record.offset for record in found] == list(range(len(found)))
        assert len(found) > 1
    wait_for(lambda: hosted.look(lambda _: log.active.descriptor == CLOSED), "the file to be closed")


def test_a_consumer_that_reads_nothing_any_more_is_idle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connection ends although it has not taken its answers, and its place is free for another."""
    monkeypatch.setattr(server, "HOUSEKEEPING_INTERVAL_S", 0.05)
    with HostedBroker(tmp_path / "logs") as hosted, AdminClient(hosted.address) as client:
        fill(client)
    with (
        HostedBroker(tmp_path / "logs", {"max.connections.per.ip": 1, "connections.max.idle.ms": 300}) as hosted,
        AdminClient(hosted.address) as consumer,
    ):
        stop_reading(consumer)
        assert not is_served(hosted.address)
        wait_for(lambda: is_served(hosted.address), "the consumer to be given up")


def is_served(address: str) -> bool:
    try:
        with AdminClient(address) as client:
            return "topic" in client.topics()
    except ConnectionError:
        return False
