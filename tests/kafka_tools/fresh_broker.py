"""A broker for one scenario alone, ours or Apache Kafka, and the running of a scenario on it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from barnabas.wire.batch import Record, build_batch
from barnabas.wire.errors import ErrorCode
from tests.broker import BarnabasBroker, BrokerProcess
from tests.core_broker.broker_client import BrokerClient
from tests.kafka_tools.scenario import Outcome, Scenario, differences
from tests.oracle import ApacheKafka
from tests.ports import free_port
from tests.waiting import wait_for

# The time of the first record that a scenario writes; the others follow in steps of one second.
EPOCH_MS = 1_600_000_000_000
STEP_MS = 1_000
SETTLE_S = 90.0
READS = re.compile(r" --(describe|list)\b|^kafka-get-offsets|^kafka-log-dirs")

Run = Callable[[str, dict[str, str]], Outcome]


@contextmanager
def started(kind: str, home: Path, java: Path | None = None, jars: Path | None = None) -> Iterator[BrokerProcess]:
    broker: BrokerProcess
    if kind == "ours":
        broker = BarnabasBroker(home, free_port())
    else:
        assert java is not None
        assert jars is not None
        broker = ApacheKafka(home, java, jars)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


def play(
    scenario: Scenario, broker: BrokerProcess, folder: Path, run: Run, expected: Sequence[Outcome] | None = None
) -> list[Outcome]:
    """Runs every line on the broker, with the scenario's files in `folder`.

    A change may be acknowledged before every broker shows it: a line that only reads is repeated until it prints what is expected.
    """
    places = {
        "folder": str(folder),
        "broker": broker.address,
        "port": broker.address.rpartition(":")[2],
        "logs": str(broker.log_dir),
    }
    for name, text in scenario.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{folder}", str(folder)))
    outcomes: list[Outcome] = []
    for line in scenario.lines:
        if line.startswith("produce "):
            _produce(broker.address, *line.split()[1:])
            continue
        outcomes.append(run(line, places))
        if expected is not None and READS.search(line):
            deadline = time.monotonic() + SETTLE_S
            wanted = expected[len(outcomes) - 1]
            while differences([outcomes[-1]], [wanted]) and time.monotonic() < deadline:
                outcomes[-1] = run(line, places)
    return outcomes


def _produce(address: str, topic: str, partition: str, count: str) -> None:
    records = [
        Record(position, EPOCH_MS + STEP_MS * position, b"key", b"value-%d" % position)
        for position in range(int(count))
    ]
    batch = bytes(build_batch(records))

    def taken() -> bool:
        # A new topic may need a moment to have its leaders.
        with BrokerClient(address) as client:
            return client.produce(topic, bytearray(batch), partition=int(partition)).error_code == ErrorCode.NONE

    wait_for(taken, f"{count} records to be taken by {topic}-{partition}", SETTLE_S)
