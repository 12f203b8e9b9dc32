"""Opening a log again: after a clean stop, after a crash, and with damaged files."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.log.config import LogConfig
from core_broker.log.disk import Disk
from core_broker.log.epochs import EpochStart
from core_broker.log.partition_log import PartitionLog
from core_broker.log.segment_walk import UnsupportedFormatError
from core_broker.log.transaction_index import AbortedTransaction
from tests.core_broker.log.batches import (
    START_MS,
    append,
    append_marker,
    batch,
    kill,
    offsets,
    open_log,
    read_all,
    sync,
)

FIRST = "00000000000000000000"
DENSE = LogConfig(index_interval_bytes=200)


class CountingDisk(Disk):
    """Counts how many bytes of record batches are read."""

    def __init__(self) -> None:
        self.bytes_read = 0

    def pread_into(self, descriptor: int, buffer: memoryview, position: int) -> int:
        filled = super().pread_into(descriptor, buffer, position)
        self.bytes_read += filled
        return filled


def fill(log: PartitionLog, count: int = 100) -> bytes:
    """Batches of three records with growing timestamps; everything that the log then holds."""
    for number in range(count):
        append(log, batch(3, size=20, timestamp=START_MS + 10 * number))
    return read_all(log)


def files(folder: Path, *suffixes: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in suffixes}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "topic-0"


def test_after_a_clean_stop_all_is_there_and_little_is_read(folder: Path) -> None:
    log = open_log(folder, DENSE)
    content = fill(log)
    log.assign_epoch(3)
    append(log, batch(producer_id=9, sequence=4))
    log.close()
    disk = CountingDisk()
    again = open_log(folder, DENSE, disk=disk, clean=True)
    assert disk.bytes_read < 1000
    assert (again.log_end_offset, again.recovery_point, again.leader_epoch) == (301, 301, 3)
    assert read_all(again).startswith(content)
    assert append(again, batch(producer_id=9, sequence=4)).duplicate
    assert append(again, batch(producer_id=9, sequence=5)).base_offset == 301


def test_a_clean_stop_and_start_changes_no_file(folder: Path) -> None:
    log = open_log(folder, DENSE)
    fill(log, 20)
    log.roll()
    fill(log, 20)
    log.close()
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    open_log(folder, DENSE, clean=True).close()
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before


def test_the_indexes_come_out_the_same_after_a_crash_as_after_a_clean_stop(folder: Path) -> None:
    log = open_log(folder, DENSE)
    for number in range(3):
        fill(log, 30)
        append(log, batch(2, producer_id=1, sequence=2 * number, transactional=True))
        append_marker(log, 1, commits=False)
        log.roll()
    fill(log, 10)
    log.close()
    expected = files(folder, ".index", ".timeindex", ".txnindex")
    for path in folder.iterdir():
        if path.suffix in (".index", ".timeindex", ".txnindex", ".snapshot"):
            path.unlink()
    open_log(folder, DENSE).close()
    assert files(folder, ".index", ".timeindex", ".txnindex") == expected
    assert sum(name.endswith(".txnindex") for name in expected) == 3


def test_a_killed_log_is_recovered_whole(folder: Path) -> None:
    log = open_log(folder, DENSE)
    content = fill(log)
    kill(log)
    again = open_log(folder, DENSE)
    assert read_all(again) == content
    assert again.recovery_point == 0
    sync(again)
    assert again.recovery_point == 300


@pytest.mark.parametrize("lost", [1, 30, 60, 61, 62, 150])
def test_a_torn_last_batch_is_cut_off(folder: Path, lost: int) -> None:
    log = open_log(folder, DENSE)
    content = fill(log)
    kill(log)
    path = folder / f"{FIRST}.log"
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(size - lost)
    again = open_log(folder, DENSE, recovery_point=150)
    batch_size = len(content) // 100
    kept = (size - lost) // batch_size
    assert again.log_end_offset == 3 * kept
    assert read_all(again) == content[: kept * batch_size]
    assert path.stat().st_size == kept * batch_size
    append(again, batch(1, timestamp=START_MS))
    assert offsets(read_all(again)) == list(range(3 * kept + 1))


@pytest.mark.parametrize(
    "damage",
    [
        lambda data, at: data[: at + 70] + bytes([data[at + 70] ^ 1]) + data[at + 71 :],
        lambda data, at: data[: at + 8] + bytes(8) + data[at + 16 :],
        lambda data, at: data[:at] + bytes(len(data) - at),
        lambda data, at: data[: at + 8] + b"\x7f\xff\xff\xff" + data[at + 12 :],
        lambda data, at: data[:at] + bytes(8) + data[at + 8 :],
    ],
    ids=["a changed bit", "length zero", "zeros to the end", "a length beyond the file", "an offset of the past"],
)
def test_the_log_ends_before_the_first_damaged_batch(folder: Path, damage: Callable[[bytes, int], bytes]) -> None:
    log = open_log(folder, DENSE)
    content = fill(log)
    kill(log)
    at = len(content) // 100 * 70
    (folder / f"{FIRST}.log").write_bytes(damage(content, at))
    again = open_log(folder, DENSE, recovery_point=200)
    assert again.log_end_offset == 210
    assert read_all(again) == content[:at]


def test_segments_after_a_damaged_one_are_removed(folder: Path) -> None:
    log = open_log(folder, DENSE)
    for _ in range(3):
        fill(log, 30)
        log.roll()
    kill(log)
    path = folder / f"{90:020d}.log"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    again = open_log(folder, DENSE)
    assert again.bases == [0, 90]
    assert 90 < again.log_end_offset < 180
    assert sorted({name.split(".")[0] for name in files(folder, ".log", ".index", ".timeindex", ".snapshot")}) == [
        FIRST,
        f"{90:020d}",
    ]
    assert offsets(read_all(again)) == list(range(again.log_end_offset))


def test_what_lies_below_the_recovery_point_is_not_verified(folder: Path) -> None:
    log = open_log(folder, DENSE)
    for _ in range(4):
        fill(log, 50)
        log.roll()
    fill(log, 50)
    sync(log)
    log.checkpoint()
    kill(log)
    whole = sum(path.stat().st_size for path in folder.glob("*.log"))
    disk = CountingDisk()
    again = open_log(folder, DENSE, disk=disk, recovery_point=700)
    assert again.log_end_offset == 750
    # The producers' state begins with the snapshot of the last segment, so only that one is read.
    assert disk.bytes_read <= whole // 5
    assert offsets(read_all(again)) == list(range(750))


def test_verification_begins_at_the_recovery_point_within_a_segment(folder: Path) -> None:
    """A changed bit below the recovery point stays unnoticed: nobody looked there."""
    log = open_log(folder, DENSE)
    content = fill(log)
    sync(log)
    log.checkpoint()
    kill(log)
    data = bytearray(content)
    data[70] ^= 1
    (folder / f"{FIRST}.log").write_bytes(data)
    assert open_log(folder, DENSE, recovery_point=280).log_end_offset == 300
    assert open_log(folder, DENSE, recovery_point=0).log_end_offset == 0


@pytest.mark.parametrize("suffix", ["index", "timeindex"])
@pytest.mark.parametrize(
    "damage",
    [
        None,
        lambda data: data[:-3],
        lambda data: data + bytes(240),
        lambda data: b"",
        lambda data: data[24:] + data[:24],
    ],
    ids=["missing", "torn", "zeros at the end", "empty", "out of order"],
)
@pytest.mark.parametrize("clean", [True, False])
def test_damaged_indexes_are_built_anew(
    folder: Path, suffix: str, damage: Callable[[bytes], bytes] | None, clean: bool
) -> None:
    log = open_log(folder, DENSE)
    fill(log, 40)
    log.roll()
    fill(log, 40)
    content = read_all(log)
    log.close()
    for path in list(folder.glob(f"*.{suffix}")):
        if damage is None:
            path.unlink()
        else:
            path.write_bytes(damage(path.read_bytes()))
    again = open_log(folder, DENSE, clean=clean, recovery_point=0 if clean else 200)
    assert read_all(again) == content
    for offset in range(0, 240, 7):
        assert offsets(again.read(offset, 1).data)[0] == offset // 3 * 3
    for number in (0, 5, 39):
        found = again.offset_for_timestamp(START_MS + 10 * number)
        assert found is not None
        assert found.offset == 3 * number


def test_an_index_of_other_batches_is_not_believed(folder: Path) -> None:
    log = open_log(folder, DENSE)
    content = fill(log)
    log.close()
    path = folder / f"{FIRST}.index"
    entries = struct.unpack(f">{path.stat().st_size // 4}i", path.read_bytes())
    path.write_bytes(struct.pack(f">{len(entries)}i", *(entry + 1 for entry in entries)))
    assert read_all(open_log(folder, DENSE, recovery_point=250)) == content


def test_a_damaged_transaction_index_is_built_anew(folder: Path) -> None:
    log = open_log(folder)
    append(log, batch(2, producer_id=1, transactional=True))
    log.roll()
    append_marker(log, 1, commits=False)
    log.roll()
    fill(log, 2)
    log.close()
    (folder / f"{2:020d}.txnindex").write_bytes(b"torn")
    again = open_log(folder, clean=True)
    assert again.aborted_transactions(0, 9) == [AbortedTransaction(1, 0, 2, 3)]


def test_producers_and_transactions_survive_a_crash(folder: Path) -> None:
    log = open_log(folder)
    append(log, batch(3, producer_id=1, sequence=0))
    append(log, batch(2, producer_id=2, sequence=0, transactional=True))
    log.roll()
    append(log, batch(2, producer_id=1, sequence=3))
    append(log, batch(1, producer_id=3, sequence=0, transactional=True))
    append_marker(log, 3, commits=False)
    kill(log)
    again = open_log(folder, recovery_point=6)
    assert append(again, batch(2, producer_id=1, sequence=3)).duplicate
    assert append(again, batch(1, producer_id=1, sequence=5)).base_offset == 9
    with pytest.raises(KafkaError) as caught:
        append(again, batch(1, producer_id=2, sequence=9, transactional=True))
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert again.last_stable_offset(10) == 3
    assert again.aborted_transactions(0, 10) == [AbortedTransaction(3, 7, 8, 3)]


def test_a_damaged_snapshot_gives_way_to_an_older_one_and_the_records(folder: Path) -> None:
    log = open_log(folder)
    append(log, batch(3, producer_id=1, sequence=0))
    log.roll()
    append(log, batch(3, producer_id=1, sequence=3))
    log.roll()
    append(log, batch(3, producer_id=1, sequence=6))
    log.close()
    for offset in (6, 9):
        path = folder / f"{offset:020d}.snapshot"
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    again = open_log(folder, recovery_point=8)
    assert append(again, batch(3, producer_id=1, sequence=6)).duplicate
    assert append(again, batch(3, producer_id=1, sequence=3)).duplicate
    assert append(again, batch(3, producer_id=1, sequence=9)).base_offset == 9


def test_expired_producers_are_not_taken_from_a_snapshot(folder: Path) -> None:
    log = open_log(folder)
    append(log, batch(producer_id=1, sequence=7, timestamp=START_MS - 100_000_000))
    log.close()
    assert append(open_log(folder, clean=True), batch(producer_id=1, sequence=3)).base_offset == 1


def test_leader_epochs_are_taken_from_the_records_where_the_file_is_missing(folder: Path) -> None:
    log = open_log(folder)
    for epoch in (0, 2, 5):
        log.assign_epoch(epoch)
        fill(log, 4)
    log.close()
    expected = (EpochStart(0, 0), EpochStart(2, 12), EpochStart(5, 24))
    for damage in (None, "nonsense"):
        path = folder / "leader-epoch-checkpoint"
        path.unlink() if damage is None else path.write_text(damage)
        again = open_log(folder, clean=True)
        assert again.epochs.entries == expected
        again.close()


def test_an_epoch_that_lost_its_records_is_forgotten(folder: Path) -> None:
    log = open_log(folder)
    fill(log, 4)
    log.assign_epoch(1)
    fill(log, 1)
    log.epochs.save()
    kill(log)
    path = folder / f"{FIRST}.log"
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1)
    again = open_log(folder, leader_epoch=2)
    assert again.epochs.entries == (EpochStart(0, 0), EpochStart(2, 12))


def test_files_left_from_an_interrupted_roll_do_no_harm(folder: Path) -> None:
    log = open_log(folder)
    content = fill(log, 5)
    kill(log)
    (folder / f"{15:020d}.log").touch()
    (folder / f"{15:020d}.snapshot").write_bytes(b"torn")
    (folder / f"{99:020d}.index").write_bytes(b"orphan")
    again = open_log(folder)
    assert (again.bases, again.log_end_offset) == ([0, 15], 15)
    assert read_all(again) == content
    assert append(again, batch()).base_offset == 15
    assert not (folder / f"{99:020d}.index").exists()


def test_the_start_offset_is_kept_and_a_log_below_it_begins_anew(folder: Path) -> None:
    log = open_log(folder)
    fill(log, 5)
    log.close()
    again = open_log(folder, clean=True, log_start_offset=7)
    assert again.log_start_offset == 7
    again.close()
    anew = open_log(folder, clean=True, log_start_offset=1000)
    assert (anew.log_start_offset, anew.log_end_offset, anew.size_bytes) == (1000, 1000, 0)
    assert append(anew, batch()).base_offset == 1000


def test_messages_of_an_old_format_are_not_taken_for_damage(folder: Path) -> None:
    folder.mkdir()
    body = struct.pack(">bbq", 1, 0, START_MS) + struct.pack(">i", -1) + struct.pack(">i", 60) + b"v" * 60
    message = struct.pack(">I", zlib.crc32(body)) + body
    path = folder / f"{FIRST}.log"
    path.write_bytes(struct.pack(">qi", 0, len(message)) + message)
    size = path.stat().st_size
    with pytest.raises(UnsupportedFormatError, match="format 1"):
        open_log(folder)
    assert path.stat().st_size == size


def test_a_batch_larger_than_the_reading_buffer_is_verified_piece_by_piece(folder: Path) -> None:
    log = open_log(folder)
    fill(log, 1)
    append(log, batch(1, size=9_000_000))
    append(log, batch(1, size=5_000_000))
    content = b"".join(path.read_bytes() for path in folder.glob("*.log"))
    kill(log)
    assert open_log(folder).log_end_offset == 5
    path = folder / f"{FIRST}.log"
    path.write_bytes(content[:8_000_000] + b"!" + content[8_000_001:])
    assert open_log(folder).log_end_offset == 3
