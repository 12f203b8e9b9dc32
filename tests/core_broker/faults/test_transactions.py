"""The power goes at any moment: each transaction is seen wholly or not at all, and no reader waits for ever."""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from random import Random, SystemRandom

import pytest

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.coordinators.transactions.transaction import Producer
from core_broker.log.directory import LogDirectoryError
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.core_broker.faults.power_cut_disk import PowerCutDisk
from tests.core_broker.transaction_client import GROUP_KEY, LATER, TransactionClient
from tests.waiting import wait_for

# The name of the last is fixed, since all who run the tests together must collect the same ones.
SEEDS = [*range(1, 5), pytest.param(SystemRandom().randrange(10**9), id="random")]
CRASHES = 4
CALLS_BEFORE_CRASH_MAX = 250
CALLS_OF_START_MAX = 60
CRASH_IN_START_SHARE = 0.2
CRASH_DEADLINE_S = 90.0
POWER_CUT_SHARE = 0.75
COMMIT_SHARE = 0.7
OFFSET_SHARE = 0.4
BATCHES_MAX = 4
LARGE_SHARE = 0.1
LARGE_BYTES = 70_000  # more than what the broker writes on its event loop

PLACES = [("data", 0), ("data", 1), ("more", 0)]
WRITERS = ("one", "two", "three")
SETTINGS = {"transaction.state.log.num.partitions": 2, "offsets.topic.num.partitions": 2}
# What fails so is asked again as it was.
ASKED_AGAIN = (
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.REQUEST_TIMED_OUT,
    *LATER,
)


class Fate(Enum):
    OPEN = "open"
    COMMITTING = "committing"
    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass
class Written:
    """A transaction as its writer knows it."""

    number: int
    values: dict[tuple[str, int], list[bytes]] = field(default_factory=dict)
    moves_offset: bool = False
    fate: Fate = Fate.OPEN


Step = Callable[[TransactionClient], ErrorCode]


class Writer:
    """A transactional producer that outlives the broker: what was not answered it asks again, as it was."""

    def __init__(self, name: str, random: Random) -> None:
        self.name = name
        self.written: list[Written] = []
        self._random = random
        self._producer: Producer | None = None
        self._sequences: dict[tuple[str, int], int] = {}
        self._steps: deque[Step] = deque()
        self._client: TransactionClient | None = None

    def run(self, address: str, stopping: threading.Event) -> None:
        """Works until the broker is gone; the next time it goes on in the middle of what it was doing."""
        try:
            with TransactionClient(address) as client:
                self._client = client
                while not stopping.is_set():
                    if not self._steps:
                        self._begin()
                    self._step(client)
        except OSError:
            return

    def hang_up(self) -> None:
        """The broker is gone; who waits for its answer waits no longer."""
        if self._client is not None:
            with suppress(OSError):
                self._client.socket.shutdown(socket.SHUT_RDWR)

    def finish(self, address: str) -> None:
        """Brings the present transaction to the end that it was to have."""
        with TransactionClient(address) as client:

            def is_finished() -> bool:
                if self._steps:
                    self._step(client)
                return not self._steps

            wait_for(is_finished, f"the transaction of {self.name}")

    def _step(self, client: TransactionClient) -> None:
        code = self._steps[0](client)
        if code is ErrorCode.NONE:
            self._steps.popleft()
        elif code is ErrorCode.INVALID_PRODUCER_EPOCH:
            # What it has sent is lost in part: the whole transaction goes.
            self.written[-1].values = {}
            self._steps = deque([self._end(commits=False)])
        else:
            assert code in ASKED_AGAIN, code

    def _begin(self) -> None:
        self.written.append(Written(len(self.written)))
        if self._producer is None:
            self._steps.append(self._initialise)
        for number in range(self._random.randint(1, BATCHES_MAX)):
            self._steps.append(self._write(self._random.choice(PLACES), number))
        if self._random.random() < OFFSET_SHARE:
            self._steps.append(self._commit_offset)
        self._steps.append(self._end(commits=self._random.random() < COMMIT_SHARE))

    # The steps, each one request.

    def _initialise(self, client: TransactionClient) -> ErrorCode:
        client.find(self.name)
        answer = client.try_initialise(self.name)
        if answer.error_code == ErrorCode.NONE:
            self._producer = Producer(answer.producer_id, answer.producer_epoch)
        return ErrorCode(answer.error_code)

    def _write(self, place: tuple[str, int], number: int) -> Step:
        size = LARGE_BYTES if self._random.random() < LARGE_SHARE else 10
        value = b"%s:%d:%d:" % (self.name.encode(), len(self.written), number) + b"x" * size

        def write(client: TransactionClient) -> ErrorCode:
            sequence = self._sequences.get(place, 0)
            topic, partition = place
            answer = client.write(self.name, self.producer, topic, value, partition=partition, sequence=sequence)
            if answer.error_code == ErrorCode.NONE:
                self._sequences[place] = sequence + 1
                self.written[-1].values.setdefault(place, []).append(value)
            return ErrorCode(answer.error_code)

        return write

    def _commit_offset(self, client: TransactionClient) -> ErrorCode:
        client.find(self.name, key_type=GROUP_KEY)
        code = client.commit_offset(self.name, self.producer, self.name, PLACES[0][0], self.written[-1].number)
        self.written[-1].moves_offset = True
        return code

    def _end(self, *, commits: bool) -> Step:
        def end(client: TransactionClient) -> ErrorCode:
            present = self.written[-1]
            if commits:
                present.fate = Fate.COMMITTING
            code, after = client.end(self.name, self.producer, commits=commits)
            if code is ErrorCode.NONE:
                present.fate = Fate.COMMITTED if commits else Fate.ABORTED
                self._producer = after
                self._sequences = {}
            return code

        return end

    @property
    def producer(self) -> Producer:
        assert self._producer is not None
        return self._producer

    # What must be true.

    def values(self, place: tuple[str, int], *fates: Fate) -> list[bytes]:
        return [value for written in self.written if written.fate in fates for value in written.values.get(place, ())]

    @property
    def offset(self) -> int:
        """What its group has committed."""
        moved = [written.number for written in self.written if written.moves_offset and written.fate is Fate.COMMITTED]
        return moved[-1] if moved else -1


class Rehearsal:
    """A broker, its writers, and the disk under it, through a number of crashes."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = Random(seed)
        self.disk = PowerCutDisk(folder, Random(self.random.random()))
        self._folder = folder
        self._writers = [Writer(name, Random(self.random.random())) for name in WRITERS]

    def start(self) -> HostedBroker:
        interval_ms = self.random.randint(10, 100)
        settings = {**SETTINGS, "log.flush.offset.checkpoint.interval.ms": interval_ms}
        return HostedBroker(self._folder, settings, disk=self.disk)

    def prepare(self) -> None:
        with self.start() as broker, TransactionClient(broker.address) as client:
            client.create("data", 2)
            client.create("more", 1, internal_segment_bytes="100000")
            client.find("any")
            client.find("any", key_type=GROUP_KEY)

    def work_until_crash(self, broker: HostedBroker) -> None:
        stopping = threading.Event()
        with ThreadPoolExecutor(len(self._writers)) as threads:
            running = [threads.submit(writer.run, broker.address, stopping) for writer in self._writers]
            try:
                assert self.disk.stopped.wait(CRASH_DEADLINE_S), (
                    "the writers came to rest before the disk was used enough"
                )
            finally:
                stopping.set()
                for writer in self._writers:
                    writer.hang_up()
        for run in running:
            run.result()

    def check(self, broker: HostedBroker) -> None:
        with TransactionClient(broker.address) as client:
            for place in PLACES:
                allowed = {
                    value for writer in self._writers for value in writer.values(place, Fate.COMMITTING, Fate.COMMITTED)
                }
                assert set(client.read_committed(*place)) <= allowed
            for writer in self._writers:
                writer.finish(broker.address)
            for place in PLACES:
                kept = [value for writer in self._writers for value in writer.values(place, Fate.COMMITTED)]
                wait_for(lambda place=place: client.is_stable(*place), f"the last transaction in {place} to end")  # type: ignore[misc]
                assert sorted(client.read_committed(*place)) == sorted(kept), place
            for writer in self._writers:
                assert client.committed_offset(writer.name, PLACES[0][0]) == writer.offset

    def come_back(self) -> None:
        self.disk.come_back(power_was_cut=self.random.random() < POWER_CUT_SHARE)


@pytest.mark.parametrize("seed", SEEDS)
def test_transactions_are_whole(tmp_path: Path, seed: int) -> None:
    rehearsal = Rehearsal(tmp_path / "logs", seed)
    rehearsal.prepare()
    for crash in range(CRASHES + 1):
        if crash < CRASHES and rehearsal.random.random() < CRASH_IN_START_SHARE:
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


def test_a_transaction_goes_on_after_a_crash_when_most_shards_are_empty(tmp_path: Path) -> None:
    """Those are served at once, while the one that knows the transaction is still being loaded."""
    settings = {"transaction.state.log.num.partitions": 50}
    disk = PowerCutDisk(tmp_path / "logs", Random(1))
    with HostedBroker(tmp_path / "logs", settings, disk=disk) as broker, TransactionClient(broker.address) as client:
        client.create("data", 1)
        client.find("one")
        answer = client.try_initialise("one")
        producer = Producer(answer.producer_id, answer.producer_epoch)
        assert client.write("one", producer, "data", b"kept").error_code == ErrorCode.NONE
        disk.stop_after(0)
        broker.die()
    disk.come_back(power_was_cut=False)
    with HostedBroker(tmp_path / "logs", settings, disk=disk) as broker, TransactionClient(broker.address) as client:

        def is_committed() -> bool:
            code, _ = client.end("one", producer, commits=True)
            assert code in (ErrorCode.NONE, *ASKED_AGAIN)
            return code is ErrorCode.NONE

        wait_for(is_committed, "the commit")
        assert client.read_committed("data", 0) == [b"kept"]
