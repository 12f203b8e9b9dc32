"""The power goes at any moment, and nothing that was promised is lost."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random, SystemRandom

import pytest

from barnabas.wire.batch import build_batch
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.log.directory import LogDirectoryError
from tests.core_broker.broker_client import records, values
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.core_broker.faults.ledger import Ledger, Place
from tests.core_broker.faults.load import Client, Consumer, IdempotentProducer, PlainProducer
from tests.core_broker.faults.power_cut_disk import PowerCutDisk
from tests.core_broker.faults.topic_owner import TopicOwner

# The same ones each time, and one that was never tried: the name of the test tells which.
# The name of the last is fixed, since all who run the tests together must collect the same ones.
SEEDS = [*range(1, 5), pytest.param(SystemRandom().randrange(10**9), id="random")]
CRASHES = 4
CALLS_BEFORE_CRASH_MAX = 1200
CALLS_OF_START_MAX = 60
CRASH_IN_START_SHARE = 0.3
CRASH_DEADLINE_S = 90.0
POWER_CUT_SHARE = 0.75
"""The other crashes take the process alone, so that what was written and not synced is there when the power goes later."""

PARTITIONS = 2
TOPICS = {"plain": 100_000, "numbered": 100_000, "rolling": 95_000}
"""Name and size of a segment: all of them roll often."""


class Rehearsal:
    """A broker, its clients, and the disk under it, through a number of crashes."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = Random(seed)
        self.disk = PowerCutDisk(folder, Random(self.random.random()))
        self.ledger = Ledger()
        self._folder = folder
        self._epochs: dict[str, int] = {}
        places = [Place(topic, partition) for topic in TOPICS for partition in range(PARTITIONS)]
        self._owner = TopicOwner("owned", self._randomness(), self.ledger)
        self._clients: list[Client] = [
            PlainProducer("one", self._randomness(), self.ledger, places),
            PlainProducer("other", self._randomness(), self.ledger, places[-PARTITIONS:]),
            *(
                IdempotentProducer(f"numbered-{index}", self._randomness(), self.ledger, Place("numbered", index))
                for index in range(PARTITIONS)
            ),
            Consumer("reader", self._randomness(), self.ledger, places),
            self._owner,
        ]

    def _randomness(self) -> Random:
        return Random(self.random.random())

    def start(self) -> HostedBroker:
        return HostedBroker(
            self._folder,
            {
                "log.flush.offset.checkpoint.interval.ms": self.random.randint(10, 100),
                "metadata.log.max.record.bytes.between.snapshots": self.random.choice((1500, 5000, 100_000)),
            },
            disk=self.disk,
        )

    def create_topics(self) -> None:
        with self.start() as broker, AdminClient(broker.address) as client:
            for topic, segment_bytes in TOPICS.items():
                assert not client.try_create(topic, PARTITIONS, internal_segment_bytes=segment_bytes).error_code

    def work_until_crash(self, broker: HostedBroker) -> None:
        stopping = threading.Event()
        with ThreadPoolExecutor(len(self._clients)) as threads:
            running = [threads.submit(client.run, broker.address, stopping) for client in self._clients]
            assert self.disk.stopped.wait(CRASH_DEADLINE_S), "the clients came to rest before the disk was used enough"
            stopping.set()
        for client in running:
            client.result()

    def check(self, broker: HostedBroker) -> None:
        with AdminClient(broker.address) as client:
            self._owner.check(client)
            for place in self.ledger.places:
                self.ledger.check(place, client.read_all(*place))
            for name, topic in client.topics().items():
                epoch = topic.partitions[0].leader_epoch
                if name in TOPICS:
                    assert epoch > self._epochs.get(name, -1), "clients cannot notice that something may be lost"
                    self._epochs[name] = epoch

    def come_back(self) -> None:
        self.disk.come_back(power_was_cut=self.random.random() < POWER_CUT_SHARE)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_was_promised_is_lost(tmp_path: Path, seed: int) -> None:
    rehearsal = Rehearsal(tmp_path / "logs", seed)
    rehearsal.create_topics()
    for _ in range(CRASHES):
        if rehearsal.random.random() < CRASH_IN_START_SHARE:
            rehearsal.disk.stop_after(rehearsal.random.randrange(CALLS_OF_START_MAX))
        try:
            broker = rehearsal.start()
        except (LogDirectoryError, KafkaError):
            assert rehearsal.disk.stopped.is_set()
        else:
            with broker:
                if rehearsal.disk.keep_running():
                    rehearsal.check(broker)
                    rehearsal.disk.stop_after(rehearsal.random.randrange(CALLS_BEFORE_CRASH_MAX))
                    rehearsal.work_until_crash(broker)
                broker.die()
        rehearsal.come_back()
    with rehearsal.start() as broker:
        rehearsal.check(broker)
    assert rehearsal.ledger.acknowledged_count > 0


@pytest.mark.parametrize("seed", range(5))
def test_what_a_killed_process_left_is_durable_before_anybody_sees_it(tmp_path: Path, seed: int) -> None:
    disk = PowerCutDisk(tmp_path / "logs", Random(seed))
    batch = build_batch(records(b"a"), producer_id=7, producer_epoch=0, base_sequence=0)
    with HostedBroker(tmp_path / "logs", disk=disk) as broker, AdminClient(broker.address) as client:
        client.create("topic")
        disk.stop_after(0, "fdatasync")
        assert client.produce("topic", batch).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        broker.die()
    disk.come_back(power_was_cut=False)
    with HostedBroker(tmp_path / "logs", disk=disk) as broker, AdminClient(broker.address) as client:
        seen = client.read_all("topic")
        again = client.produce("topic", batch)
        disk.stop_after(0)
        broker.die()
    disk.come_back(power_was_cut=True)
    with HostedBroker(tmp_path / "logs", disk=disk) as broker, AdminClient(broker.address) as client:
        assert again.error_code == ErrorCode.NONE
        assert values(client.read_all("topic")) == [b"a"]
        assert values(seen) in ([], [b"a"])
