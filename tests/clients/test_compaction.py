"""The same log, compacted by Apache Kafka and by us: batch for batch, and file for file, the same is left."""

from __future__ import annotations

import random
import shutil
import struct
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from barnabas.wire.batch import Record, build_batch, iterate_batches
from core_broker.log.config import LogConfig
from core_broker.log.partition_log import PartitionLog
from core_broker.log.producer_state import Origin
from tests.clients.confluent_client import ConfluentClient, create_topic
from tests.clients.java_client import JavaTools
from tests.clients.records import Record as ClientRecord
from tests.core_broker.log.batches import Clock, append, kill, open_log, read_all
from tests.core_broker.log.compacting import compact
from tests.core_broker.log.compaction_model import Batch, parse
from tests.oracle import ApacheKafka
from tests.waiting import wait_for

TOPIC = "compacted"
BATCHES = 500
SEGMENT_BYTES = 1024 * 1024  # the smallest that Kafka takes; segments are rolled much earlier here
DAY_MS = 86_400_000
MARK = "cleaner-offset-checkpoint"
CONFIG = LogConfig(segment_bytes=SEGMENT_BYTES, compacts=True, delete_retention_ms=DAY_MS)
EAGER = {"log.cleaner.backoff.ms": "50", "log.initial.task.delay.ms": "50", "log.segment.delete.delay.ms": "10"}
CLEANING_DEADLINE_S = 180.0
# Which codec writes which bytes is the codec's affair; what it inflates to is compared.
UNCOMPRESSED = 0


@pytest.fixture
def eager_kafka(java: Path, kafka_jars: Path, tmp_path: Path) -> Iterator[ApacheKafka]:
    kafka = ApacheKafka(tmp_path / "kafka", java, kafka_jars, EAGER)
    kafka.start()
    yield kafka
    if kafka.is_running():
        kafka.kill()


class Author:
    """Writes a log with tombstones, every codec, idempotent producers, transactions of either end, and many segments."""

    def __init__(self, log: PartitionLog, now_ms: int) -> None:
        self._log = log
        self._now_ms = now_ms
        self._dice = random.Random(43)
        self._epochs = dict.fromkeys(range(1000, 1005), 0)
        self._sequences = dict.fromkeys(self._epochs, 0)
        self._open: set[int] = set()

    def write(self) -> None:
        for _ in range(BATCHES):
            self._dice.choice((self._append, self._produce, self._produce, self._end))()
            if self._dice.random() < 0.02:
                self._log.roll()
        for producer_id in list(self._open):
            self._mark(producer_id)
        self._log.roll()
        append(self._log, build_batch([Record(0, self._now_ms, b"key", b"in the active segment")]))

    def _records(self) -> list[Record]:
        dice = self._dice
        return [
            Record(
                number,
                self._now_ms - dice.randrange(3_600_000),
                b"key %d" % dice.randrange(80) * dice.choice((1, 8)),
                None if dice.random() < 0.15 else dice.randbytes(dice.randrange(300)),
                dice.choice(((), (("name", b"value"), ("null", None)))),
            )
            for number in range(dice.randint(1, 5))
        ]

    def _append(self) -> None:
        own_time = self._now_ms if self._dice.random() < 0.2 else None
        append(self._log, build_batch(self._records(), compression=self._codec(), log_append_time=own_time))

    def _codec(self) -> int:
        return self._dice.choice((0, 0, 0, 0, 1, 2, 3, 4))

    def _produce(self) -> None:
        producer_id = self._dice.choice(list(self._epochs))
        records = self._records()
        data = build_batch(
            records,
            compression=self._codec(),
            producer_id=producer_id,
            producer_epoch=self._epochs[producer_id],
            base_sequence=self._sequences[producer_id],
            transactional=producer_id > 1000,
        )
        append(self._log, data)
        self._sequences[producer_id] += len(records)
        if producer_id > 1000:
            self._open.add(producer_id)

    def _end(self) -> None:
        if self._open:
            self._mark(self._dice.choice(sorted(self._open)))

    def _mark(self, producer_id: int) -> None:
        """End a transaction; for some producers, as transactions of the second version do, with the next epoch."""
        self._open.remove(producer_id)
        if producer_id > 1002:
            self._epochs[producer_id] += 1
            self._sequences[producer_id] = 0
        key, value = struct.pack(">hh", 0, self._dice.randrange(2)), struct.pack(">hi", 0, 0)
        data = build_batch(
            [Record(0, self._now_ms, key, value)],
            control=True,
            transactional=True,
            producer_id=producer_id,
            producer_epoch=self._epochs[producer_id],
        )
        append(self._log, data, origin=Origin.COORDINATOR)


def test_kafka_and_we_leave_the_same(eager_kafka: ApacheKafka, java_tools: JavaTools, tmp_path: Path) -> None:
    clock = Clock()
    clock.now_ms = time.time_ns() // 1_000_000  # Kafka forgets producers that have been silent for a day
    ours = tmp_path / "ours"
    log = open_log(ours, CONFIG, clock=clock)
    Author(log, clock.now_ms).write()
    end = log.active.base_offset
    log.close()
    let_kafka_compact(eager_kafka, ours, end)
    theirs = eager_kafka.log_dir / f"{TOPIC}-0"
    log = open_log(ours, CONFIG, clock=clock, clean=True)
    result = compact(log)
    assert result is not None
    assert result.end == end
    log.purge_deleted(clock.now_ms + DAY_MS)
    check_same(read_all(log), b"".join(path.read_bytes() for path in segments(theirs, ".log")), clock.now_ms)
    for suffix in (".log", ".snapshot", ".txnindex"):
        assert names(ours, suffix) == names(theirs, suffix)
    assert [path.read_bytes() for path in segments(ours, ".txnindex")] == [
        path.read_bytes() for path in segments(theirs, ".txnindex")
    ]
    log.close()
    check_with_kafkas_tool(java_tools, ours)
    kill(log)


def let_kafka_compact(kafka: ApacheKafka, folder: Path, end: int) -> None:
    configs = {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "segment.bytes": str(SEGMENT_BYTES),
        "delete.retention.ms": str(DAY_MS),
    }
    create_topic(kafka.address, TOPIC, configs=configs)
    ConfluentClient().produce(kafka.address, TOPIC, [ClientRecord(b"to be", b"replaced")])
    kafka.stop()
    target = kafka.log_dir / f"{TOPIC}-0"
    for path in target.iterdir():
        if path.name != "partition.metadata":
            path.unlink()
    for path in folder.iterdir():
        shutil.copy(path, target / path.name)
    kafka.start()
    mark = kafka.log_dir / MARK
    wait_for(
        lambda: mark.exists() and f"{TOPIC} 0 {end}" in mark.read_text().splitlines(),
        "Kafka's cleaner to finish",
        CLEANING_DEADLINE_S,
    )
    kafka.stop()


def check_same(ours: bytes, theirs: bytes, now_ms: int) -> None:
    found = parse(ours)
    assert [without_time(batch) for batch in found] == [without_time(batch) for batch in parse(theirs)]
    # The history has all that the rules tell apart.
    assert any(batch.horizon == now_ms + DAY_MS for batch in found)
    assert {batch.commits for batch in found} == {True, False, None}
    assert any(not batch.records for batch in found)
    assert {batch.codec for batch in found} == set(range(5))
    other = {header.base_offset: theirs[at : at + header.size_bytes] for at, header in iterate_batches(theirs)}
    compared = 0
    for at, header in iterate_batches(ours):
        if header.compression == UNCOMPRESSED and not header.has_delete_horizon:
            assert ours[at : at + header.size_bytes] == other[header.base_offset]
            compared += 1
    assert compared > 20


def without_time(batch: Batch) -> Batch:
    """The two compacted at different moments, and the horizon counts from there."""
    return replace(batch, horizon=None if batch.horizon is None else 0)


def check_with_kafkas_tool(java_tools: JavaTools, folder: Path) -> None:
    files = [path for suffix in (".log", ".index", ".timeindex") for path in segments(folder, suffix)]
    listed = ",".join(str(path) for path in files)

    def dump(option: str) -> str:
        printed = java_tools.run("org.apache.kafka.tools.DumpLogSegments", "--files", listed, option)
        for complaint in ("isvalid: false", "Mismatches in", "invalid bytes at the end", "Found timestamp mismatch"):
            assert complaint not in printed, printed
        return printed

    assert "isvalid: true" in dump("--deep-iteration")
    printed = dump("--index-sanity-check")
    assert printed.count("passed sanity check") + printed.count("is empty") == len(files) - len(names(folder, ".log"))


def segments(folder: Path, suffix: str) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix == suffix)


def names(folder: Path, suffix: str) -> list[str]:
    return [path.name for path in segments(folder, suffix)]
