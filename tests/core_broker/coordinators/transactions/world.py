"""A coordinator with real shards and real partitions on a real disk, and with a clock, timers and a death that are the test's."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from barnabas.kernel.settings import resolve
from barnabas.wire.batch import Record, build_batch, iterate_batches, iterate_records, parse_header
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.configs.broker import BROKER_CATALOGUE
from core_broker.coordinators.transactions.coordinator import TRANSACTIONS_TOPIC, TransactionCoordinator
from core_broker.coordinators.transactions.decisions import Admission, End
from core_broker.coordinators.transactions.transaction import Producer, Transaction
from core_broker.log.checkpoints import TopicPartition
from core_broker.log.config import LogConfig
from core_broker.log.disk import Bytes, Disk
from core_broker.log.partition_log import PartitionLog
from core_broker.log.producer_state import Origin
from core_broker.metadata.image import ClusterImage, PartitionImage, TopicImage, frozen
from core_broker.metadata.store import TRANSACTION_VERSION
from core_broker.partition import Append, Partition
from core_broker.topic_settings import TopicSettings
from core_broker.validation import TopicRules

if TYPE_CHECKING:
    from core_broker.broker import Broker

START_MS = 1_700_000_000_000
TIMEOUT_MS = 60_000
PARTITIONS = {"a": 2, "b": 1, TRANSACTIONS_TOPIC: 2}
_RULES = TopicRules(1 << 20, False, 1 << 62, 1 << 62, None, None, False, False)
_SETTINGS = TopicSettings(LogConfig(), _RULES, durable=False, flush_messages=1 << 62, flush_ms=1 << 62)


class Died(BaseException):
    """The process ends in the middle of a write."""


class MortalDisk(Disk):
    """Ends the process in the middle of one of the next writes, or is full from then on."""

    def __init__(self) -> None:
        self.writes_left: int | None = None
        self.fills_up = False

    def pwrite(self, descriptor: int, data: Bytes, position: int) -> None:
        if self.writes_left is None:
            super().pwrite(descriptor, data, position)
            return
        self.writes_left -= 1
        if self.writes_left >= 0:
            super().pwrite(descriptor, data, position)
            return
        if self.fills_up:
            raise OSError("the disk is full")
        super().pwrite(descriptor, memoryview(data)[: len(data) // 2], position)
        raise Died


@dataclass(order=True)
class _Timer:
    due_ms: int
    number: int
    callback: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


class VirtualTimers:
    """Time passes when the test says so."""

    def __init__(self) -> None:
        self.now_ms = START_MS
        self._queue: list[_Timer] = []
        self._numbers = count()

    def after(self, delay_ms: int, callback: Callable[[], None]) -> _Timer:
        timer = _Timer(self.now_ms + delay_ms, next(self._numbers), callback)
        heapq.heappush(self._queue, timer)
        return timer

    def advance(self, delay_ms: int) -> None:
        end_ms = self.now_ms + delay_ms
        while self._queue and self._queue[0].due_ms <= end_ms:
            timer = heapq.heappop(self._queue)
            self.now_ms = max(self.now_ms, timer.due_ms)
            if not timer.cancelled:
                timer.callback()
        self.now_ms = end_ms


class ProducerIds:
    def __init__(self) -> None:
        self.taken = 0

    async def next(self) -> int:
        self.taken += 1
        return 1000 + self.taken


class World:
    """Partitions are relaxed, so that everything that is asked for has happened when a call returns."""

    def __init__(self, path: Path, *, transaction_version: int = 2, **settings: object) -> None:
        named = {name.replace("_", "."): str(value) for name, value in settings.items()}
        self.settings = resolve(BROKER_CATALOGUE, {"log.dirs": str(path), **named}, {}, None)
        self.disk = MortalDisk()
        self.producer_ids = ProducerIds()
        self.loop = asyncio.new_event_loop()
        self.transaction_version = transaction_version
        self._now_ms = START_MS
        self._path = path
        self._sequences: dict[tuple[TopicPartition, Producer], int] = {}
        self.start()

    # What the coordinator uses of a broker.

    def start(self) -> None:
        self.timers = VirtualTimers()
        self.timers.now_ms = self._now_ms
        self.disk.writes_left = None
        self.verifies_transactions = True
        self.groups = SimpleNamespace(topic=SimpleNamespace(shard_at=lambda index: None))
        self._partitions: dict[TopicPartition, Partition] = {}
        self.metadata = SimpleNamespace(image=self._image())
        self.transactions = TransactionCoordinator(cast("Broker", self), self.timers)
        # All partitions with data are opened after an unclean stop.
        for topic, partitions in PARTITIONS.items():
            for index in range(partitions):
                self.partition(topic, index)
        self.transactions.start()
        while self.transactions.topic.is_loading:
            self.loop.run_until_complete(_turns())

    def _image(self) -> ClusterImage:
        topics = {
            topic: TopicImage(
                topic, topic.encode().ljust(16), (PartitionImage((1,), (1,), (b"",), 1, 0, 0),) * partitions
            )
            for topic, partitions in PARTITIONS.items()
        }
        return ClusterImage(topics=frozen(topics), features=frozen({TRANSACTION_VERSION: self.transaction_version}))

    def clock_ms(self) -> int:
        return self.timers.now_ms

    def has_data(self, key: TopicPartition) -> bool:
        return True

    def partition(self, topic: str, index: int) -> Partition | None:
        if topic not in self.metadata.image.topics or index >= PARTITIONS[topic]:
            return None
        key = TopicPartition(topic, index)
        if key not in self._partitions:
            log = PartitionLog.open(self._path / str(key), LogConfig(), self.disk, self.clock_ms)
            nobody: Any = None
            opened = Partition(topic, b"", index, log, _SETTINGS, nobody, nobody)
            self._partitions[key] = opened
            if log.producers.has_open_transactions:
                self.transactions.examine(opened)
        return self._partitions[key]

    # What the test does.

    def advance(self, delay_ms: int) -> None:
        self.timers.advance(delay_ms)
        self._now_ms = self.timers.now_ms

    def restart(self) -> None:
        """The process is gone, and another begins with what is on disk."""
        self._now_ms = self.timers.now_ms
        for partition in self._partitions.values():
            for segment in partition.log.segments:
                partition.log.files.close(segment)
        self.start()

    def close(self) -> None:
        self.loop.close()

    def find(self, transactional_id: str) -> Transaction | None:
        return self.transactions.find(transactional_id)

    def state(self) -> Mapping[str, Transaction]:
        """Everything that is in the log of the coordinator."""
        return {name: found._replace(last_epoch=-1) for name, found in self.transactions.every()}

    def initialise(
        self, transactional_id: str, expected: Producer | None = None, timeout_ms: int = TIMEOUT_MS
    ) -> Producer:
        return self.loop.run_until_complete(self.transactions.initialise(transactional_id, timeout_ms, expected))

    def add(self, transactional_id: str, producer: Producer, *partitions: tuple[str, int]) -> None:
        outcome: list[KafkaError | None] = []
        keys = frozenset(TopicPartition(*partition) for partition in partitions)
        self.transactions.add(transactional_id, producer, keys, 0, outcome.append)
        _raise(outcome)

    def produce(
        self,
        transactional_id: str,
        producer: Producer,
        partition: tuple[str, int],
        value: bytes,
        admission: Admission = Admission.JOIN,
    ) -> None:
        key = TopicPartition(*partition)
        found = self.partition(*key)
        assert found is not None
        outcome: list[KafkaError | None] = []
        self.transactions.admit(transactional_id, found, producer, admission, outcome.append)
        _raise(outcome)
        sequence = self._sequences.get((key, producer), 0)
        batch = memoryview(
            build_batch(
                [Record(0, self.clock_ms(), b"k", value)],
                transactional=True,
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch,
                base_sequence=sequence,
            )
        )
        append = Append(_Nobody(), 0, batch, parse_header(batch), self.clock_ms(), durable=True, origin=Origin.CLIENT)
        found.append(append)
        if append.error is not None:
            raise append.error
        self._sequences[key, producer] = sequence + 1

    def end(self, transactional_id: str, producer: Producer, *, commits: bool, version: int = 2) -> Producer:
        answers = self.begin_end(transactional_id, producer, commits=commits, version=version)
        assert answers, "nobody answered"
        (answer,) = answers
        if isinstance(answer, KafkaError):
            raise answer
        return Producer(answer.producer_id, answer.epoch)

    def begin_end(
        self, transactional_id: str, producer: Producer, *, commits: bool, version: int = 2
    ) -> list[KafkaError | Transaction]:
        """Where the answer will be."""
        answers: list[KafkaError | Transaction] = []

        def then(error: KafkaError | None, transaction: Transaction | None) -> None:
            answer = error or transaction
            assert answer is not None
            answers.append(answer)

        self.transactions.end(transactional_id, End(producer, commits, version), then)
        self.loop.run_until_complete(_turns())
        return answers

    def committed(self, topic: str, index: int) -> list[bytes]:
        """What a reader of committed data gets, which filters as a consumer does."""
        partition = self.partition(topic, index)
        assert partition is not None
        log, stable = partition.log, partition.last_stable_offset
        if stable <= log.log_start_offset:
            return []
        data = log.read(log.log_start_offset, 1 << 30, limit=stable).data
        aborted = {(found.producer_id, found.first_offset) for found in log.aborted_transactions(0, stable)}
        skipping: set[int] = set()
        values: list[bytes] = []
        for position, header in iterate_batches(data):
            if (header.producer_id, header.base_offset) in aborted:
                skipping.add(header.producer_id)
            if header.is_control:
                skipping.discard(header.producer_id)
            elif header.producer_id not in skipping:
                values.extend(record.value or b"" for record in iterate_records(data, position))
        return values

    def is_stable(self, topic: str, index: int) -> bool:
        partition = self.partition(topic, index)
        assert partition is not None
        return partition.last_stable_offset == partition.log.log_end_offset


class _Nobody:
    def published(self, append: Append) -> None:
        """The test looks for itself."""

    def finished(self, append: Append) -> None:
        """The test looks for itself."""


async def _turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def _raise(outcome: list[KafkaError | None]) -> None:
    assert outcome, "nobody answered"
    (error,) = outcome
    if error is not None:
        raise error


def code_of(call: Callable[[], object]) -> ErrorCode:
    """How a call ends."""
    try:
        call()
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE
