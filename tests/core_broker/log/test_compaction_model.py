"""Random histories, compacted again and again, beside Kafka's rules in their simplest form."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from barnabas.wire.batch import Record, build_batch, parse_header
from core_broker.log.compaction import find_dirty_part
from core_broker.log.config import LogConfig
from core_broker.log.partition_log import PartitionLog
from core_broker.log.producer_state import Origin
from tests.core_broker.log.batches import START_MS, Clock, append, kill, open_log, read_all
from tests.core_broker.log.compacting import compact
from tests.core_broker.log.compaction_model import Batch, Model, parse

DELETE_RETENTION_MS = 1000
CONFIG = LogConfig(segment_bytes=1200, index_interval_bytes=200, compacts=True, delete_retention_ms=DELETE_RETENTION_MS)
KEYS = st.sampled_from([None, b"", b"a", b"b", b"c", b"d" * 40, b"e"])
VALUES = st.one_of(st.none(), st.binary(max_size=60))
HEADERS = st.sampled_from([(), (("h", b"1"),), (("h", None), ("g", b""))])


@dataclass(frozen=True)
class Produce:
    records: list[tuple[bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...], int]]
    producer_id: int
    transactional: bool
    codec: int


@dataclass(frozen=True)
class End:
    """Of a transaction; the producer may get a new epoch with it."""

    producer_id: int
    commits: bool
    new_epoch: bool


@dataclass(frozen=True)
class Roll:
    pass


@dataclass(frozen=True)
class Compact:
    """After some time."""

    wait_ms: int


@dataclass(frozen=True)
class Restart:
    clean: bool


_record = st.tuples(KEYS, VALUES, HEADERS, st.integers(-5, 5))
_produce = st.builds(
    Produce,
    st.lists(_record, min_size=1, max_size=5),
    st.sampled_from([-1, -1, 1, 2, 3]),
    st.booleans(),
    st.sampled_from([0, 0, 0, 1, 2, 3, 4]),
)
_step = st.one_of(
    _produce,
    _produce,
    _produce,
    st.builds(End, st.sampled_from([1, 2, 3]), st.booleans(), st.booleans()),
    st.builds(Roll),
    st.builds(Compact, st.sampled_from([0, DELETE_RETENTION_MS - 1, DELETE_RETENTION_MS])),
    st.builds(Restart, st.booleans()),
)


class History:
    """A log and its model, driven alike."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._clock = Clock()
        self.log: PartitionLog = open_log(path, CONFIG, clock=self._clock)
        self.model = Model()
        self.cleaned_offset: int | None = None

    def take(self, step: Produce | End | Roll | Compact | Restart) -> None:
        if isinstance(step, Produce):
            self._produce(step)
        elif isinstance(step, End):
            self._end(step)
        elif isinstance(step, Roll):
            self.log.roll()
        elif isinstance(step, Compact):
            self._clock.now_ms += step.wait_ms
            self._compact()
        else:
            self._restart(clean=step.clean)

    def _produce(self, step: Produce) -> None:
        records = [
            Record(number, START_MS + self.model.end + shift, key, value, headers)
            for number, (key, value, headers, shift) in enumerate(step.records)
        ]
        if step.producer_id < 0:
            append(self.log, build_batch(records, compression=step.codec))
            self.model.append(records, -1, transactional=False, codec=step.codec)
            return
        state = self.model.producers.get(step.producer_id)
        transactional = step.transactional or (state is not None and state.open)
        data = build_batch(
            records,
            compression=step.codec,
            producer_id=step.producer_id,
            producer_epoch=0 if state is None else state.epoch,
            base_sequence=0 if state is None else state.sequence,
            transactional=transactional,
        )
        append(self.log, data)
        self.model.append(records, step.producer_id, transactional=transactional, codec=step.codec)

    def _end(self, step: End) -> None:
        state = self.model.producers.get(step.producer_id)
        if state is None or not state.open:
            return
        epoch = state.epoch + step.new_epoch
        key, value = struct.pack(">hh", 0, int(step.commits)), struct.pack(">hi", 0, 0)
        record = Record(0, START_MS + self.model.end, key, value)
        data = build_batch(
            [record], control=True, transactional=True, producer_id=step.producer_id, producer_epoch=epoch
        )
        append(self.log, data, origin=Origin.COORDINATOR)
        self.model.mark(record, step.producer_id, commits=step.commits, epoch=epoch)

    def _compact(self) -> None:
        log, before = self.log, self.model.table()
        stable = log.last_stable_offset(log.log_end_offset)
        part = find_dirty_part(log, self.cleaned_offset, stable, self._clock.now_ms)
        result = compact(log, self.cleaned_offset)
        if result is not None:
            assert result.end == part.end
            self.cleaned_offset = result.end
            self.model.compact(part.first_dirty, part.end, self._clock.now_ms, DELETE_RETENTION_MS)
        assert self.model.table() == before

    def _restart(self, *, clean: bool) -> None:
        recovery_point = self.log.recorded_recovery_point
        if clean:
            self.log.close()
        else:
            kill(self.log)
        self.log = open_log(
            self._path, CONFIG, clock=self._clock, clean=clean, recovery_point=0 if clean else recovery_point
        )

    def check(self) -> None:
        log, model = self.log, self.model
        assert log.log_end_offset == model.end
        assert parse(read_all(log)) == model.batches
        self._check_every_offset()
        self._check_aborted()
        self._check_producers()
        self._check_timestamps()

    def _check_every_offset(self) -> None:
        batches = self.model.batches
        for offset in range(self.log.log_end_offset):
            following = next(batch for batch in batches if batch.last_offset >= offset)
            part = self.log.read(offset, 1)
            header = parse_header(part.data)
            assert (part.first_offset, header.last_offset) == (following.base_offset, following.last_offset)
            assert part.next_offset > offset

    def _check_aborted(self) -> None:
        """A reader who leaves aborted records out sees the same as the model."""
        stable = self.log.last_stable_offset(self.log.log_end_offset)
        aborted = self.log.aborted_transactions(0, stable)

        def left_out(batch: Batch) -> bool:
            return any(
                entry.producer_id == batch.producer_id and entry.first_offset <= batch.base_offset < entry.last_offset
                for entry in aborted
            )

        for batch in self.model.batches:
            if batch.transactional and not batch.control and batch.records and batch.last_offset < stable:
                assert left_out(batch) == self.model.is_aborted(batch)

    def _check_producers(self) -> None:
        for producer_id, state in self.model.producers.items():
            known = self.log.producers.by_id[producer_id]
            assert known.epoch == state.epoch
            assert (known.batches[-1].last_offset if known.batches else None) == state.last_offset
            assert known.last_sequence == (state.sequence - 1 if known.batches else -1)
            assert (known.transaction_offset >= 0) == state.open

    def _check_timestamps(self) -> None:
        records = [record for batch in self.model.batches for record in batch.records]
        for timestamp in {record.timestamp for record in records}:
            found = self.log.offset_for_timestamp(timestamp)
            assert found is not None
            assert found.offset == next(record.offset for record in records if record.timestamp >= timestamp)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_step, min_size=5, max_size=40))
def test_a_compacted_log_holds_what_kafkas_rules_leave(steps: list[Produce | End | Roll | Compact | Restart]) -> None:
    with TemporaryDirectory() as folder:
        history = History(Path(folder) / "topic-0")
        try:
            for step in steps:
                history.take(step)
            for step in (Roll(), Compact(0), Compact(DELETE_RETENTION_MS), Restart(clean=False)):
                history.take(step)
                history.check()
        finally:
            kill(history.log)
