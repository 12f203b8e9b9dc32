"""Changes at the worst moments of a backup: between the sizes of two logs that belong together, and before the sizes of linked files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from barnabas.backup.broker_cut import BrokerCut, Sizes
from barnabas.backup.restoring import restore
from barnabas.backup.taking import take
from tests.backup.load import (
    DEADLINE_S,
    GROUP,
    PAIRED,
    SMALL_SEGMENT,
    STEADY,
    TRANSACTIONAL_ID,
    create,
    end_transactions,
    records,
)
from tests.broker import QUICK_GROUPS, BarnabasBroker

SETTINGS = {**QUICK_GROUPS, "offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}
DOOMED = "doomed"
RECORD = b"x" * 2_000
ROLLING = 50  # records of that size, which are more than a segment


def expect_delivery(error: object, _: object) -> None:
    assert error is None, error


class Writer:
    """Writes something that must be in a backup as a whole or not at all."""

    def __init__(self, address: str) -> None:
        self._admin = AdminClient({"bootstrap.servers": address})
        self._plain = Producer({"bootstrap.servers": address, "batch.num.messages": 1})
        self._consumer = Consumer({"bootstrap.servers": address, "group.id": GROUP})
        self._pairs = Producer({"bootstrap.servers": address, "transactional.id": TRANSACTIONAL_ID})
        self._pairs.init_transactions(DEADLINE_S)
        self._written = 0

    def pair(self) -> None:
        self._pairs.begin_transaction()
        for partition in (0, 1):
            self._pairs.produce(PAIRED, b"pair", partition=partition)
        self._pairs.commit_transaction(DEADLINE_S)

    def write_and_commit(self, count: int = 1) -> None:
        for _ in range(count):
            self._plain.produce(STEADY, RECORD, on_delivery=expect_delivery)
        assert self._plain.flush(DEADLINE_S) == 0
        self._written += count
        self._consumer.commit(offsets=[TopicPartition(STEADY, 0, self._written)], asynchronous=False)

    def roll(self) -> None:
        self.write_and_commit(ROLLING)

    def delete(self) -> None:
        self._admin.delete_topics([DOOMED])[DOOMED].result(DEADLINE_S)


def disturb(monkeypatch: pytest.MonkeyPatch, change: Callable[[str], None]) -> None:
    """Let something happen after each size that is noted."""
    sizes_of = BrokerCut._sizes

    def one_by_one(self: BrokerCut, names: Iterable[str]) -> Sizes:
        found: Sizes = {}
        for name in names:
            found |= sizes_of(self, [name])
            change(name)
        return found

    monkeypatch.setattr(BrokerCut, "_sizes", one_by_one)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BarnabasBroker]:
    broker = BarnabasBroker(tmp_path_factory.mktemp("source"), settings=SETTINGS)
    broker.start()
    try:
        create(
            broker.address,
            NewTopic(STEADY, 1, config=SMALL_SEGMENT),
            NewTopic(PAIRED, 2, config=SMALL_SEGMENT),
            NewTopic(DOOMED, 1),
        )
        yield broker
    finally:
        broker.stop()


@pytest.fixture(scope="module")
def writer(source: BarnabasBroker) -> Writer:
    writer = Writer(source.address)
    writer.pair()
    writer.write_and_commit()
    return writer


CHANGES: dict[str, Callable[[Writer], None]] = {
    f"{PAIRED}-0": Writer.pair,
    "__consumer_offsets-0": Writer.write_and_commit,
    f"{STEADY}-0": Writer.write_and_commit,
    "__transaction_state-0": Writer.roll,
    "__cluster_metadata-0": Writer.delete,
}


@pytest.mark.parametrize("moment", CHANGES)
def test_what_belongs_together_is_not_torn(
    source: BarnabasBroker, writer: Writer, moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [CHANGES[moment]]
    disturb(monkeypatch, lambda name: left.pop()(writer) if name == moment and left else None)
    take(source.data_dir, tmp_path / "backup", lambda _: None)
    assert not left
    restored = BarnabasBroker(tmp_path / "restored", settings=SETTINGS)
    restore(tmp_path / "backup", restored.data_dir, lambda _: None)
    restored.start()
    try:
        end = len(records(restored.address, STEADY))
        consumer = Consumer({"bootstrap.servers": restored.address, "group.id": GROUP})
        (committed,) = consumer.committed([TopicPartition(STEADY, 0)], DEADLINE_S)
        consumer.close()
        assert 0 < committed.offset <= end
        end_transactions(restored.address)
        first, second = (len(records(restored.address, PAIRED, partition)) for partition in (0, 1))
        assert first == second >= 1
    finally:
        restored.stop()
