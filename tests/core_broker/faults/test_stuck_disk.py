"""A disk that does not answer: who needs it waits, everybody else is served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.wire.batch import build_batch
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from barnabas.wire.messages.produce import PartitionProduceResponse, ProduceRequest, ProduceResponse
from tests.core_broker.broker_client import PRODUCE_VERSION, produce_request, records, values
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.core_broker.faults.stuck_disk import StuckDisk
from tests.waiting import wait_for

LATEST = -1
SHORT_MS = 300
CHECKPOINT_INTERVAL_MS = 20
LARGE = b"x" * 100_000


@pytest.fixture
def disk() -> Iterator[StuckDisk]:
    made = StuckDisk()
    yield made
    made.let_go()


@pytest.fixture
def hosted(tmp_path: Path, disk: StuckDisk) -> Iterator[HostedBroker]:
    """It writes checkpoints all the time, which are a matter of the disk too."""
    settings = {"log.flush.offset.checkpoint.interval.ms": CHECKPOINT_INTERVAL_MS}
    with HostedBroker(tmp_path / "logs", settings, disk=disk) as running:
        yield running
        disk.let_go()


def batch(sequence: int) -> bytearray:
    return build_batch(records(b"%d" % sequence), producer_id=9, producer_epoch=0, base_sequence=sequence)


def with_timeout(topic: str, records: bytearray, timeout_ms: int) -> ProduceRequest:
    request = produce_request({(topic, 0): records})
    request.timeout_ms = timeout_ms
    return request


def result(answer: ProduceResponse) -> PartitionProduceResponse:
    return answer.responses[0].partition_responses[0]


@pytest.mark.parametrize("place", ["topic-0", ""], ids=["one partition", "everything"])
def test_a_sync_that_does_not_end_holds_up_nobody_else(hosted: HostedBroker, disk: StuckDisk, place: str) -> None:
    with AdminClient(hosted.address) as client, AdminClient(hosted.address) as other:
        client.create("topic")
        client.create("other", durability="relaxed")
        assert client.produce("topic", batch(0)).base_offset == 0
        disk.stick(place, "fdatasync")
        answer = client.ask(with_timeout("topic", batch(1), SHORT_MS), ProduceResponse, PRODUCE_VERSION)
        assert result(answer).error_code == ErrorCode.REQUEST_TIMED_OUT
        assert disk.waiting.is_set()
        for _ in range(20):
            assert sorted(other.topics()) == ["other", "topic"]
            assert values(other.read_all("topic")) == [b"0"]
            other.append("other", b"needs no sync")
            assert other.list_offset("topic", LATEST).offset == 1, "what is not durable was shown"
        disk.let_go()
        wait_for(lambda: other.list_offset("topic", LATEST).offset == 2, "the high watermark to follow the disk")
        assert client.produce("topic", batch(1)).base_offset == 1, "sent again, stored once"
        assert client.produce("topic", batch(2)).base_offset == 2
        assert len(other.read_all("other")) == 20


def test_requests_that_wait_for_a_sync_are_all_answered_when_it_ends(hosted: HostedBroker, disk: StuckDisk) -> None:
    with AdminClient(hosted.address) as client, AdminClient(hosted.address) as other:
        client.create("topic", partitions=2)
        client.append("topic", b"a")
        disk.stick("topic-", "fdatasync")
        for connection, partition in ((client, 0), (other, 1)):
            for _ in range(10):
                connection.send(produce_request({("topic", partition): build_batch(records(b"b"))}), PRODUCE_VERSION)
        assert disk.waiting.wait(90)
        disk.let_go()
        for connection, first in ((client, 1), (other, 0)):
            answers = [result(connection.receive(ProduceResponse, PRODUCE_VERSION)[1]) for _ in range(10)]
            assert [answer.base_offset for answer in answers] == list(range(first, first + 10))


def test_a_large_write_that_does_not_end_holds_up_its_partition_alone(hosted: HostedBroker, disk: StuckDisk) -> None:
    with AdminClient(hosted.address) as client, AdminClient(hosted.address) as other:
        for topic in ("topic", "other"):
            client.create(topic)
            client.append(topic, b"first")
        disk.stick("topic-0/00000000000000000000.log", "pwrite")
        client.send(produce_request({("topic", 0): build_batch(records(LARGE))}), PRODUCE_VERSION)
        assert disk.waiting.wait(90)
        for number in range(20):
            assert other.append("other", b"small") == number + 1
            assert values(other.read_all("topic")) == [b"first"]
        disk.let_go()
        assert result(client.receive(ProduceResponse, PRODUCE_VERSION)[1]).base_offset == 1
        assert values(other.read_all("topic")) == [b"first", LARGE]


def test_a_change_of_the_cluster_that_waits_for_the_disk_holds_up_no_records(
    hosted: HostedBroker, disk: StuckDisk
) -> None:
    with AdminClient(hosted.address) as client, AdminClient(hosted.address) as other:
        client.create("topic")
        client.append("topic", b"a")
        disk.stick("__cluster_metadata-0", "fdatasync")
        asked = CreatableTopic(name="late", num_partitions=1, replication_factor=1)
        client.send(CreateTopicsRequest(topics=[asked], timeout_ms=30_000), 7)
        assert disk.waiting.wait(90)
        assert list(other.topics()) == ["topic"]
        assert other.append("topic", b"b") == 1
        assert values(other.read_all("topic")) == [b"a", b"b"]
        disk.let_go()
        assert client.receive(CreateTopicsResponse, 7)[1].topics[0].error_code == ErrorCode.NONE
        assert sorted(other.topics()) == ["late", "topic"]
