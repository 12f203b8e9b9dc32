"""The power fails at a random moment: what was synced is there, and nothing torn is served."""

import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from barnabas.wire.batch import BatchHeader, parse_header
from core_broker.log.checkpoints import TopicPartition
from core_broker.log.config import LogConfig
from core_broker.log.directory import LogDirectory
from core_broker.log.disk import Disk
from core_broker.log.partition_log import PartitionLog
from core_broker.log.producer_state import Origin
from core_broker.log.transaction_index import AbortedTransaction
from tests.core_broker.log.batches import START_MS, Clock, append, batch, kill, marker, read_all, sync
from tests.core_broker.log.failing_disk import PowerCutDisk, PowerCutError

CUTS = 120
CALLS_MAX = 250
PARTITION = TopicPartition("topic", 0)
TOPIC_ID = bytes(16)


@dataclass
class Written:
    """What was appended, and how much of it was promised to last."""

    batches: list[bytes] = field(default_factory=list)
    last_offsets: list[int] = field(default_factory=list)
    aborted: list[AbortedTransaction] = field(default_factory=list)
    synced: int = 0
    sequence: int = 0
    transaction: int | None = None

    @property
    def end(self) -> int:
        return self.last_offsets[-1] + 1 if self.last_offsets else 0


class Broker:
    """Does at random what a broker does with one partition, until the lights go out."""

    def __init__(self, path: Path, disk: Disk, chance: random.Random) -> None:
        self._chance = chance
        self._config = LogConfig(segment_bytes=7000, index_interval_bytes=chance.choice([0, 300, 4096]))
        self._path = path
        self._disk = disk
        self._epoch = 0
        self.written = Written()
        self._start()

    def _start(self) -> None:
        self._directory = LogDirectory.open(self._path, self._disk, node_id=1, random_bytes=self._chance.randbytes)
        self._log = self._directory.open_log(
            PARTITION, self._config, Clock(), topic_id=TOPIC_ID, leader_epoch=self._epoch
        )

    def run(self) -> None:
        moves = [self._append, self._append, self._append, self._produce, self._end_transaction, self._sync, self._sync]
        while True:
            others = [self._checkpoint, self._new_epoch, self._roll, self._restart, self._delete]
            self._chance.choice([*moves, *moves, *others])()

    def _write(self, data: bytearray, origin: Origin = Origin.CLIENT) -> int:
        written = self.written
        header = parse_header(data)
        staged = self._log.stage(memoryview(data), header, now_ms=START_MS, origin=origin)
        # It may be on disk whole even if the power fails before anybody hears of it.
        written.batches.append(bytes(data))
        written.last_offsets.append(staged.last_offset)
        staged.write()
        self._log.publish(staged)
        return staged.base_offset

    def _append(self) -> None:
        size = self._chance.choice([0, 100, 600, 2000])
        self._write(batch(self._chance.randint(1, 3), size=size, timestamp=START_MS + self.written.end))

    def _produce(self) -> None:
        offset = self._write(batch(1, producer_id=1, sequence=self.written.sequence, transactional=True))
        self.written.sequence += 1
        if self.written.transaction is None:
            self.written.transaction = offset

    def _end_transaction(self) -> None:
        first, offset = self.written.transaction, self.written.end
        if first is None:
            return
        commits = self._chance.random() < 0.3
        if not commits:
            self.written.aborted.append(AbortedTransaction(1, first, offset, offset + 1))
        self.written.transaction = None
        self._write(marker(1, commits=commits), Origin.COORDINATOR)

    def _sync(self) -> None:
        sync(self._log)
        self.written.synced = self._log.recovery_point

    def _checkpoint(self) -> None:
        self._directory.write_checkpoints({PARTITION: self._log}, {PARTITION: self._log.recovery_point})

    def _new_epoch(self) -> None:
        self._epoch += 1
        self._log.assign_epoch(self._epoch)

    def _roll(self) -> None:
        if self._chance.random() < 0.3:
            self._log.roll()

    def _restart(self) -> None:
        if self._chance.random() < 0.5:
            self.release()
        else:
            self._directory.close_clean({PARTITION: self._log}, {PARTITION: self._log.log_end_offset})
            self.written.synced = self._log.log_end_offset
        self._start()
        assert self._log.log_end_offset == self.written.end

    def _delete(self) -> None:
        if self._chance.random() < 0.3:
            self._log.delete_records_before(self._chance.randint(self._log.log_start_offset, self._log.log_end_offset))
            self._log.apply_retention(START_MS, self._log.log_end_offset)
            self._log.purge_deleted(START_MS + self._chance.choice([0, 10**9]))

    def release(self) -> None:
        """The process is gone, and with it its lock."""
        kill(self._log)
        self._directory.close()


@pytest.mark.parametrize("cut", range(CUTS))
def test_nothing_that_was_synced_is_lost_and_nothing_torn_is_read(tmp_path: Path, cut: int) -> None:
    seed = random.randrange(2**32)
    try:
        play(tmp_path, seed)
    except BaseException as error:
        error.add_note(f"the seed was {seed}: play(tmp_path, {seed}) does the same again")
        raise


def test_indexes_that_a_recovery_has_rewritten_are_synced(tmp_path: Path) -> None:
    """The recovery point was where the next segment begins, and the second cut took the time index that the recovery had written."""
    play(tmp_path, 1748347421)


def play(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root = tmp_path / "before"
    root.mkdir()
    disk = PowerCutDisk(root, chance)
    broker = Broker(root / "data", disk, chance)
    disk.cut_after(chance.randrange(CALLS_MAX))
    with pytest.raises(PowerCutError):
        broker.run()
    disk.survive(tmp_path / "after")
    broker.release()
    check(tmp_path / "after" / "data", broker.written)


def check(path: Path, written: Written) -> None:
    directory = LogDirectory.open(path, Disk(), node_id=1)
    log = directory.open_log(PARTITION, LogConfig(index_interval_bytes=300), Clock(), topic_id=TOPIC_ID)
    start, end = log.log_start_offset, log.log_end_offset
    assert written.synced <= end <= written.end
    pairs = zip(written.batches, written.last_offsets, strict=True)
    kept = [(data, last) for data, last in pairs if start <= last < end]
    assert read_all(log) == b"".join(data for data, _ in kept)
    for data, last in kept:
        # The start of the log may go back to what was checkpointed; the epochs below it were forgotten all the same.
        if last >= log.epochs.entries[0].start_offset:
            assert log.epochs.epoch_of(last) == parse_header(data).leader_epoch
    aborted = [found for found in written.aborted if start <= found.last_offset < end]
    assert log.aborted_transactions(start, end) == aborted
    check_timestamps(log, [parse_header(data) for data, _ in kept])
    check_goes_on(log, [data for data, _ in kept])
    kill(log)
    directory.close()


def check_timestamps(log: PartitionLog, headers: list[BatchHeader]) -> None:
    """Each batch is found by its largest timestamp, or an earlier one that has it too."""
    for header in headers:
        found = log.offset_for_timestamp(header.max_timestamp)
        assert found is not None
        assert found.offset <= header.last_offset
        assert found.timestamp >= header.max_timestamp


def check_goes_on(log: PartitionLog, kept: list[bytes]) -> None:
    """The producer's state is that of its last batch, and the log takes more."""
    produced = [data for data in kept if parse_header(data).producer_id == 1 and not parse_header(data).is_control]
    if produced:
        assert append(log, bytearray(produced[-1])).duplicate
    end = log.log_end_offset
    assert append(log, batch(2)).base_offset == end
    sync(log)
    assert log.recovery_point == end + 2
