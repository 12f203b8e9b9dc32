"""The metadata log: durable, replayed at start, unchanged by a failing disk."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.cluster_metadata import ConfigRecord, PartitionRecord, TopicRecord
from barnabas.wire.struct import Message
from core_broker.context import Listener
from core_broker.log.disk import Bytes, Disk, FilePath
from core_broker.metadata.image import ResourceType
from core_broker.metadata.replay import MetadataError
from core_broker.metadata.snapshot import newest
from core_broker.metadata.store import DIRECTORY_NAME, MetadataStore
from core_broker.metadata.topics import Node, partition_record

NODE = Node(1, b"d" * 16)
LISTENER = Listener("PLAINTEXT", "127.0.0.1", 9092, "broker.example", 19092)
NOW_MS = 1_700_000_000_000
DEADLINE_S = 90


class FailingDisk(Disk):
    """Fails as told: `fails` is asked before each call, by its name."""

    def __init__(self) -> None:
        self.fails: Callable[[str], bool] = lambda call: False

    def _check(self, call: str) -> None:
        if self.fails(call):
            raise OSError(errno.ENOSPC, "No space left on device")

    def pwrite(self, descriptor: int, data: Bytes, position: int) -> None:
        self._check("pwrite")
        super().pwrite(descriptor, data, position)

    def fdatasync(self, descriptor: int) -> None:
        self._check("fdatasync")
        super().fdatasync(descriptor)


def opened(path: Path, disk: Disk | None = None, snapshot_after_bytes: int = 1 << 30) -> MetadataStore:
    return MetadataStore.open(
        path, NODE, disk=disk or Disk(), clock_ms=lambda: NOW_MS, snapshot_after_bytes=snapshot_after_bytes
    )


def begun(path: Path, disk: Disk | None = None, *, unclean: bool = False) -> MetadataStore:
    store = opened(path, disk)
    store.begin([LISTENER], "rack", unclean=unclean)
    return store


def log_file(path: Path) -> Path:
    (found,) = (path / DIRECTORY_NAME).glob("*.log")
    return found


def topic(name: str, partitions: int = 1) -> list[Message]:
    topic_id = name.encode().ljust(16, b"\0")
    return [
        TopicRecord(name=name, topic_id=topic_id),
        *(partition_record(NODE, topic_id, index) for index in range(partitions)),
    ]


def config(value: str) -> ConfigRecord:
    return ConfigRecord(resource_type=ResourceType.TOPIC, resource_name="t", name="retention.ms", value=value)


def test_a_new_log_begins_with_the_registration(tmp_path: Path) -> None:
    store = begun(tmp_path)
    assert store.image.features == {"metadata.version": 30, "group.version": 1, "transaction.version": 2}
    # As on a new cluster of Apache Kafka, where every topic shows it as set for all brokers.
    assert store.image.config(ResourceType.BROKER, "") == {"min.insync.replicas": "1"}
    broker = store.image.brokers[1]
    assert (broker.rack, broker.directories) == ("rack", (NODE.directory_id,))
    assert [(point.host, point.port) for point in broker.endpoints] == [("broker.example", 19092)]
    assert broker.epoch == store.broker_epoch == store.image.offset
    identity = (tmp_path / DIRECTORY_NAME / "partition.metadata").read_text()
    assert identity == "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"


def test_a_start_finds_what_was_there(tmp_path: Path) -> None:
    store = begun(tmp_path)
    store.append(topic("t", 3))
    store.append([config("5")])
    store.close()
    assert opened(tmp_path).image == store.image


def test_a_start_after_a_crash_finds_what_was_there(tmp_path: Path) -> None:
    store = begun(tmp_path)
    store.append(topic("t"))
    # Nothing was closed.
    assert opened(tmp_path).image == store.image


def test_each_start_opens_a_new_epoch_and_registers_anew(tmp_path: Path) -> None:
    first = begun(tmp_path)
    first.close()
    second = begun(tmp_path)
    assert (first.image.epoch, second.image.epoch) == (1, 2)
    assert second.broker_epoch > first.broker_epoch
    assert second.image.brokers[1].incarnation_id != first.image.brokers[1].incarnation_id


@pytest.mark.parametrize(("unclean", "epochs"), [(False, [0, 0]), (True, [1, 1])])
def test_leader_epochs_rise_after_an_unclean_stop_alone(tmp_path: Path, unclean: bool, epochs: list[int]) -> None:
    store = begun(tmp_path)
    store.append(topic("t", 2))
    store.close()
    store = begun(tmp_path, unclean=unclean)
    assert [partition.leader_epoch for partition in store.image.topics["t"].partitions] == epochs
    assert opened(tmp_path).image == store.image


@pytest.mark.parametrize("call", ["pwrite", "fdatasync"])
def test_a_failing_disk_changes_nothing_and_heals(tmp_path: Path, call: str) -> None:
    disk = FailingDisk()
    store = begun(tmp_path, disk)
    store.append(topic("t"))
    before = store.image
    disk.fails = lambda name: name == call
    with pytest.raises(KafkaError) as caught:
        store.append(topic("u"))
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert "No space left on device" in caught.value.message
    assert store.image is before
    disk.fails = lambda name: False
    store.append(topic("v"))
    assert set(store.image.topics) == {"t", "v"}
    assert opened(tmp_path).image == store.image


@pytest.mark.parametrize("call", ["pwrite", "fdatasync"])
def test_the_same_off_the_loop(tmp_path: Path, call: str) -> None:
    disk = FailingDisk()
    store = begun(tmp_path, disk)
    disk.fails = lambda name: name == call
    with pytest.raises(KafkaError, match="KAFKA_STORAGE_ERROR"):
        asyncio.run(store.append_off_loop(topic("t")))
    disk.fails = lambda name: False
    asyncio.run(store.append_off_loop(topic("u")))
    assert set(store.image.topics) == {"u"}
    assert opened(tmp_path).image == store.image


def test_a_change_that_is_under_way_when_the_broker_stops_ends_first(tmp_path: Path) -> None:
    writing, go_on = threading.Event(), threading.Event()

    class SlowDisk(Disk):
        slow = False

        def fdatasync(self, descriptor: int) -> None:
            if self.slow:
                writing.set()
                assert go_on.wait(DEADLINE_S)
            super().fdatasync(descriptor)

    disk = SlowDisk()
    store = begun(tmp_path, disk)
    disk.slow = True

    async def stop_meanwhile() -> None:
        change = asyncio.ensure_future(store.append_off_loop(topic("t")))
        await asyncio.to_thread(writing.wait, DEADLINE_S)
        change.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await change

    asyncio.run(stop_meanwhile())
    store.close()
    assert set(store.image.topics) == {"t"}
    assert opened(tmp_path).image == store.image


def test_records_that_do_not_fit_the_image_are_not_written(tmp_path: Path) -> None:
    store = begun(tmp_path)
    before = store.image
    with pytest.raises(MetadataError):
        store.append([PartitionRecord(partition_id=0, topic_id=b"x" * 16)])
    assert store.image is before
    store.append(topic("t"))
    assert opened(tmp_path).image == store.image


def test_no_records_are_no_change(tmp_path: Path) -> None:
    store = begun(tmp_path)
    before = store.image
    store.append([])
    asyncio.run(store.append_off_loop([]))
    assert store.image is before


def files(path: Path) -> list[str]:
    return sorted(file.name for file in (path / DIRECTORY_NAME).iterdir())


def test_a_snapshot_replaces_the_log_below_it(tmp_path: Path) -> None:
    store = begun(tmp_path)
    store.append(topic("t", 2))
    store.snapshot()
    end = store.image.offset + 1
    assert [name for name in files(tmp_path) if name.endswith((".log", ".checkpoint"))] == [
        f"{end:020}-0000000001.checkpoint",
        f"{end:020}.log",
    ]
    store.append([config("5")])
    assert opened(tmp_path).image == store.image
    store.snapshot()
    assert len(newest(files(tmp_path))) == 1
    assert opened(tmp_path).image == store.image


def test_a_snapshot_is_taken_when_the_log_has_grown(tmp_path: Path) -> None:
    begun(tmp_path).close()
    store = opened(tmp_path, snapshot_after_bytes=2000)
    store.begin([LISTENER], None, unclean=False)

    async def change() -> None:
        for number in range(60):
            await store.append_off_loop(topic(f"t{number}"))

    asyncio.run(change())
    assert newest(files(tmp_path))
    assert sum(file.stat().st_size for file in (tmp_path / DIRECTORY_NAME).glob("*.log")) < 4000
    assert opened(tmp_path).image == store.image


def test_a_snapshot_that_cannot_be_written_leaves_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    disk = FailingDisk()
    store = begun(tmp_path, disk)
    store._snapshot_after_bytes = 1
    writes = iter(range(100))
    disk.fails = lambda name: name == "pwrite" and next(writes) > 0
    asyncio.run(store.append_off_loop(topic("t")))
    assert "cannot write a snapshot" in caplog.text
    assert opened(tmp_path).image == store.image


def test_a_damaged_snapshot_is_passed_over_while_the_log_is_whole(tmp_path: Path) -> None:
    store = begun(tmp_path)
    store.append(topic("t"))
    broken = tmp_path / DIRECTORY_NAME / "00000000000000000002-0000000001.checkpoint"
    broken.write_bytes(b"not a snapshot")
    assert opened(tmp_path).image == store.image


def test_a_torn_tail_is_cut_off(tmp_path: Path) -> None:
    store = begun(tmp_path)
    store.append(topic("t"))
    kept = store.image
    store.append(topic("u"))
    log_file(tmp_path).write_bytes(log_file(tmp_path).read_bytes()[:-3])
    found = opened(tmp_path)
    assert found.image == kept
    found.begin([LISTENER], None, unclean=True)
    assert opened(tmp_path).image == found.image


def test_a_tail_of_zeros_is_cut_off(tmp_path: Path) -> None:
    """A file may have been made longer, when the power fails, and its bytes not be there yet."""
    store = begun(tmp_path)
    store.append(topic("t"))
    kept = store.image
    size = log_file(tmp_path).stat().st_size
    store.append(topic("u"))
    whole = log_file(tmp_path).read_bytes()
    log_file(tmp_path).write_bytes(whole[:size] + bytes(len(whole) - size))
    assert opened(tmp_path).image == kept


@pytest.mark.parametrize("damage", [b"\xff\xff\xff\xff", bytes(61)], ids=["a few bytes", "a whole header"])
def test_damage_in_the_middle_is_refused_and_nothing_is_cut_off(tmp_path: Path, damage: bytes) -> None:
    store = begun(tmp_path)
    place = log_file(tmp_path).stat().st_size
    for name in "tuv":
        store.append(topic(name))
    whole = log_file(tmp_path).read_bytes()
    damaged = whole[:place] + damage + whole[place + len(damage) :]
    log_file(tmp_path).write_bytes(damaged)
    with pytest.raises(MetadataError, match=rf"damaged at byte {place} of {len(whole)}, and there are sound records"):
        opened(tmp_path)
    assert log_file(tmp_path).read_bytes() == damaged
    log_file(tmp_path).write_bytes(whole)
    assert opened(tmp_path).image == store.image


def test_a_damaged_segment_before_others_is_refused(tmp_path: Path) -> None:
    store = begun(tmp_path)
    first = log_file(tmp_path)
    store._log.roll()
    store.append(topic("t"))
    first.write_bytes(first.read_bytes()[:-3])
    with pytest.raises(MetadataError, match="sound records behind it"):
        opened(tmp_path)


def test_a_log_without_the_snapshot_before_it_is_refused(tmp_path: Path) -> None:
    store = begun(tmp_path)
    store.append(topic("t"))
    store.snapshot()
    store.append([config("5")])
    (snapshot,) = (tmp_path / DIRECTORY_NAME).glob("*.checkpoint")
    snapshot.write_bytes(b"not a snapshot")
    with pytest.raises(MetadataError, match="no snapshot that can be read, and its log begins at offset"):
        opened(tmp_path)


def test_ids_are_random_uuids_of_version_4(tmp_path: Path) -> None:
    store = begun(tmp_path)
    ids = {store.new_uuid() for _ in range(100)}
    assert len(ids) == 100
    assert all(raw[6] >> 4 == 4 and raw[8] >> 6 == 2 and len(raw) == 16 for raw in ids)


def test_a_change_whose_file_names_are_not_synced_is_refused_and_stands(tmp_path: Path) -> None:
    disk = FailingDisk()
    store = begun(tmp_path, disk)
    store.snapshot()  # the next change begins a segment whose name no sync has seen
    syncs = iter([False, True])
    disk.fails = lambda call: call == "fdatasync" and next(syncs, False)
    with pytest.raises(KafkaError, match="a power cut may undo it") as refused:
        store.append([ConfigRecord(resource_type=ResourceType.TOPIC, resource_name="a", name="n", value="1")])
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    store.append([ConfigRecord(resource_type=ResourceType.TOPIC, resource_name="b", name="n", value="2")])
    assert [resource.name for resource in store.image.configs] == ["", "a", "b"]
    store.close()
    assert opened(tmp_path).image.configs == store.image.configs


def test_a_round_that_cannot_begin_leaves_nothing_behind(tmp_path: Path) -> None:
    disk = FailingDisk()
    store = begun(tmp_path, disk)
    store.snapshot()
    real_open, refused = disk.open_directory, [True]

    def open_directory(path: FilePath) -> int:
        if refused.pop() if refused else False:
            raise OSError(errno.EMFILE, "Too many open files")
        return real_open(path)

    disk.open_directory = open_directory  # type: ignore[method-assign]
    with pytest.raises(KafkaError, match="Too many open files"):
        store.append([ConfigRecord(resource_type=ResourceType.TOPIC, resource_name="a", name="n", value="1")])
    store.append([ConfigRecord(resource_type=ResourceType.TOPIC, resource_name="b", name="n", value="2")])
    store.close()
    assert opened(tmp_path).image.configs == store.image.configs
