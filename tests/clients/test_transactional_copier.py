"""Exactly once: a copier and the broker are killed again and again, and the copy is what the source is."""

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from tests.broker import BarnabasBroker
from tests.clients.confluent_client import ConfluentClient, create_topic
from tests.clients.records import KEEP_FOREVER, Record
from tests.conftest import StartBroker
from tests.waiting import wait_for

PARTITIONS = 2
RECORDS = 1500
"""In each partition."""

KILLS = 4
COPY_DEADLINE_S = 180.0
POLL_S = 0.2


@contextmanager
def copier(address: str, source: str, target: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.clients.transactional_copier", address, source, target, source]
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


class Copy:
    """What a reader of committed data has found in the target so far."""

    def __init__(self, address: str, target: str) -> None:
        self.values: Counter[bytes] = Counter()
        self._consumer = Consumer(
            {
                "bootstrap.servers": address,
                "group.id": "reader",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "reconnect.backoff.max.ms": 200,
            }
        )
        self._consumer.assign([TopicPartition(target, partition, 0) for partition in range(PARTITIONS)])

    def has(self, count: int) -> bool:
        for message in self._consumer.consume(1000, POLL_S):
            if message.error() is None:
                self.values[message.value() or b""] += 1
        return self.values.total() >= count

    def close(self) -> None:
        self._consumer.close()


def test_a_copy_is_exact(start_broker: StartBroker, topic: str, tmp_path: Path) -> None:
    settings = {"offsets_topic_num_partitions": 2, "transaction_state_log_num_partitions": 2}
    broker: BarnabasBroker = start_broker(**settings, group_initial_rebalance_delay_ms=0)
    target = f"{topic}-copy"
    for name in (topic, target):
        create_topic(broker.address, name, PARTITIONS, KEEP_FOREVER)
    expected: Counter[bytes] = Counter()
    for partition in range(PARTITIONS):
        values = [b"%d-%d" % (partition, number) for number in range(RECORDS)]
        ConfluentClient().produce(broker.address, topic, [Record(None, value) for value in values], partition=partition)
        expected.update(values)
    copy = Copy(broker.address, target)
    log = tmp_path / "copier.log"
    started = time.monotonic()
    for kill in range(KILLS):
        with copier(broker.address, topic, target, log):
            enough = sum(expected.values()) * (kill + 1) // (KILLS + 1)
            wait_for(lambda enough=enough: copy.has(enough), f"{enough} records", COPY_DEADLINE_S)  # type: ignore[misc]
            if kill % 2:
                broker.kill()
                broker.start()
    with copier(broker.address, topic, target, log):
        wait_for(lambda: copy.has(expected.total()), f"{expected.total()} records", COPY_DEADLINE_S)
    copy.close()
    assert copy.values == expected, f"after {time.monotonic() - started:.0f} s"
