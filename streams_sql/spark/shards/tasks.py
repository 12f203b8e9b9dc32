"""Operators with state on Spark: the pipeline of the in-process host, in shards.

Rows are dealt out to shards by the key that all operators of a plan know them by (see `stage`); a plan whose operators have several
keys is one shard. Rows that may not be processed yet wait (see `waiting_rows`). A shard is a group of
`transformWithState`: what has changed in it is one more numbered entry in Spark's state store, and all that it knows is written anew when
the entries have grown to a multiple of that. A worker keeps its shards from batch to batch, in memory up to a limit and behind that in a
file (`spilled_states`). Spark gives a shard to whichever worker has waited longest: entries bear the mark of their batch, by which a worker
knows whether what it keeps was committed once, and then it reads only what others have added since.
"""

from __future__ import annotations

import itertools
import pickle
import secrets
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar, Final

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import DataFrame
from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming.stateful_processor import MapState, ValueState

from streams_sql.local.interleaving import merged, rank_of
from streams_sql.local.keyed import Part
from streams_sql.local.pipeline import Pipeline
from streams_sql.plan.expression_problems import ExpressionProblems
from streams_sql.plan.nodes import Node, Read, reads_of
from streams_sql.plan.pipeline import Row
from streams_sql.plan.records import OnProblem, Problem
from streams_sql.processors.window_parts import windows_of
from streams_sql.processors.windows import WindowAggregation
from streams_sql.spark.shards.processor import ShardProcessor
from streams_sql.spark.shards.spilled_states import SpilledStates
from streams_sql.spark.shards.stage import NUMBER, PACKED, PARTITION, SHARD, TOPIC, Arrival, Chunk
from streams_sql.spark.shards.state_encoding import decoded, encoded
from streams_sql.spark.shards.waiting_rows import WaitingChange, WaitingRows
from streams_sql.spark.sources.ranges import Partition

HELD: Final = "held"
BATCH_ROWS_MAX: Final = 100_000
"""All of them are in the memory of the workers at once."""
PACKED_ROWS_MAX: Final = 10_000
"""Rows in one value, on their way from a shard."""
ENTRY_STATES_MAX: Final = 50_000
"""States in one entry. No more than that is in memory twice."""
ENTRIES_BYTES_MIN: Final = 1024 * 1024
ENTRIES_GROWTH: Final = 2
"""What is known is written anew when the entries are larger than this, and than so many times what it was."""
ENTRIES_COUNT_MAX: Final = 10_000
"""And when there are so many more: each is read by a call of its own."""
SHARDS_KEPT_MAX: Final = 64
"""In the memory of one worker. The one that was used longest ago goes."""

_ROWS_SCHEMA: Final = f"{PACKED} BINARY, {HELD} BIGINT"
_SEED: Final = 42
_MASK: Final = 2**32 - 1


@dataclass(frozen=True, slots=True)
class PackedHead:
    """Rows that come from shards, and expressions that have failed there."""

    topic: ClassVar[str] = ""

    def rows(self, on_problem: OnProblem) -> Any:
        def take(batch: pa.RecordBatch) -> list[Row]:
            rows: list[Row] = []
            for some in map(pickle.loads, batch.column(PACKED).drop_null().to_pylist()):
                if isinstance(some[0], Problem):
                    for problem in some:
                        on_problem(problem)
                else:
                    rows += some
            return rows

        return take


def sharded(frame: DataFrame, processor: ShardProcessor) -> DataFrame:
    """What the shards of a plan make of packed rows."""
    return frame.groupBy(SHARD).transformWithState(processor, _ROWS_SCHEMA, "append", "none")


@dataclass(frozen=True, slots=True)
class ShardTask:
    """One shard in one batch: `name` tells it from others in the memory of a worker, `node` is the pickled plan, `entries` and `mark_of` are
    what the state store has of it."""

    name: tuple[str, int]
    node: bytes
    rows_max: int
    is_spread: bool
    entries: MapState
    mark_of: ValueState

    def run(self, rows: Iterator[SparkRow]) -> Iterator[SparkRow]:
        shard = self._committed(_KEPT.pop(self.name, None))
        made = shard.take(rows)
        self._write(shard)
        while len(_KEPT) >= SHARDS_KEPT_MAX:
            _KEPT.popitem(last=False)[1].close()
        _KEPT[self.name] = shard
        remaining = iter(made)
        while some := list(islice(remaining, PACKED_ROWS_MAX)):
            yield _packed(some)
        if problems := shard.problems.take():
            yield _packed(problems)
        if shard.waiting.count:
            yield SparkRow(**{PACKED: None, HELD: shard.waiting.count})

    def _committed(self, kept: _Shard | None) -> _Shard:
        """The shard as the state store has it, from what this worker keeps of it if that is a part of its past."""
        committed = self.mark_of.get()
        if committed is None:
            if kept is not None:
                kept.close()
            return _Shard(self._plan(), self.rows_max, self.is_spread)
        mark, first, whole_next, next_ = committed
        if kept is not None and mark != kept.mark and not self._is_past(kept, first, next_):
            kept.close()
            kept = None
        shard = kept or _Shard(
            self._plan(), self.rows_max, self.is_spread, first=first, next=first, whole_next=whole_next
        )
        shard.restore(self._entry(number)[1] for number in range(shard.next, next_))
        shard.mark = mark
        return shard

    def _plan(self) -> Node:
        plan: Node = pickle.loads(self.node)  # noqa: S301 - it comes from our own driver process
        return plan

    def _is_past(self, kept: _Shard, first: int, next_: int) -> bool:
        """Whether the last entry that it has written, or read, is there still, and of the same batch."""
        return first < kept.next <= next_ and self._entry(kept.next - 1)[0] == kept.mark

    def _entry(self, number: int) -> tuple[bytes, bytes]:
        """The mark of its batch, and what it says."""
        found = self.entries.getValue((number,))
        assert found is not None
        mark, entry = found
        return mark, entry

    def _write(self, shard: _Shard) -> None:
        """Entries one by one, each under a number of its own: together they may be larger than a value can be, or than memory."""
        shard.mark = secrets.token_bytes(8)
        self._append(shard, shard.changed())
        if shard.has_grown:
            former = range(shard.first, shard.next)
            shard.first, shard.entries_bytes = shard.next, 0
            self._append(shard, shard.whole())
            shard.whole_bytes, shard.whole_next = shard.entries_bytes, shard.next
            for number in former:
                self.entries.removeKey((number,))
        self.mark_of.update((shard.mark, shard.first, shard.whole_next, shard.next))

    def _append(self, shard: _Shard, entries: Iterable[bytes]) -> None:
        for entry in entries:
            self.entries.updateValue((shard.next,), (shard.mark, entry))
            shard.next += 1
            shard.entries_bytes += len(entry)


@dataclass(slots=True)
class _Shard:
    """What a worker keeps of a shard. The mark is another one for each batch; `first` and `next` are numbers of entries."""

    node: Node
    rows_max: int
    is_spread: bool
    pipeline: Pipeline = field(init=False)
    problems: ExpressionProblems = field(init=False)
    waiting: WaitingRows = field(default_factory=WaitingRows)
    mark: bytes = b""
    first: int = 0
    next: int = 0
    entries_bytes: int = 0
    whole_bytes: int = 0
    whole_next: int = 0
    """Entries from here on are changes."""
    _topics: dict[str, list[int]] = field(init=False)
    """The places where each is read, in the order of their numbers."""
    _rowtime: int | None = field(init=False)
    """Where in a row its time is, if rows that are elsewhere move stream time on as well."""

    def __post_init__(self) -> None:
        self._topics = places_by_topic(reads_of(self.node))
        self.problems = ExpressionProblems(next(iter(self._topics)) if len(self._topics) == 1 else "")
        is_in_parts = windows_of(self.node) is not None
        self.pipeline = Pipeline(self.node, self.problems.add, self.rows_max, SpilledStates, is_in_parts)
        timed = [each.processor for each in self.pipeline.keyed if isinstance(each.processor, WindowAggregation)]
        self._rowtime = timed[0].rowtimes[0] if timed and (self.is_spread or is_in_parts) else None
        for keyed in self.pipeline.keyed:
            keyed.watch()

    def close(self) -> None:
        for keyed in self.pipeline.keyed:
            keyed.close()

    def restore(self, entries: Iterable[bytes]) -> None:
        """Know what the next entries say."""
        for entry in entries:
            self.entries_bytes += len(entry)
            if self.next < self.whole_next:
                self.whole_bytes += len(entry)
            self.next += 1
            change, parts = decoded(entry)
            if change is not None:
                self.waiting.restore(WaitingChange(*change))
            for keyed, part in zip(self.pipeline.keyed, parts, strict=True):
                keyed.restore(Part(*part))

    def take(self, packed: Iterable[SparkRow]) -> list[Row]:
        awaited = self._add(packed)
        released, now = self.waiting.release(awaited, self._rank)
        made: list[Row] = []
        for place, rows, times in merged(released):
            made += self._fed(place, rows, times)
        return made if self._rowtime is None else made + self.pipeline.advance(now)

    def _add(self, packed: Iterable[SparkRow]) -> frozenset[Partition]:
        """Take rows in, and return the partitions that they wait for."""
        topics, awaited = list(self._topics), frozenset[Partition]()
        for each in sorted(packed, key=_position):
            partition = topics[each[TOPIC]], each[PARTITION]
            content: Chunk | Arrival = pickle.loads(each[PACKED])  # noqa: S301 - packed by our own stage
            if isinstance(content, Chunk):
                self.waiting.add(partition, content)
            else:
                awaited = content.awaited
                if content.time is not None:
                    self.waiting.reach(partition, content.time)
        return awaited

    def _rank(self, partition: Partition) -> tuple[int, ...]:
        topic, number = partition
        return rank_of(self.pipeline.reads, self._topics[topic], number)

    def _fed(self, place: int, rows: list[Row], times: list[int]) -> list[Row]:
        """What comes of rows. A late one has to find stream time where rows that are elsewhere have moved it."""
        pipeline, rowtime = self.pipeline, self._rowtime
        if rowtime is None:
            return pipeline.feed_prepared(place, rows)
        made: list[Row] = []
        start = 0
        for index, (row, time) in enumerate(zip(rows, times, strict=True)):
            if time > row[rowtime]:
                made += pipeline.feed_prepared(place, rows[start:index])
                made += pipeline.advance(time)
                start = index
        return made + pipeline.feed_prepared(place, rows[start:])

    @property
    def has_grown(self) -> bool:
        """Whether there is much more in the state store than is known."""
        is_large = self.entries_bytes > max(ENTRIES_BYTES_MIN, ENTRIES_GROWTH * self.whole_bytes)
        return is_large or self.next - self.whole_next > ENTRIES_COUNT_MAX

    def changed(self) -> Iterator[bytes]:
        return _entries(self.waiting.changed(), [keyed.changed() for keyed in self.pipeline.keyed])

    def whole(self) -> Iterator[bytes]:
        return _entries(self.waiting.whole(), [keyed.whole() for keyed in self.pipeline.keyed])


def places_by_topic(reads: Iterable[Read]) -> dict[str, list[int]]:
    """The places of a plan where each topic is read."""
    found: dict[str, list[int]] = {}
    for place, read in enumerate(reads):
        found.setdefault(read.source.topic, []).append(place)
    return found


def _packed(some: Sequence[Row | Problem]) -> SparkRow:
    return SparkRow(**{PACKED: pickle.dumps(some, pickle.HIGHEST_PROTOCOL), HELD: None})


_KEPT: OrderedDict[tuple[str, int], _Shard] = OrderedDict()
"""The shards of this worker, those that were used last at the end."""


def _entries(changes: Iterator[WaitingChange], parts: Sequence[Part]) -> Iterator[bytes]:
    """What has changed of rows that wait, and parts of all operators, encoded, in pieces that are not too large."""
    states = [iter(part.states.items()) for part in parts]
    is_first = True
    while True:
        change = next(changes, None)
        some = [
            (part.now, part.sides, dict(islice(each, ENTRY_STATES_MAX)))
            for part, each in zip(parts, states, strict=True)
        ]
        if not is_first and change is None and not any(states_of_part for _, _, states_of_part in some):
            return
        yield encoded((None if change is None else tuple(change), some))
        is_first = False


def shard_numbers(count: int) -> tuple[int, ...]:
    """Numbers that Spark puts each into a partition of its own, of so many."""
    found: dict[int, int] = {}
    for number in itertools.count():
        found.setdefault(_spark_hash(number) % count, number)
        if len(found) == count:
            return tuple(found[partition] for partition in sorted(found))
    raise AssertionError


def _spark_hash(number: int) -> int:
    """Murmur3 of an INT, as Spark deals out rows by it."""
    mixed = number * 0xCC9E2D51 & _MASK
    mixed = _rotated(mixed, 15) * 0x1B873593 & _MASK
    mixed = (_rotated(_SEED ^ mixed, 13) * 5 + 0xE6546B64) & _MASK
    mixed ^= 4
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & _MASK
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & _MASK
    mixed ^= mixed >> 16
    return mixed - 2**32 if mixed >> 31 else mixed


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _MASK


def _position(row: SparkRow) -> tuple[int, int, int]:
    return row[TOPIC], row[PARTITION], row[NUMBER]
