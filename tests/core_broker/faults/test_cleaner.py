"""The cleaner in a broker: which topics it compacts, what clients see of it, and what does not stop it."""

from __future__ import annotations

import asyncio
import errno
import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from barnabas.wire.batch import Record, build_batch, iterate_batches, iterate_records
from barnabas.wire.errors import ErrorCode
from core_broker.log.checkpoints import TopicPartition
from tests.core_broker.broker_client import now_ms
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.faulty_disk import FaultyDisk
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.core_broker.log.batches import Clock
from tests.waiting import wait_for

SEGMENT_BYTES = "400"
EARLIEST = -2
MINUTE_MS = 60_000
SLOW_BYTES_PER_S = 400
STOP_MAX_S = 30.0


class Tidy:
    """A broker with a clock that stands still, and its cleaner, set to work by hand."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.clock = Clock()
        self.clock.now_ms = now_ms()  # retention looks at the dates of files where there are no records
        self.disk = FaultyDisk()
        self.folder = folder
        # Nothing happens by itself.
        self._settings = {
            "log.cleaner.backoff.ms": 10**9,
            "log.retention.check.interval.ms": 10**9,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        self.start()

    def start(self) -> None:
        self.hosted = HostedBroker(self.folder, self._settings, disk=self.disk, clock_ms=self.clock)
        self.client = AdminClient(self.hosted.address)

    def stop(self) -> None:
        self.client.socket.close()
        self.hosted.stop()

    def create(self, topic: str, policy: str = "compact", **configs: object) -> None:
        given = {"internal_segment_bytes": SEGMENT_BYTES, "min_cleanable_dirty_ratio": "0.0", **configs}
        answer = self.client.try_create(topic, 1, cleanup_policy=policy, **given)
        assert answer.error_code == ErrorCode.NONE, answer.error_message

    def put(self, topic: str, *keys: str, value: bytes | None = b"x" * 50) -> None:
        for key in keys:
            data = build_batch([Record(0, self.clock.now_ms, key.encode(), value)])
            answer = self.client.produce(topic, data)
            assert answer.error_code == ErrorCode.NONE, answer.error_message

    def clean(self) -> None:
        self.hosted.run(self.hosted.broker.upkeep.clean())

    def offsets(self, topic: str) -> list[int]:
        """What a consumer that begins at the start meets."""
        found: list[int] = []
        offset = self.client.list_offset(topic, EARLIEST).offset
        while True:
            data = self.client.fetch(topic, offset)
            assert data.error_code == ErrorCode.NONE
            blob = data.records or b""
            for position, header in iterate_batches(blob):
                found += [record.offset for record in iterate_records(blob, position) if record.offset >= offset]
                offset = header.last_offset + 1
            if offset >= data.high_watermark:
                return found

    @property
    def checkpoint(self) -> list[str]:
        return (self.folder / "cleaner-offset-checkpoint").read_text().splitlines()

    def files(self, topic: str, ending: str) -> list[str]:
        return sorted(path.name for path in (self.folder / f"{topic}-0").iterdir() if path.name.endswith(ending))


@pytest.fixture
def tidy(tmp_path: Path) -> Iterator[Tidy]:
    made = Tidy(tmp_path / "logs")
    yield made
    made.stop()


def test_a_compacted_topic_keeps_the_last_record_of_each_key(tidy: Tidy) -> None:
    tidy.create("topic")
    tidy.put("topic", *"abcabcabcabc")
    assert len(tidy.files("topic", ".log")) == 4
    tidy.clean()
    assert tidy.offsets("topic") == [6, 7, 8, 9, 10, 11], "the active segment is as it was"
    assert tidy.checkpoint == ["0", "1", "topic 0 9"]
    assert tidy.hosted.broker.cleaner.statistics.rounds == 1
    for offset in range(12):
        first = next(iterate_batches(tidy.client.fetch("topic", offset).records or b""))[1]
        assert first.base_offset == max(offset, 6)
    assert tidy.client.list_offset("topic", tidy.clock.now_ms).offset == 6
    tidy.clean()
    assert tidy.hosted.broker.cleaner.statistics.rounds == 1, "nothing is dirty"
    tidy.stop()
    tidy.start()
    assert tidy.offsets("topic") == [6, 7, 8, 9, 10, 11]
    tidy.put("topic", *"aaaa")
    tidy.clean()
    assert tidy.offsets("topic") == [10, 11, 14, 15]
    assert tidy.checkpoint == ["0", "1", "topic 0 15"]


def test_replaced_files_go_after_their_time_and_with_a_restart(tidy: Tidy) -> None:
    tidy.create("topic", file_delete_delay_ms=MINUTE_MS)
    tidy.put("topic", *"aaaaaaaaaa")
    tidy.clean()
    assert tidy.files("topic", ".deleted")
    tidy.clock.now_ms += MINUTE_MS
    tidy.hosted.run(tidy.hosted.broker.upkeep.apply_retention())
    assert tidy.files("topic", ".deleted") == []
    tidy.put("topic", *"aaaaaaaaaa")
    tidy.clean()
    assert tidy.files("topic", ".deleted")
    tidy.stop()
    tidy.start()
    tidy.offsets("topic")
    assert tidy.files("topic", ".deleted") == []


def test_a_relaxed_topic_is_synced_before_it_is_compacted(tidy: Tidy) -> None:
    tidy.create("topic", durability="relaxed")
    tidy.put("topic", *"aaaaaaa")
    log = tidy.hosted.partition("topic").log
    assert log.recovery_point == 0
    tidy.clean()
    assert log.recorded_recovery_point == 7
    assert tidy.offsets("topic") == [5, 6]
    assert "topic 0 7" in (tidy.folder / "recovery-point-offset-checkpoint").read_text()


def test_the_policy_of_a_topic_can_change(tidy: Tidy) -> None:
    tidy.create("topic", "delete", retention_ms=MINUTE_MS)
    tidy.put("topic", *"aaaaaaa")
    tidy.clean()
    assert tidy.offsets("topic") == list(range(7))
    tidy.client.set_config("topic", "cleanup.policy", "compact")
    tidy.clean()
    assert tidy.offsets("topic") == [5, 6]
    tidy.client.set_config("topic", "cleanup.policy", "delete")
    tidy.put("topic", *"aaaaaaa")
    tidy.clean()
    assert tidy.offsets("topic") == [5, 6, 7, 8, 9, 10, 11, 12, 13]
    tidy.client.set_config("topic", "cleanup.policy", "compact,delete")
    tidy.clean()
    assert tidy.offsets("topic") == [11, 12, 13]
    tidy.clock.now_ms += 2 * MINUTE_MS
    tidy.hosted.run(tidy.hosted.broker.upkeep.apply_retention())
    assert tidy.client.list_offset("topic", EARLIEST).offset == 14
    tidy.put("topic", *"aaaa")
    tidy.clean()
    assert tidy.offsets("topic") == [16, 17], "the mark lay before the start of the log, so that is where it begins"


def test_the_dirtiest_log_is_compacted_first_and_clean_ones_wait(tidy: Tidy, caplog: pytest.LogCaptureFixture) -> None:
    for topic in ("dirty", "dirtier", "patient"):
        tidy.create(topic)
    tidy.put("dirty", *"abcdefghij")
    tidy.put("dirtier", *"abcdefghij")
    tidy.put("patient", *"abcdefghij")
    tidy.clean()
    tidy.client.set_config("patient", "min.cleanable.dirty.ratio", "0.9")
    tidy.put("dirty", *"aaa")
    tidy.put("dirtier", *"aaaaaaaaa")
    tidy.put("patient", *"aaa")
    cleaner = tidy.hosted.broker.cleaner
    with caplog.at_level(logging.INFO):
        tidy.clean()
    done = [record.getMessage().split()[1] for record in caplog.records if record.getMessage().startswith("compacted")]
    assert done == ["dirtier-0", "dirty-0"]
    assert 0 < cleaner.statistics.max_dirty_percent < 90, "of the patient one"
    assert len(tidy.offsets("patient")) == 13


def test_the_longest_lag_makes_a_clean_log_due(tidy: Tidy) -> None:
    tidy.create("topic", min_cleanable_dirty_ratio="1.0", max_compaction_lag_ms=MINUTE_MS)
    tidy.put("topic", *"aaaaaaa")
    tidy.clean()
    assert len(tidy.offsets("topic")) == 7
    tidy.clock.now_ms += MINUTE_MS + 1
    tidy.clean()
    assert tidy.offsets("topic") == [5, 6]


def test_a_log_that_cannot_be_compacted_does_not_stop_the_others(tidy: Tidy, caplog: pytest.LogCaptureFixture) -> None:
    tidy.create("bad")
    tidy.create("good", "compact")
    tidy.put("bad", *"aaaaaaaaaa")
    tidy.put("good", *"aaaaaaa")
    first = tidy.folder / "bad-0" / f"{0:020d}.log"
    data = bytearray(first.read_bytes())
    data[61] = 0x7F  # the size of the first record
    first.write_bytes(data)
    with caplog.at_level(logging.ERROR):
        tidy.clean()
    assert "cannot compact bad-0" in caplog.text
    statistics = tidy.hosted.broker.cleaner.statistics
    assert statistics.uncleanable == {TopicPartition("bad", 0)}
    assert tidy.offsets("good") == [5, 6]
    assert tidy.client.delete("bad") == ErrorCode.NONE
    tidy.clean()
    assert statistics.uncleanable == set()


def test_a_full_disk_puts_compaction_off(tidy: Tidy, caplog: pytest.LogCaptureFixture) -> None:
    tidy.create("topic")
    tidy.put("topic", *"aaaaaaa")
    tidy.disk.fail_at(".cleaned", errno.ENOSPC, "create")
    with caplog.at_level(logging.ERROR):
        tidy.clean()
    assert "tried again later" in caplog.text
    assert len(tidy.offsets("topic")) == 7
    tidy.disk.heal()
    tidy.clean()
    assert tidy.offsets("topic") == [5, 6]


def test_records_below_the_start_of_the_log_are_no_ones_concern(tidy: Tidy) -> None:
    tidy.create("topic", "compact,delete")
    tidy.put("topic", *"abcabcabcabc")
    tidy.clean()
    assert tidy.client.delete_records("topic", 7).error_code == ErrorCode.NONE
    assert tidy.offsets("topic") == [7, 8, 9, 10, 11]
    tidy.put("topic", *"bbbb")
    tidy.clean()
    assert tidy.offsets("topic") == [9, 11, 14, 15]


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    tidy = Tidy(tmp_path / "logs", log_cleaner_enable="false")
    tidy.create("topic")
    tidy.put("topic", *"aaaaaaa")
    tidy.clean()
    assert len(tidy.offsets("topic")) == 7
    tidy.stop()


def test_it_works_by_itself_with_several_threads(tmp_path: Path) -> None:
    tidy = Tidy(tmp_path / "logs", log_cleaner_threads=3, log_cleaner_backoff_ms=20)
    for number in range(5):
        tidy.create(f"topic{number}")
        tidy.put(f"topic{number}", *"aaaaaaa")
    for number in range(5):
        wait_for(lambda: len(tidy.offsets(f"topic{number}")) == 2, "the topic to be compacted")  # noqa: B023
    tidy.stop()


def begin_slow_round(tidy: Tidy, caplog: pytest.LogCaptureFixture) -> asyncio.Task[None]:
    """A round that would take minutes, since it may move few bytes a second."""
    tidy.create("topic")
    tidy.put("topic", *"aaaaaaaaaaaaaaaaaa")

    async def begin() -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(tidy.hosted.broker.upkeep.clean())

    caplog.set_level(logging.INFO)
    task = tidy.hosted.run(begin())
    segment = tidy.hosted.partition("topic").log.segments[0]
    wait_for(lambda: segment.pins > 0, "the round to read its first segment")
    return task


def test_a_stop_does_not_wait_for_a_round(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tidy = Tidy(tmp_path / "logs", log_cleaner_io_max_bytes_per_second=SLOW_BYTES_PER_S, log_cleaner_backoff_ms=1)
    tidy.create("topic")
    tidy.put("topic", *"aaaaaaaaaaaaaaaaaa")
    segment = tidy.hosted.partition("topic").log.segments[0]
    wait_for(lambda: segment.pins > 0, "the round to read its first segment")
    began = time.monotonic()
    tidy.stop()
    assert time.monotonic() - began < STOP_MAX_S
    tidy.start()
    assert len(tidy.offsets("topic")) == 18
    assert tidy.files("topic", ".cleaned") == []
    tidy.stop()


def test_a_topic_can_be_deleted_and_made_again_during_a_round(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tidy = Tidy(tmp_path / "logs", log_cleaner_io_max_bytes_per_second=SLOW_BYTES_PER_S)
    task = begin_slow_round(tidy, caplog)
    assert tidy.client.delete("topic") == ErrorCode.NONE
    tidy.create("topic")
    tidy.put("topic", *"ab")
    fast = replace(tidy.hosted.broker.cleaner.settings, io_bytes_per_second=1e12)
    tidy.hosted.look(lambda broker: broker.cleaner.configure(fast))
    wait_for(task.done, "the round to end")
    assert "gave up compacting topic-0" in caplog.text
    assert tidy.offsets("topic") == [0, 1]
    assert tidy.files("topic", ".cleaned") == []
    assert tidy.hosted.broker.cleaner.statistics.uncleanable == set()
    tidy.stop()
