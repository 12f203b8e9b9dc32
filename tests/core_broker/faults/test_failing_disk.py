"""A disk that refuses some calls: what it touches is refused with KAFKA_STORAGE_ERROR, the rest goes on, and it heals."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from barnabas.wire.batch import build_batch
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.fetch import FetchResponse
from barnabas.wire.messages.produce import ProduceResponse
from tests.core_broker.broker_client import FETCH_VERSION, PRODUCE_VERSION, produce_request, records, records_in, values
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.faulty_disk import FaultyDisk
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.core_broker.faults.power_cut_disk import PowerCutDisk
from tests.waiting import wait_for

LATEST = -1
LARGE = b"x" * 70_000  # written by the writer thread, not on the event loop
LONG_WAIT_MS = 15_000
ERRORS = pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO], ids=["full", "broken"])


@pytest.fixture
def disk() -> FaultyDisk:
    return FaultyDisk()


@pytest.fixture
def hosted(tmp_path: Path, disk: FaultyDisk) -> Iterator[HostedBroker]:
    with HostedBroker(tmp_path / "logs", disk=disk) as running:
        yield running
        disk.heal()


@pytest.fixture
def client(hosted: HostedBroker) -> Iterator[AdminClient]:
    """A client, and a topic `good` with a record beside a topic `bad` with another one."""
    with AdminClient(hosted.address) as made:
        for topic in ("good", "bad"):
            made.create(topic)
            made.append(topic, b"first")
        yield made


@ERRORS
@pytest.mark.parametrize("value", [b"small", LARGE], ids=["small", "large"])
@pytest.mark.parametrize("acks", [1, -1])
def test_a_write_that_fails_is_refused_and_leaves_no_trace(
    client: AdminClient, disk: FaultyDisk, error: int, value: bytes, acks: int
) -> None:
    disk.fail_at("bad-0", error, "pwrite", written=20)
    for _ in range(3):
        refused = client.produce("bad", build_batch(records(value)), acks=acks)
        assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert "bad-0" in (refused.error_message or "")
        assert values(client.read_all("bad")) == [b"first"]
    assert client.append("good", value) == 1
    disk.heal()
    assert client.append("bad", value) == 1
    assert values(client.read_all("bad")) == [b"first", value]


def test_a_producer_that_sends_again_after_a_failed_write_is_stored_once(client: AdminClient, disk: FaultyDisk) -> None:
    batches = [
        build_batch(records(b"%d" % number), producer_id=5, producer_epoch=0, base_sequence=number)
        for number in range(3)
    ]
    assert client.produce("bad", batches[0]).base_offset == 1
    disk.fail_at("bad-0", errno.EIO, "pwrite")
    assert client.produce("bad", batches[1]).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert client.produce("bad", batches[2]).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    disk.fail_at("bad-0", errno.EIO, "fdatasync")
    assert client.produce("bad", batches[1]).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    disk.heal()
    assert [client.produce("bad", batch).base_offset for batch in batches] == [1, 2, 3]
    assert values(client.read_all("bad")) == [b"first", b"0", b"1", b"2"]


def test_many_requests_in_flight_are_answered_in_order_while_the_disk_fails(
    client: AdminClient, disk: FaultyDisk
) -> None:
    def answers() -> list[int]:
        """What became of small and large batches, all sent before the first answer is read."""
        for number in range(20):
            batch = build_batch(records(LARGE if number % 3 == 0 else b"small"))
            client.send(produce_request({("bad", 0): batch}), PRODUCE_VERSION)
        found = [client.receive(ProduceResponse, PRODUCE_VERSION)[1] for _ in range(20)]
        return [answer.responses[0].partition_responses[0].error_code for answer in found]

    disk.fail_at("bad-0", errno.ENOSPC, "pwrite")
    assert answers() == [ErrorCode.KAFKA_STORAGE_ERROR] * 20
    disk.heal()
    assert answers() == [ErrorCode.NONE] * 20
    assert len(client.read_all("bad")) == 21


@ERRORS
def test_what_cannot_be_synced_is_neither_acknowledged_nor_shown(
    hosted: HostedBroker, client: AdminClient, disk: FaultyDisk, error: int
) -> None:
    with AdminClient(hosted.address) as consumer:
        consumer.start_fetch("bad", 1, max_wait_ms=LONG_WAIT_MS)
        disk.fail_at("bad-0", error, "fdatasync")
        refused = client.produce("bad", build_batch(records(b"second")))
        assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert refused.error_message
        client.send(produce_request({("bad", 0): build_batch(records(b"third"))}, acks=0), PRODUCE_VERSION)
        assert client.list_offset("bad", LATEST).offset == 1
        assert client.fetch("bad", 0).high_watermark == 1
        assert values(client.read_all("bad")) == [b"first"]
        assert client.append("good", b"second") == 1
        disk.heal()
        # Nobody produces any more: it finds out by itself.
        _, answer = consumer.receive(FetchResponse, FETCH_VERSION)
        data = answer.responses[0].partitions[0]
        assert values(records_in(data)) == [b"second", b"third"]
        assert data.high_watermark == 3
    assert values(client.read_all("bad")) == [b"first", b"second", b"third"]


@pytest.mark.parametrize("call", ["make_directory", "create", "open"])
@ERRORS
def test_a_partition_that_cannot_be_made_is_refused_and_made_later(
    hosted: HostedBroker, client: AdminClient, disk: FaultyDisk, call: str, error: int
) -> None:
    """Its files come into being with the first record."""
    assert client.try_create("late", 1).error_code == ErrorCode.NONE
    disk.fail_at("late-0", error, call)
    for acks in (1, -1):
        answer = client.produce("late", build_batch(records(b"a")), acks=acks)
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    disk.heal()
    assert client.append("late", b"a") == 0
    assert "topic_id: " in (hosted.log_dir / "late-0" / "partition.metadata").read_text()


def test_reads_of_what_the_disk_cannot_read_are_told_so(client: AdminClient, disk: FaultyDisk) -> None:
    disk.fail_at("bad-0", errno.EIO, "pread")
    assert client.fetch("bad", 0).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert values(client.read_all("good")) == [b"first"]
    disk.heal()
    assert values(client.read_all("bad")) == [b"first"]


@ERRORS
@pytest.mark.parametrize("call", ["pwrite", "fdatasync"])
def test_changes_of_the_cluster_happen_whole_or_not_at_all(
    tmp_path: Path, disk: FaultyDisk, error: int, call: str
) -> None:
    with HostedBroker(tmp_path / "logs", disk=disk) as broker, AdminClient(broker.address) as client:
        client.create("topic")
        topic_id = client.topics()["topic"].topic_id
        retention_ms = client.config("topic", "retention.ms")
        disk.fail_at("__cluster_metadata-0", error, call, written=30)
        refused = client.try_create("other", 3)
        assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert refused.error_message
        assert client.set_config("topic", "retention.ms", "1234567") == ErrorCode.KAFKA_STORAGE_ERROR
        assert client.delete("topic") == ErrorCode.KAFKA_STORAGE_ERROR
        assert client.init_producer_id().error_code != ErrorCode.NONE
        assert list(client.topics()) == ["topic"]
        assert client.config("topic", "retention.ms") == retention_ms
        assert client.append("topic", b"a") == 0, "records have nothing to do with it"
        disk.heal()
        assert client.set_config("topic", "retention.ms", "7654321") == ErrorCode.NONE
        assert client.try_create("other", 2).error_code == ErrorCode.NONE
        assert client.init_producer_id().error_code == ErrorCode.NONE
    with HostedBroker(tmp_path / "logs") as broker, AdminClient(broker.address) as client:
        assert sorted(client.topics()) == ["other", "topic"]
        assert len(client.topics()["other"].partitions) == 2
        assert client.topics()["topic"].topic_id == topic_id
        assert client.config("topic", "retention.ms") == "7654321"
        assert values(client.read_all("topic")) == [b"a"]


def test_a_topic_is_deleted_even_if_its_files_cannot_be_moved(client: AdminClient, disk: FaultyDisk) -> None:
    disk.fail_at("bad-0", errno.EIO, "rename")
    assert client.delete("bad") == ErrorCode.NONE
    assert list(client.topics()) == ["good"]
    assert client.produce("bad", build_batch(records(b"a"))).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    client.create("bad")
    assert client.produce("bad", build_batch(records(b"a"))).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    disk.heal()
    assert client.append("bad", b"of the new topic") == 0
    assert values(client.read_all("bad")) == [b"of the new topic"]


@pytest.mark.parametrize("rewritable", [True, False], ids=["can be written again", "cannot be written again"])
def test_pages_that_the_kernel_gave_up_are_written_again(tmp_path: Path, rewritable: bool) -> None:
    """After a failed fdatasync the kernel takes the pages for clean: the next one succeeds, and they are not on disk."""
    disk = PowerCutDisk(tmp_path / "logs", Random(1))
    with HostedBroker(tmp_path / "logs", disk=disk) as broker, AdminClient(broker.address) as client:
        client.create("topic")
        client.append("topic", b"first")
        disk.break_down("fdatasync", *([] if rewritable else ["pwrite"]))
        refused = client.produce("topic", build_batch(records(b"second")))
        assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        disk.repair()
        wait_for(lambda: client.list_offset("topic", LATEST).offset == 2, "the high watermark to move by itself")
        disk.stop_after(0)
        broker.die()
    disk.come_back(power_was_cut=True)
    with HostedBroker(tmp_path / "logs", disk=disk) as broker, AdminClient(broker.address) as client:
        assert values(client.read_all("topic")) == [b"first", b"second"]
