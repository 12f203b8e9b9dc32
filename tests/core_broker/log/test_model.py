"""The log against a list: random appends, rolls, reads and restarts."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.wire.batch import parse_header
from core_broker.log.config import LogConfig
from core_broker.log.disk import Disk
from core_broker.log.open_files import OpenFiles
from core_broker.log.partition_log import PartitionLog
from core_broker.log.producer_state import Origin
from core_broker.log.transaction_index import AbortedTransaction
from tests.core_broker.log.batches import Clock, batch, kill, marker, open_log, sync

PRODUCERS = (1, 2, 3)


@dataclass
class Model:
    """What the log should hold: its batches, the producers' next sequences, and their transactions."""

    batches: list[tuple[int, int, bytes]] = field(default_factory=list)  # first offset, last offset, bytes
    sequences: dict[int, int] = field(default_factory=dict)
    opened: dict[int, int] = field(default_factory=dict)  # producer -> first offset of its open transaction
    aborted: list[AbortedTransaction] = field(default_factory=list)
    start: int = 0

    @property
    def end(self) -> int:
        return self.batches[-1][1] + 1 if self.batches else 0

    def expected(self, offset: int, limit: int) -> list[tuple[int, int, bytes]]:
        """All batches that a read may return."""
        return [found for found in self.batches if found[1] >= offset and found[1] < limit]


class Game:
    """A log and its model, side by side."""

    def __init__(self, folder: Path, config: LogConfig) -> None:
        self._folder = folder
        self._config = config
        self._clock = Clock()
        self._recovery_point = 0
        self.model = Model()
        self.log = self._open(clean=False)

    def _open(self, *, clean: bool, recovery_point: int = 0) -> PartitionLog:
        # Few descriptors and little memory, so that segments are let go and opened again all the time.
        files = OpenFiles(Disk(), descriptors_max=3, index_bytes_max=2000)
        return open_log(
            self._folder,
            self._config,
            clock=self._clock,
            clean=clean,
            recovery_point=recovery_point,
            log_start_offset=self.model.start,
            files=files,
        )

    def _append(self, data: bytearray, origin: Origin = Origin.CLIENT) -> int:
        staged = self.log.append(memoryview(data), parse_header(data), now_ms=self._clock(), origin=origin)
        assert not staged.duplicate
        assert staged.base_offset == self.model.end
        self.model.batches.append((staged.base_offset, staged.last_offset, bytes(data)))
        return staged.base_offset

    def append(self, count: int, size: int, later_ms: int) -> None:
        self._clock.now_ms += later_ms
        self._append(batch(count, size=size, timestamp=self._clock.now_ms))

    def produce(self, producer: int, count: int, transactional: bool) -> None:
        transactional = transactional or producer in self.model.opened
        sequence = self.model.sequences.get(producer, 0)
        data = batch(count, producer_id=producer, sequence=sequence, transactional=transactional)
        offset = self._append(data)
        self.model.sequences[producer] = sequence + count
        if transactional:
            self.model.opened.setdefault(producer, offset)
        again = batch(count, producer_id=producer, sequence=sequence, transactional=transactional)
        staged = self.log.append(memoryview(again), parse_header(again), now_ms=self._clock())
        assert (staged.duplicate, staged.base_offset) == (True, offset)

    def end_transaction(self, producer: int, commits: bool) -> None:
        offset = self._append(marker(producer, commits=commits), Origin.COORDINATOR)
        first = self.model.opened.pop(producer, None)
        if first is not None and not commits:
            stable = min(self.model.opened.values(), default=offset + 1)
            self.model.aborted.append(AbortedTransaction(producer, first, offset, stable))

    def roll(self) -> None:
        self.log.roll()

    def sync(self) -> None:
        sync(self.log)
        self._recovery_point = self.log.checkpoint()

    def restart(self, clean: bool) -> None:
        if clean:
            self.log.close()
        else:
            kill(self.log)
        self.log = self._open(clean=clean, recovery_point=self._recovery_point)
        assert self.log.log_end_offset == self.model.end

    def move_start(self, percent: int) -> None:
        self.model.start = max(self.model.start, self.model.end * percent // 100)
        assert self.log.delete_records_before(self.model.start) == self.model.start
        self.log.apply_retention(self._clock(), self.model.end)

    def read(self, percent: int, max_bytes: int, limit_percent: int, min_one: bool) -> None:
        """Read anywhere, inside of batches too, up to a limit anywhere."""
        model = self.model
        offset = model.start + (model.end - model.start) * percent // 100
        limit = model.start + (model.end - model.start) * limit_percent // 100
        part = self.log.read(offset, max_bytes, limit=limit, min_one=min_one)
        expected = model.expected(offset, limit)
        if not expected or offset >= limit:
            assert part.data == b""
            return
        taken = 0
        data = bytes(part.data)
        while data and taken < len(expected):
            stored = expected[taken][2]
            assert data.startswith(stored)
            data = data[len(stored) :]
            taken += 1
        assert not data, "more came than is there, or half a batch"
        if taken == 0:
            assert not min_one
            assert len(expected[0][2]) > max_bytes
            assert part.next_offset == offset
        else:
            assert part.next_offset == expected[taken - 1][1] + 1
            assert part.first_offset == expected[0][0]
            assert taken == 1 or len(part.data) <= max_bytes

    def check(self) -> None:
        """Everything at once: all bytes, the producers, the transactions."""
        model, log = self.model, self.log
        offset, found = model.start, b""
        while offset < model.end:
            part = log.read(offset, 300)
            found += bytes(part.data)
            offset = part.next_offset
        assert found == b"".join(stored for _, _, stored in model.expected(model.start, model.end))
        for producer, sequence in model.sequences.items():
            assert log.producers.by_id[producer].last_sequence == sequence - 1
        unstable = min((max(first, model.start) for first in model.opened.values()), default=model.end)
        assert log.last_stable_offset(model.end) == min(unstable, model.end)
        aborted = [found for found in model.aborted if found.last_offset >= model.start]
        assert log.aborted_transactions(model.start, model.end) == sorted(aborted, key=lambda found: found.first_offset)


producer = st.sampled_from(PRODUCERS)
percent = st.integers(0, 100)
MOVES = st.one_of(
    st.tuples(st.just("append"), st.integers(1, 5), st.sampled_from([0, 10, 100, 700]), st.integers(0, 50)),
    st.tuples(st.just("append"), st.integers(1, 5), st.sampled_from([0, 10, 100, 700]), st.integers(0, 50)),
    st.tuples(st.just("produce"), producer, st.integers(1, 3), st.booleans()),
    st.tuples(st.just("end_transaction"), producer, st.booleans()),
    st.tuples(st.just("read"), percent, st.sampled_from([0, 70, 300, 2000]), percent, st.booleans()),
    st.tuples(st.just("read"), percent, st.sampled_from([0, 70, 300, 2000]), st.just(100), st.booleans()),
    st.tuples(st.just("roll")),
    st.tuples(st.just("sync")),
    st.tuples(st.just("restart"), st.booleans()),
    st.tuples(st.just("move_start"), percent),
)


@settings(max_examples=150, deadline=None)
@given(
    moves=st.lists(MOVES, max_size=60),
    segment_bytes=st.sampled_from([5000, 10_000]),
    interval=st.sampled_from([0, 200, 4096]),
)
def test_the_log_agrees_with_a_list(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, ...]], segment_bytes: int, interval: int
) -> None:
    config = LogConfig(segment_bytes=segment_bytes, index_interval_bytes=interval)
    game = Game(tmp_path_factory.mktemp("log") / "topic-0", config)
    for name, *arguments in moves:
        getattr(game, name)(*arguments)
    for clean in (False, True):
        game.check()
        game.restart(clean)
    game.check()
    kill(game.log)
