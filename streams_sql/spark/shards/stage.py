"""On the way to the shards: a stage reads a range of a partition and deals out its rows by their keys.

Rows go packed, hundreds in one value: a row costs no crossing of its own between Python and the JVM. Each has its time for the order in
which all rows of the query are processed: the greatest ROWTIME of its range so far. Where the order of rows does not matter, parts of windows
go in their place (see `window_parts`). At the end of the range every shard is informed how far
its partition has come, whether or not there was a row for it.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Final, NamedTuple
from zlib import crc32

import pyarrow as pa  # type: ignore[import-untyped]

from streams_sql.local.interleaving import Item, offset_of
from streams_sql.local.keyed import TimedKeyed
from streams_sql.local.pipeline import Leaf, Pipeline
from streams_sql.plan.nodes import Node
from streams_sql.plan.pipeline import Row, columns_of, compile_batches
from streams_sql.plan.records import Records
from streams_sql.processors.processor import KeyOf
from streams_sql.processors.window_parts import WindowParts, windows_of
from streams_sql.processors.windows import REACHED as REACHED_AT
from streams_sql.sources import ROWTIME
from streams_sql.spark.jobs.stages import (
    PROBLEM,
    PROBLEM_ARROW,
    PROBLEM_TYPE,
    ROWS_TOGETHER,
    Operator,
    Problems,
    RecordsHead,
)
from streams_sql.spark.sources.batch_plan import BEFORE_ALL
from streams_sql.spark.sources.ranges import Partition, Range

SHARD: Final = "shard"
TOPIC: Final = "topic"
PARTITION: Final = "partition"
NUMBER: Final = "number"
PACKED: Final = "packed"
REACHED: Final = "reached"
"""The greatest time of the range, in one row for each range: it is observed."""
PARTS_MAX: Final = 100_000
"""Parts of windows that a task keeps before they go on."""
KEYS_REMEMBERED_MAX: Final = 100_000
"""Whose shards a task need not work out again."""
AFTER_ALL: Final = 2**31 - 1
"""The number of what comes after all chunks of a range."""


class Chunk(NamedTuple):
    """Rows of a partition for one shard, each with the place where it is read, and its time."""

    times: list[int]
    places: list[int]
    rows: list[Row]

    def extend(self, other: Chunk) -> None:
        self.times.extend(other.times)
        self.places.extend(other.places)
        self.rows.extend(other.rows)


class Arrival(NamedTuple):
    """The end of a range: the greatest time in it, if it had a row, and the partitions that the batch waits for."""

    time: int | None
    awaited: frozenset[Partition]


@dataclass(frozen=True, slots=True)
class PlaceReading:
    """One place of a plan where the records of the topic are read, and what is done with them before the shards."""

    place: int
    head: RecordsHead
    operators: tuple[Operator, ...]


@dataclass(frozen=True, slots=True)
class ShardStage:
    """Of one topic; `number` is the one by which the shards know it."""

    node: Node
    number: int
    places: tuple[PlaceReading, ...]
    shards: tuple[int, ...]
    fails_on_bad_record: bool = False

    schema: ClassVar[str] = (
        f"{SHARD} INT, {TOPIC} INT, {PARTITION} INT, {NUMBER} INT, {PACKED} BINARY, {REACHED} BIGINT, {PROBLEM} {PROBLEM_TYPE}"
    )
    _arrow: ClassVar[Any] = pa.schema(
        [
            (SHARD, pa.int32()),
            (TOPIC, pa.int32()),
            (PARTITION, pa.int32()),
            (NUMBER, pa.int32()),
            (PACKED, pa.binary()),
            (REACHED, pa.int64()),
            (PROBLEM, PROBLEM_ARROW),
        ]
    )

    def read(self, wanted: Range, batches: Iterable[Records]) -> Iterator[pa.RecordBatch]:
        problems = Problems(self.fails_on_bad_record, wanted.topic)
        windows = windows_of(self.node)
        leaves = Pipeline(self.node, ignored, is_in_parts=windows is not None).leaves
        readers = [_Reader(each, leaves[each.place], problems, is_spread=len(self.shards) > 1) for each in self.places]
        dealing = _Dealing({each.place: leaves[each.place].key for each in self.places}, self.shards)
        if windows is None:
            source: _Rows | _Parts = _Rows(readers)
        else:
            (reader,) = readers
            source = _Parts(reader, WindowParts(windows, problems.add_error))
        number = 0
        for records in batches:
            dealing.add(source.chunk(records))
            if dealing.count >= ROWS_TOGETHER or problems.found:
                yield self._batch(wanted, number, dealing.take(), problems)
                number += 1
        dealing.add(source.last())
        yield self._batch(wanted, number, dealing.take(), problems)
        yield self._arrival(wanted, None if source.reached == BEFORE_ALL else source.reached)

    def _batch(self, wanted: Range, number: int, chunks: dict[int, Chunk], problems: Problems) -> pa.RecordBatch:
        packed = [self._row(shard, wanted, number, chunk) for shard, chunk in chunks.items()]
        found = [{PROBLEM: problem._asdict()} for problem in problems.take()]
        return pa.RecordBatch.from_pylist([*packed, *found], self._arrow)

    def _arrival(self, wanted: Range, reached: int | None) -> pa.RecordBatch:
        arrival = Arrival(reached, wanted.awaited)
        rows = [self._row(shard, wanted, AFTER_ALL, arrival) for shard in self.shards]
        rows[0][REACHED] = reached
        return pa.RecordBatch.from_pylist(rows, self._arrow)

    def _row(self, shard: int, wanted: Range, number: int, content: Chunk | Arrival) -> dict[str, Any]:
        return {
            SHARD: shard,
            TOPIC: self.number,
            PARTITION: wanted.partition,
            NUMBER: number,
            PACKED: pickle.dumps(content, pickle.HIGHEST_PROTOCOL),
        }


class _Reader:
    """Makes rows of records at one place. With several shards, stream time is made from the rows of all of them: those without a key do
    not move it, and are of no use to the operators that it matters to."""

    def __init__(self, reading: PlaceReading, leaf: Leaf, problems: Problems, *, is_spread: bool) -> None:
        self.place = reading.place
        self._rows_of = reading.head.rows(problems.add)
        self._run = compile_batches(reading.operators, problems.add_error)
        self._rowtime = columns_of(leaf.fed).index(ROWTIME)
        self._key = leaf.key if is_spread and isinstance(leaf.keyed, TimedKeyed) else None

    def rows(self, records: Records) -> list[Row]:
        return self._run(self._rows_of(records))

    def items(self, records: Records) -> list[Item]:
        place, rowtime, key_of, rows = self.place, self._rowtime, self._key, self.rows(records)
        if key_of is not None:
            rows = [row for row in rows if key_of(row) is not None]
        return [(row[rowtime], place, row) for row in rows]


class _Rows:
    """The rows of a range. Those of one record, made at several places, follow each other."""

    def __init__(self, readers: Sequence[_Reader]) -> None:
        self.reached = BEFORE_ALL
        self._readers = readers

    def chunk(self, records: Records) -> Chunk:
        found = [item for reader in self._readers for item in reader.items(records)]
        if not found:
            return Chunk([], [], [])
        if len(self._readers) > 1:
            found.sort(key=offset_of)
        rowtimes, places, rows = zip(*found, strict=True)
        times = list(accumulate(rowtimes, max, initial=self.reached))[1:]
        self.reached = times[-1]
        return Chunk(times, list(places), list(rows))

    def last(self) -> Chunk:
        return Chunk([], [], [])


class _Parts:
    """Parts of windows, in place of the rows of a range."""

    def __init__(self, reader: _Reader, parts: WindowParts) -> None:
        self._reader = reader
        self._parts = parts

    @property
    def reached(self) -> int:
        return self._parts.reached

    def chunk(self, records: Records) -> Chunk:
        self._parts.add(self._reader.rows(records))
        return self.last() if len(self._parts) >= PARTS_MAX else Chunk([], [], [])

    def last(self) -> Chunk:
        parts = self._parts.take()
        return Chunk([part[REACHED_AT] for part in parts], [self._reader.place] * len(parts), parts)


class _Dealing:
    """Collects rows by shard. A key that fails is reported where its row goes."""

    def __init__(self, keys: Mapping[int, KeyOf | None], shards: Sequence[int]) -> None:
        self.count = 0
        self._keys = keys
        self._shards = shards
        self._chunks: dict[int, Chunk] = {}
        self._known: dict[Any, int] = {}

    def add(self, chunk: Chunk) -> None:
        self.count += len(chunk.rows)
        if len(self._shards) == 1:
            self._of(self._shards[0]).extend(chunk)
            return
        known, keys = self._known, self._keys
        for time, place, row in zip(*chunk, strict=True):
            key_of = keys[place]
            key = None if key_of is None else key_of(row)
            shard = known.get(key)
            found = self._of(self._learned(key) if shard is None else shard)
            found.times.append(time)
            found.places.append(place)
            found.rows.append(row)

    def _of(self, shard: int) -> Chunk:
        chunk = self._chunks.get(shard)
        if chunk is None:
            chunk = self._chunks[shard] = Chunk([], [], [])
        return chunk

    def take(self) -> dict[int, Chunk]:
        found, self._chunks, self.count = self._chunks, {}, 0
        return found

    def _learned(self, key: Any) -> int:
        """Equal keys are written alike, in every process."""
        if len(self._known) >= KEYS_REMEMBERED_MAX:
            self._known.clear()
        shard = self._known[key] = self._shards[crc32(repr(key).encode()) % len(self._shards)]
        return shard


def ignored(error: Exception) -> None:
    """It is reported elsewhere."""
