"""Kafka's own kafka-dump-log reads what the log writes, and has nothing to complain about."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from core_broker.log.config import LogConfig
from tests.core_broker.log.batches import START_MS, append, append_marker, batch, kill, open_log

TOOL = "org.apache.kafka.tools.DumpLogSegments"
TIMEOUT_S = 180
ABOUT_LOGGING = ("SLF4J", "log4j", "StatusLogger", "WARN")
CODECS = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
CONFIG = LogConfig(segment_bytes=30_000, index_interval_bytes=300)
SUFFIXES = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several segments with every codec, idempotent producers, transactions, gaps in time, and large records."""
    path = tmp_path_factory.mktemp("data") / "topic-0"
    log = open_log(path, CONFIG)
    sequences = [0, 0, 0]
    for number in range(120):
        log.assign_epoch(number // 50)
        append(log, batch(5, size=20, timestamp=START_MS + 7 * number, compression=number % 5))
        producer = number % 3
        transactional = producer == 2
        data = batch(3, producer_id=producer, sequence=sequences[producer], transactional=transactional)
        sequences[producer] += 3
        append(log, data)
        if transactional:
            append_marker(log, producer, commits=number % 2 == 0)
        if number % 40 == 0:
            append(log, batch(1, size=20_000, timestamp=START_MS))
    append(log, batch(3, producer_id=2, sequence=sequences[2], transactional=True))
    log.close()
    return path


def dump(java: Path, jars: Path, folder: Path, *options: str) -> str:
    files = sorted(str(path) for path in folder.iterdir() if path.suffix in SUFFIXES)
    command = [str(java), "-Xmx256M", "-cp", f"{jars}/*", TOOL, *options, "--files", ",".join(files)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert result.returncode == 0, result.stderr
    assert complaints(result.stderr) == []
    return result.stdout


def complaints(text: str) -> list[str]:
    """What the tool says, besides remarks on its own logging.

    Of each segment but the first, Kafka 4.3.0 says that offset -1 is followed by the segment's first: it begins to count at -1
    whatever the file. That is left out, and nothing else about offsets.
    """
    lines = [line for line in text.splitlines() if line and not any(word in line for word in ABOUT_LOGGING)]
    lines = [line for line in lines if not line.startswith("  -1 is followed by")]
    return [line for line, following in pairwise([*lines, ""]) if not is_empty_heading(line, following)]


def is_empty_heading(line: str, following: str) -> bool:
    return line.startswith("Non-consecutive offsets in") and not following.startswith(" ")


def test_all_records_are_read(java: Path, kafka_jars: Path, folder: Path) -> None:
    text = dump(java, kafka_jars, folder, "--deep-iteration", "--print-data-log")
    assert "Log starting offset: 0" in text
    for codec in CODECS.values():
        assert f"compresscodec: {codec}" in text
    assert "isvalid: false" not in text
    assert "endTxnMarker: ABORT" in text
    assert "endTxnMarker: COMMIT" in text
    assert "partitionLeaderEpoch: 2" in text
    offsets = [int(line.split()[2]) for line in text.splitlines() if line.startswith("| offset:")]
    assert offsets == list(range(len(offsets)))
    assert len(offsets) > 1000


def test_producers_and_aborted_transactions_are_read(java: Path, kafka_jars: Path, folder: Path) -> None:
    text = dump(java, kafka_jars, folder)
    last = [line for line in text.splitlines() if line.startswith("producerId: 2 ")][-1]
    assert "currentTxnFirstOffset: OptionalLong[" in last
    assert "firstSequence: 120 lastSequence: 122" in last
    assert sum("lastStableOffset" in line for line in text.splitlines()) == 20


@pytest.mark.parametrize("option", ["--index-sanity-check", "--verify-index-only"])
def test_the_indexes_are_right(java: Path, kafka_jars: Path, folder: Path, option: str) -> None:
    text = dump(java, kafka_jars, folder, option)
    if option == "--index-sanity-check":
        indexes = [path for path in folder.iterdir() if path.suffix in (".index", ".timeindex")]
        assert text.count("passed sanity check.") == len(indexes) > 4


def test_the_indexes_are_right_after_a_recovery(java: Path, kafka_jars: Path, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "topic-0"
    copy.mkdir()
    for path in folder.iterdir():
        if path.suffix == ".log":
            (copy / path.name).write_bytes(path.read_bytes())
    log = open_log(copy, CONFIG)
    log.close()
    dump(java, kafka_jars, copy, "--verify-index-only")
    kill(log)
