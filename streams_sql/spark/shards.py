"""Operators with state on Spark: the pipeline of the in-process host, in shards.

Rows are dealt out to shards by the key that all operators of a plan know them by; a plan whose operators have several keys is one shard.
They go there packed, hundreds in one value: a row costs no crossing of its own between Python and the JVM. A shard is a group of
`transformWithState`: what has changed in it is one more numbered entry in Spark's state store, and all that it knows is written anew when
the entries have grown to a multiple of that. A worker keeps its shards from batch to batch, in memory up to a limit and behind that in a
file (`spilled_states`). Spark gives a shard to whichever worker has waited longest: entries bear the mark of their batch, by which a worker
knows whether what it keeps was committed once, and then it reads only what others have added since.
"""

from __future__ import annotations

import itertools
import pickle
import secrets
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from operator import itemgetter
from typing import Any, ClassVar, Final
from zlib import crc32

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import DataFrame
from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming.stateful_processor import MapState, ValueState

from streams_sql.local.interleaving import WholeLine, merged, rank_of
from streams_sql.local.keyed import Part
from streams_sql.local.pipeline import Pipeline
from streams_sql.plan.expression_problems import ExpressionProblems
from streams_sql.plan.nodes import Node, reads_of
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.plan.records import OnProblem, Problem
from streams_sql.processors.processor import KeyOf
from streams_sql.sources import ROWTIME
from streams_sql.spark.shard_processor import ShardProcessor
from streams_sql.spark.spilled_states import SpilledStates
from streams_sql.spark.stages import PROBLEM, PROBLEM_ARROW, PROBLEM_TYPE, Problems, gathered

SHARD: Final = "shard"
PACKED: Final = "packed"
BATCH_ROWS_MAX: Final = 100_000
"""Of one topic. All of them are in the memory of the workers at once."""
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
KEYS_REMEMBERED_MAX: Final = 100_000
"""Whose shards a task need not work out again."""

_ROWS_SCHEMA: Final = f"{PACKED} BINARY"
_SEED: Final = 42
_MASK: Final = 2**32 - 1


# -- on the way to the shards ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShardTail:
    """Packs the rows that are read at one place of a plan, by shard; problems go along as rows of their own."""

    node: Node
    place: int
    shards: tuple[int, ...]

    schema: ClassVar[str] = (
        f"{SHARD} INT, place INT, partition INT, offset BIGINT, {PACKED} BINARY, {PROBLEM} {PROBLEM_TYPE}"
    )
    _arrow: ClassVar[Any] = pa.schema(
        [
            (SHARD, pa.int32()),
            ("place", pa.int32()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            (PACKED, pa.binary()),
            (PROBLEM, PROBLEM_ARROW),
        ]
    )

    def write(self, batches: Iterator[list[Row]], problems: Problems) -> Iterator[pa.RecordBatch]:
        # A key that fails is told where its row goes.
        dealing = _Dealing(Pipeline(self.node, ignored).leaves[self.place].key, self.shards)
        for rows in gathered(batches):
            packed = [
                {
                    SHARD: shard,
                    "place": self.place,
                    "partition": some[0][-1][1],
                    "offset": some[0][-1][2],
                    PACKED: pickle.dumps(some, pickle.HIGHEST_PROTOCOL),
                }
                for shard, some in dealing.dealt(rows).items()
            ]
            found = [{PROBLEM: problem._asdict()} for problem in problems.take()]
            if packed or found:
                yield pa.RecordBatch.from_pylist([*packed, *found], self._arrow)


class _Dealing:
    def __init__(self, key: KeyOf | None, shards: Sequence[int]) -> None:
        self._key = key
        self._shards = shards
        self._known: dict[Any, int] = {}

    def dealt(self, rows: list[Row]) -> Mapping[int, list[Row]]:
        if self._key is None or len(self._shards) == 1:
            return {self._shards[0]: rows} if rows else {}
        found: dict[int, list[Row]] = defaultdict(list)
        known, key_of = self._known, self._key
        for row in rows:
            key = key_of(row)
            shard = known.get(key)
            if shard is None:
                shard = self._learned(key)
            found[shard].append(row)
        return found

    def _learned(self, key: Any) -> int:
        """Equal keys are written alike, in every process."""
        if len(self._known) >= KEYS_REMEMBERED_MAX:
            self._known.clear()
        shard = self._known[key] = self._shards[crc32(repr(key).encode()) % len(self._shards)]
        return shard


@dataclass(frozen=True, slots=True)
class PackedHead:
    """Rows that come from shards, and expressions that have failed there."""

    topic: ClassVar[str] = ""

    def rows(self, on_problem: OnProblem) -> Any:
        def take(batch: pa.RecordBatch) -> list[Row]:
            rows: list[Row] = []
            for some in map(pickle.loads, batch.column(PACKED).to_pylist()):
                if isinstance(some[0], Problem):
                    for problem in some:
                        on_problem(problem)
                else:
                    rows += some
            return rows

        return take


# -- in the shards --------------------------------------------------------------------------------


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
            yield SparkRow(**{PACKED: pickle.dumps(some, pickle.HIGHEST_PROTOCOL)})
        if problems := shard.problems.take():
            yield SparkRow(**{PACKED: pickle.dumps(problems, pickle.HIGHEST_PROTOCOL)})

    def _committed(self, kept: _Shard | None) -> _Shard:
        """The shard as the state store has it, from what this worker keeps of it if that is a part of its past."""
        committed = self.mark_of.get()
        if committed is None:
            if kept is not None:
                kept.close()
            return _Shard(self._plan(), self.rows_max)
        mark, first, whole_next, next_ = committed
        if kept is not None and mark != kept.mark and not self._is_past(kept, first, next_):
            kept.close()
            kept = None
        shard = kept or _Shard(self._plan(), self.rows_max, first=first, next=first, whole_next=whole_next)
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
    pipeline: Pipeline = field(init=False)
    problems: ExpressionProblems = field(init=False)
    mark: bytes = b""
    first: int = 0
    next: int = 0
    entries_bytes: int = 0
    whole_bytes: int = 0
    whole_next: int = 0
    """Entries from here on are changes."""

    def __post_init__(self) -> None:
        topics = {read.source.topic for read in reads_of(self.node)}
        self.problems = ExpressionProblems(topics.pop() if len(topics) == 1 else "")
        self.pipeline = Pipeline(self.node, self.problems.add, self.rows_max, SpilledStates)
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
            for keyed, part in zip(self.pipeline.keyed, pickle.loads(entry), strict=True):  # noqa: S301 - our own state
                keyed.restore(part)

    def take(self, packed: Iterable[SparkRow]) -> list[Row]:
        made: list[Row] = []
        feed = self.pipeline.feed_prepared
        for place, rows in merged(self._lines(packed)):
            made += feed(place, rows)
        return made

    def _lines(self, packed: Iterable[SparkRow]) -> list[WholeLine]:
        leaves = self.pipeline.leaves
        rowtimes = [columns_of(leaf.fed).index(ROWTIME) for leaf in leaves]
        places: dict[str, list[int]] = defaultdict(list)
        for place, leaf in enumerate(leaves):
            places[leaf.read.source.topic].append(place)
        lines: dict[tuple[str, int], WholeLine] = {}
        for each in sorted(packed, key=_position):
            place = each["place"]
            topic = leaves[place].read.source.topic
            line = lines.get((topic, each["partition"]))
            if line is None:
                rank = rank_of(self.pipeline.reads, places[topic], each["partition"])
                line = lines[topic, each["partition"]] = WholeLine(rank, [], [], [])
            rows = pickle.loads(each[PACKED])  # noqa: S301 - packed by our own stage
            line.rows.extend(rows)
            line.times.extend(map(itemgetter(rowtimes[place]), rows))
            line.places.extend(repeat(place, len(rows)))
        # The same records, read in several places: each goes through all of them before the next one.
        return [line.by_offset() if len(places[topic]) > 1 else line for (topic, _), line in lines.items()]

    @property
    def has_grown(self) -> bool:
        """Whether there is much more in the state store than is known."""
        is_large = self.entries_bytes > max(ENTRIES_BYTES_MIN, ENTRIES_GROWTH * self.whole_bytes)
        return is_large or self.next - self.whole_next > ENTRIES_COUNT_MAX

    def changed(self) -> Iterator[bytes]:
        return _entries([keyed.changed() for keyed in self.pipeline.keyed])

    def whole(self) -> Iterator[bytes]:
        return _entries([keyed.whole() for keyed in self.pipeline.keyed])


_KEPT: OrderedDict[tuple[str, int], _Shard] = OrderedDict()
"""The shards of this worker, those that were used last at the end."""


def _entries(parts: Sequence[Part]) -> Iterator[bytes]:
    """Parts of all operators, pickled, in pieces that are not too large."""
    states = [iter(part.states.items()) for part in parts]
    is_first = True
    while True:
        some = [
            part._replace(states=dict(islice(each, ENTRY_STATES_MAX))) for part, each in zip(parts, states, strict=True)
        ]
        if not is_first and not any(part.states for part in some):
            return
        yield pickle.dumps(some, pickle.HIGHEST_PROTOCOL)
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


def ignored(error: Exception) -> None:
    """For pipelines that only tell how a plan is made up."""


def _position(row: SparkRow) -> tuple[int, int, int]:
    return row["place"], row["partition"], row["offset"]
