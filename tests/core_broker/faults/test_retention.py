"""Old records go: by age, by size, and by request. The clock is the test's, and so is the moment of each round of upkeep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from barnabas.wire.batch import build_batch
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.fetch import FetchResponse, PartitionData
from tests.core_broker.broker_client import FETCH_VERSION, records, values
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.core_broker.faults.power_cut_disk import PowerCutDisk
from tests.core_broker.log.batches import Clock
from tests.waiting import wait_for

EARLIEST, LATEST = -2, -1
MINUTE_MS = 60_000
LONG_WAIT_MS = 600_000
NEVER_ENOUGH_BYTES = 1_000_000_000
VALUE = b"x" * 100
SEGMENT_BYTES = 1000
"""Room for five records of this size."""


class Keeper:
    """A broker with a clock that stands still, and its upkeep, done by hand."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.disk = PowerCutDisk(folder, Random(1))
        self._folder = folder
        self.start()

    def start(self) -> None:
        self.hosted = HostedBroker(self._folder, disk=self.disk, clock_ms=self.clock)
        self.upkeep = self.hosted.broker.upkeep
        self.client = AdminClient(self.hosted.address)

    def stop(self) -> None:
        self.client.socket.close()
        self.hosted.stop()

    def crash(self) -> None:
        """The process dies, what it wrote stays."""
        self.client.socket.close()
        self.disk.stop_after(0)
        self.hosted.die()
        self.disk.come_back(power_was_cut=False)

    def append(self, count: int) -> None:
        for _ in range(count):
            batch = build_batch(records(VALUE, timestamp=self.clock.now_ms))
            assert self.client.produce("topic", batch).error_code == ErrorCode.NONE

    def retain(self) -> None:
        self.hosted.run(self.upkeep.apply_retention())

    @property
    def start_offset(self) -> int:
        return self.client.list_offset("topic", EARLIEST).offset

    def segment_files(self, ending: str = ".log") -> list[str]:
        return sorted(path.name for path in (self._folder / "topic-0").iterdir() if path.name.endswith(ending))


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    made = Keeper(tmp_path / "logs")
    yield made
    made.stop()


def parked_fetch(keeper: Keeper, consumer: AdminClient, offset: int) -> None:
    """A fetch that waits for more than there will ever be."""
    partition = keeper.hosted.partition("topic")
    consumer.start_fetch("topic", offset, max_wait_ms=LONG_WAIT_MS, min_bytes=NEVER_ENOUGH_BYTES)
    wait_for(lambda: keeper.hosted.look(lambda _: partition.watchers), "the fetch to be parked")


def answer_to(consumer: AdminClient) -> PartitionData:
    _, answer = consumer.receive(FetchResponse, FETCH_VERSION)
    return answer.responses[0].partitions[0]


def test_records_go_when_they_are_too_old(keeper: Keeper) -> None:
    keeper.client.create("topic", internal_segment_bytes=str(SEGMENT_BYTES), retention_ms=str(10 * MINUTE_MS))
    keeper.append(10)
    keeper.clock.now_ms += 9 * MINUTE_MS
    keeper.append(5)
    keeper.retain()
    assert keeper.start_offset == 0, "nothing is old enough"
    keeper.clock.now_ms += 2 * MINUTE_MS
    keeper.retain()
    assert keeper.start_offset == 10
    assert keeper.client.fetch("topic", 9).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    found = keeper.client.fetch("topic", 10)
    assert (found.error_code, found.log_start_offset, found.high_watermark) == (ErrorCode.NONE, 10, 15)
    keeper.clock.now_ms += 9 * MINUTE_MS
    keeper.retain()
    assert keeper.start_offset == 15, "of the active segment too"
    keeper.append(1)
    assert keeper.client.fetch("topic", 15).high_watermark == 16
    keeper.stop()
    keeper.start()
    assert keeper.start_offset == 15
    assert values(keeper.client.read_all("topic")) == [VALUE]


def test_records_that_nobody_asks_for_go_too(keeper: Keeper) -> None:
    """After a clean stop a log is opened when it is first used, and nobody uses this one."""
    keeper.client.create("topic", internal_segment_bytes=str(SEGMENT_BYTES), retention_ms=str(10 * MINUTE_MS))
    keeper.append(10)
    keeper.stop()
    keeper.clock.now_ms += 11 * MINUTE_MS
    keeper.start()
    keeper.retain()
    assert keeper.segment_files() == ["00000000000000000010.log"]
    assert keeper.start_offset == 10


def test_records_go_when_there_are_too_many(keeper: Keeper) -> None:
    keeper.client.create("topic", internal_segment_bytes=str(SEGMENT_BYTES), retention_bytes=str(2 * SEGMENT_BYTES))
    keeper.append(25)
    keeper.retain()
    assert 10 <= keeper.start_offset <= 20
    start = keeper.start_offset
    keeper.append(5)
    assert keeper.start_offset == start, "only upkeep deletes"
    keeper.retain()
    assert keeper.start_offset == start + 5


def test_files_of_deleted_segments_stay_for_a_while(keeper: Keeper) -> None:
    keeper.client.create(
        "topic",
        internal_segment_bytes=str(SEGMENT_BYTES),
        retention_ms=str(MINUTE_MS),
        file_delete_delay_ms=str(MINUTE_MS),
    )
    keeper.append(10)
    keeper.clock.now_ms += 2 * MINUTE_MS
    keeper.append(1)
    keeper.retain()
    assert keeper.segment_files() == [f"{10:020d}.log"]
    assert keeper.segment_files(".log.deleted") == [f"{0:020d}.log.deleted", f"{5:020d}.log.deleted"]
    keeper.clock.now_ms += MINUTE_MS - 1
    keeper.retain()
    assert keeper.segment_files(".deleted")
    keeper.clock.now_ms += 1
    keeper.retain()
    assert not keeper.segment_files(".deleted")


def test_a_fetch_that_waits_below_the_new_start_is_told(keeper: Keeper) -> None:
    keeper.client.create("topic", internal_segment_bytes=str(SEGMENT_BYTES), retention_ms=str(MINUTE_MS))
    keeper.append(10)
    keeper.clock.now_ms += 2 * MINUTE_MS
    with AdminClient(keeper.hosted.address) as consumer:
        parked_fetch(keeper, consumer, 3)
        keeper.retain()
        assert answer_to(consumer).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_records_are_deleted_by_request(keeper: Keeper) -> None:
    keeper.client.create("topic", internal_segment_bytes=str(SEGMENT_BYTES), file_delete_delay_ms="0")
    keeper.append(12)
    assert keeper.client.delete_records("topic", 13).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    with AdminClient(keeper.hosted.address) as low, AdminClient(keeper.hosted.address) as high:
        parked_fetch(keeper, low, 2)
        high.start_fetch("topic", 12, max_wait_ms=LONG_WAIT_MS)
        assert keeper.client.delete_records("topic", 7).low_watermark == 7
        assert answer_to(low).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        keeper.append(1)
        woken = answer_to(high)
        assert (woken.error_code, woken.log_start_offset, woken.high_watermark) == (ErrorCode.NONE, 7, 13)
    assert keeper.client.fetch("topic", 6).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert [record.offset for record in keeper.client.read_all("topic")] == list(range(7, 13))
    assert keeper.client.delete_records("topic", 3).low_watermark == 7, "it never goes back"
    keeper.retain()
    assert keeper.segment_files()[0] == f"{5:020d}.log", "the segment that holds the first record stays"
    assert keeper.client.delete_records("topic", LATEST).low_watermark == 13
    assert keeper.client.read_all("topic") == []


@pytest.mark.parametrize("way", ["stop", "crash"])
def test_the_start_outlives_the_broker(keeper: Keeper, way: str) -> None:
    keeper.client.create("topic", internal_segment_bytes=str(SEGMENT_BYTES))
    keeper.append(12)
    assert keeper.client.delete_records("topic", 7).low_watermark == 7
    if way == "stop":
        keeper.stop()
    else:
        keeper.hosted.run(keeper.upkeep.checkpoint())
        keeper.crash()
    keeper.start()
    assert keeper.start_offset == 7
    assert [record.offset for record in keeper.client.read_all("topic")] == list(range(7, 12))
    keeper.append(1)
    assert keeper.client.fetch("topic", 12).high_watermark == 13
