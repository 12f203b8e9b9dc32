"""A backup of a broker that goes on: what was acknowledged before is in it, logs are prefixes, transactions are whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from barnabas.backup.restoring import restore
from barnabas.backup.taking import HOLDING_FOLDER, take
from tests.backup.load import (
    DEADLINE_S,
    GROUP,
    KEYED,
    KEYS,
    PAIRED,
    STEADY,
    Load,
    Records,
    end_transactions,
    records,
)
from tests.broker import QUICK_GROUPS, BarnabasBroker
from tests.waiting import wait_for

SETTINGS = {
    **QUICK_GROUPS,
    "log.cleaner.backoff.ms": "50",
    "log.flush.offset.checkpoint.interval.ms": "200",
    "log.segment.delete.delay.ms": "100",
}
BACKUPS = 3


@dataclass(frozen=True, slots=True)
class Taken:
    """A backup, and what was acknowledged when it began."""

    folder: Path
    steady: Records
    keyed: Records
    pairs: int


def has_written(load: Load, enough: int) -> bool:
    return load.committed > enough and load.pairs > enough // 40


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Load, list[Taken]]]:
    """Backups under load, each after some more was written."""
    home = tmp_path_factory.mktemp("running")
    broker = BarnabasBroker(home, settings=SETTINGS)
    broker.start()
    try:
        load = Load(broker.address)
        taken: list[Taken] = []
        with load.running():
            for number in range(BACKUPS):
                enough = 400 * (number + 1)
                wait_for(partial(has_written, load, enough), f"{enough} records", DEADLINE_S * 2)
                acknowledged = {topic: dict(load.acknowledged[topic].copy()) for topic in (STEADY, KEYED)}
                one = Taken(home / f"backup-{number}", acknowledged[STEADY], acknowledged[KEYED], load.pairs)
                take(broker.data_dir, one.folder, lambda _: None)
                taken.append(one)
        assert not (broker.data_dir / HOLDING_FOLDER).exists()
        # Compaction was at work: there are gaps.
        kept = records(broker.address, KEYED)
        assert len(kept) < len(load.acknowledged[KEYED])
        yield load, taken
    finally:
        broker.stop()


@pytest.mark.parametrize("number", range(BACKUPS))
def test_what_was_acknowledged_is_there(load: tuple[Load, list[Taken]], number: int, tmp_path: Path) -> None:
    written, taken = load[0].acknowledged, load[1][number]
    restored = BarnabasBroker(tmp_path, settings=SETTINGS)
    restore(taken.folder, restored.data_dir, lambda _: None)
    restored.start()
    try:
        steady = records(restored.address, STEADY)
        assert steady.keys() >= taken.steady.keys()
        assert list(steady) == list(range(len(steady)))
        assert steady.items() <= written[STEADY].items()
        assert 0 < committed(restored.address) <= len(steady)

        keyed = records(restored.address, KEYED)
        assert keyed.items() <= written[KEYED].items()
        for key in range(KEYS):
            newest = max(offset for offset, value in taken.keyed.items() if int(value) % KEYS == key)
            assert any(offset >= newest for offset, value in keyed.items() if int(value) % KEYS == key)

        end_transactions(restored.address)
        first, second = (list(records(restored.address, PAIRED, partition).values()) for partition in (0, 1))
        assert first == second
        assert len(first) >= taken.pairs
    finally:
        restored.stop()


def committed(address: str) -> int:
    consumer = Consumer({"bootstrap.servers": address, "group.id": GROUP})
    try:
        (found,) = consumer.committed([TopicPartition(STEADY, 0)], DEADLINE_S)
        return int(found.offset)
    finally:
        consumer.close()
