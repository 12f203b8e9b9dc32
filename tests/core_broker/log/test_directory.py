"""The log directory: lock, identity, checkpoints, partitions that come and go."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core_broker.log.checkpoints import TopicPartition
from core_broker.log.config import LogConfig
from core_broker.log.directory import LogDirectory, LogDirectoryError
from core_broker.log.disk import Disk
from core_broker.log.meta_properties import decode_uuid, encode_uuid
from core_broker.log.partition_log import PartitionLog
from tests.core_broker.log.batches import START_MS, Clock, append, batch, kill, offsets, read_all, sync

TOPIC_ID = bytes(range(16))
PARTITION = TopicPartition("orders", 3)


def opened(path: Path, cluster_id: str | None = None) -> LogDirectory:
    return LogDirectory.open(path, Disk(), node_id=1, cluster_id=cluster_id)


def open_partition(directory: LogDirectory, partition: TopicPartition = PARTITION) -> PartitionLog:
    return directory.open_log(partition, LogConfig(), Clock(), topic_id=TOPIC_ID)


def test_a_new_directory_gets_an_identity_and_keeps_it(tmp_path: Path) -> None:
    first = opened(tmp_path / "data")
    text = (tmp_path / "data" / "meta.properties").read_text()
    assert text == f"#\ncluster.id={first.cluster_id}\ndirectory.id={first.directory_id}\nnode.id=1\nversion=1\n"
    assert len(decode_uuid(first.cluster_id)) == 16
    first.close()
    second = opened(tmp_path / "data")
    assert second.meta == first.meta


def test_kafkas_own_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text(
        "#\n#Mon Nov 16 03:14:00 UTC 2026\nnode.id=1\ndirectory.id=XpScDxO4Nlcmy9D2jWnOpg\nversion=1\n"
        "cluster.id=MkU3OEVBNTcwNTJENDM2Qg\n"
    )
    directory = opened(tmp_path)
    assert (directory.cluster_id, directory.directory_id) == ("MkU3OEVBNTcwNTJENDM2Qg", "XpScDxO4Nlcmy9D2jWnOpg")


def test_the_directory_of_another_node_or_cluster_is_refused(tmp_path: Path) -> None:
    opened(tmp_path, cluster_id="ours").close()
    with pytest.raises(LogDirectoryError, match="node 1 of cluster ours, but this is node 2"):
        LogDirectory.open(tmp_path, Disk(), node_id=2)
    with pytest.raises(LogDirectoryError, match="of cluster theirs"):
        opened(tmp_path, cluster_id="theirs")
    assert opened(tmp_path, cluster_id="ours").cluster_id == "ours"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("version=0\n", "its version is '0', and only 1 is known"),
        ("version=1\nnode.id=1\n", "cluster.id and directory.id missing"),
        ("", "it does not say its version, so it was cut off"),
    ],
)
def test_a_file_that_says_too_little_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "meta.properties").write_text(text)
    with pytest.raises(LogDirectoryError, match=rf"meta\.properties cannot be used: {reason}"):
        opened(tmp_path)


def test_a_directory_with_records_does_not_get_another_identity(tmp_path: Path) -> None:
    directory = opened(tmp_path)
    log = open_partition(directory)
    append(log, batch())
    directory.close_clean({PARTITION: log}, {})
    meta = (tmp_path / "meta.properties").read_bytes()
    (tmp_path / "meta.properties").unlink()
    with pytest.raises(
        LogDirectoryError, match=rf"meta\.properties is missing, but .* holds the records of {PARTITION}"
    ):
        opened(tmp_path)
    (tmp_path / "meta.properties").write_bytes(meta)
    assert opened(tmp_path).was_clean


def test_one_process_at_a_time(tmp_path: Path) -> None:
    first = opened(tmp_path)
    with pytest.raises(LogDirectoryError, match="in use"):
        opened(tmp_path)
    first.close()
    opened(tmp_path).close()


def test_a_clean_stop_is_known_once(tmp_path: Path) -> None:
    directory = opened(tmp_path)
    assert not directory.was_clean
    log = open_partition(directory)
    append(log, batch(5))
    directory.close_clean({PARTITION: log}, {PARTITION: 5}, broker_epoch=11)
    assert (tmp_path / ".kafka_cleanshutdown").read_text() == '{"version":0,"brokerEpoch":11}'
    assert (tmp_path / "recovery-point-offset-checkpoint").read_text() == "0\n1\norders 3 5\n"
    again = opened(tmp_path)
    assert again.was_clean
    assert not (tmp_path / ".kafka_cleanshutdown").exists()
    assert (again.recovery_points, again.high_watermarks) == ({PARTITION: 5}, {PARTITION: 5})
    assert offsets(read_all(open_partition(again))) == [0, 1, 2, 3, 4]
    again.close()
    assert not opened(tmp_path).was_clean


def test_a_crash_recovers_from_the_checkpoints(tmp_path: Path) -> None:
    directory = opened(tmp_path)
    log = open_partition(directory)
    append(log, batch(5))
    log.delete_records_before(2)
    sync(log)
    append(log, batch(2))
    directory.write_checkpoints({PARTITION: log}, {PARTITION: 5})
    directory.close()
    again = opened(tmp_path)
    assert again.recovery_points == {PARTITION: 5}
    assert again.log_start_offsets == {PARTITION: 2}
    recovered = open_partition(again)
    assert (recovered.log_start_offset, recovered.recovery_point, recovered.log_end_offset) == (2, 5, 7)


def test_the_topic_id_is_written_as_kafka_does(tmp_path: Path) -> None:
    directory = opened(tmp_path)
    open_partition(directory)
    text = (tmp_path / "orders-3" / "partition.metadata").read_text()
    assert text == f"version: 0\ntopic_id: {encode_uuid(TOPIC_ID)}"
    (folder,) = directory.partitions()
    assert (folder.partition, folder.path, folder.topic_id) == (PARTITION, tmp_path / "orders-3", TOPIC_ID)


def test_partitions_are_told_from_other_folders(tmp_path: Path) -> None:
    directory = opened(tmp_path)
    for name in ("a-0", "with-dash-12", "no_number", "x-1.0123-delete", "x-2.0123-stray", "x-y"):
        (tmp_path / name).mkdir()
    assert [str(folder.partition) for folder in directory.partitions()] == ["a-0", "with-dash-12"]
    assert directory.partitions()[0].topic_id is None
    assert directory.leftover_folders() == [tmp_path / "x-1.0123-delete"]


def test_a_deleted_log_moves_away_at_once_and_is_removed_later(tmp_path: Path) -> None:
    directory = opened(tmp_path)
    log = open_partition(directory)
    append(log, batch())
    directory.delete_log(PARTITION, log, remove_at_ms=START_MS + 1000)
    assert directory.partitions() == []
    (name,) = (path.name for path in tmp_path.iterdir() if path.is_dir())
    assert re.fullmatch(r"orders-3\.[0-9a-f]{32}-delete", name)
    assert directory.folders_to_remove(START_MS + 999) == []
    assert directory.folders_to_remove(START_MS + 1000) == [tmp_path / name]
    assert directory.folders_to_remove(START_MS + 1000) == []
    fresh = open_partition(directory)
    assert fresh.log_end_offset == 0


def test_a_topic_of_the_same_name_inherits_nothing_from_a_deleted_one(tmp_path: Path) -> None:
    directory = opened(tmp_path)
    log = open_partition(directory)
    append(log, batch(5))
    log.delete_records_before(2)
    sync(log)
    directory.write_checkpoints({PARTITION: log}, {PARTITION: 5})
    log.close()
    directory.delete_folder(PARTITION, remove_at_ms=0)
    assert len(directory.folders_to_remove(0)) == 1
    fresh = open_partition(directory)
    assert (fresh.log_start_offset, fresh.log_end_offset, fresh.recovery_point) == (0, 0, 0)


def test_checkpoints_keep_what_they_said_of_partitions_that_were_not_opened(tmp_path: Path) -> None:
    directory = opened(tmp_path)
    logs = {TopicPartition("t", number): open_partition(directory, TopicPartition("t", number)) for number in range(2)}
    for log in logs.values():
        append(log, batch(4))
    directory.close_clean(logs, dict.fromkeys(logs, 4))
    again = opened(tmp_path)
    one = TopicPartition("t", 1)
    again.close_clean({one: open_partition(again, one)}, {one: 4})
    third = opened(tmp_path)
    assert third.recovery_points == third.high_watermarks == dict.fromkeys(logs, 4)


def test_a_long_topic_name_gives_way_in_the_name_of_a_deleted_folder(tmp_path: Path) -> None:
    directory = opened(tmp_path)
    partition = TopicPartition("t" * 249, 10)
    directory.delete_log(partition, open_partition(directory, partition), remove_at_ms=0)
    (path,) = directory.folders_to_remove(0)
    assert len(path.name) == 255
    assert path.is_dir()


def test_a_stray_folder_is_set_aside(tmp_path: Path) -> None:
    directory = opened(tmp_path)
    open_partition(directory).close()
    target = directory.set_aside(directory.partitions()[0])
    assert re.fullmatch(r"orders-3\.[0-9a-f]{32}-stray", target.name)
    assert target.is_dir()
    assert directory.partitions() == []


def test_a_stop_that_fails_is_not_marked_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = opened(tmp_path)
    log = open_partition(directory)
    append(log, batch())

    def fail(self: Disk, descriptor: int) -> None:
        raise OSError(5, "broken")

    monkeypatch.setattr(Disk, "sync_filesystem", fail)
    with pytest.raises(OSError, match="broken"):
        directory.close_clean({PARTITION: log}, {})
    monkeypatch.undo()
    assert not opened(tmp_path).was_clean


def test_the_mark_of_the_cleaner_goes_back_with_a_log_that_was_cut_off(tmp_path: Path) -> None:
    mark = tmp_path / "cleaner-offset-checkpoint"
    directory = LogDirectory.open(tmp_path, Disk(), node_id=1)
    directory.cleaned_offsets.update({TopicPartition("short", 0): 20, TopicPartition("long", 3): 1})
    directory.write_cleaned_offsets()
    assert mark.read_text() == "0\n2\nshort 0 20\nlong 3 1\n"
    log = directory.open_log(TopicPartition("short", 0), LogConfig(), Clock())
    assert mark.read_text() == "0\n2\nshort 0 0\nlong 3 1\n"
    directory.close()
    kill(log)
