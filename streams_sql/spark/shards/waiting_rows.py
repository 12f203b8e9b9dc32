"""Rows of a shard that were read and may not be processed yet: other partitions have to be read as far first (see `batch_plan`)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from streams_sql.local.interleaving import WholeLine
from streams_sql.plan.pipeline import Row
from streams_sql.spark.shards.stage import Chunk
from streams_sql.spark.sources.batch_plan import BEFORE_ALL
from streams_sql.spark.sources.ranges import Partition

CHANGE_ROWS_MAX: Final = 50_000
"""Rows in one change. They are written one by one to the state store, where a value must not become too large."""

Rank: TypeAlias = tuple[int, ...]


class WaitingChange(NamedTuple):
    """What has changed: times that partitions have reached, rows that went, and rows that were added behind the others."""

    times: Mapping[Partition, int]
    gone: Mapping[Partition, int]
    added: Mapping[Partition, tuple[list[int], list[int], list[Row]]]
    """Chunks, as plain tuples that can be encoded."""


@dataclass(slots=True)
class _Line:
    """The rows of a partition. The first `saved` ones are known to the state store."""

    chunk: Chunk = field(default_factory=lambda: Chunk([], [], []))
    saved: int = 0

    def __len__(self) -> int:
        return len(self.chunk.rows)

    def cut(self, count: int) -> Chunk:
        """Take so many rows from the front."""
        found, self.chunk = _part(self.chunk, 0, count), _part(self.chunk, count, None)
        return found


def _part(chunk: Chunk, start: int, end: int | None) -> Chunk:
    return Chunk(chunk.times[start:end], chunk.places[start:end], chunk.rows[start:end])


class WaitingRows:
    def __init__(self) -> None:
        self._lines: dict[Partition, _Line] = {}
        self._times: dict[Partition, int] = {}
        self._gone: dict[Partition, int] = {}

    @property
    def count(self) -> int:
        return sum(map(len, self._lines.values()))

    @property
    def latest(self) -> int:
        """The greatest time that was read."""
        return max(self._times.values(), default=BEFORE_ALL)

    def add(self, partition: Partition, chunk: Chunk) -> None:
        """Rows that are later in their partition than those before. Times never go back in it, from range to range either."""
        reached = self._times.get(partition, BEFORE_ALL)
        early = bisect_left(chunk.times, reached)
        if early:
            chunk = chunk._replace(times=[reached] * early + chunk.times[early:])
        self._lines.setdefault(partition, _Line()).chunk.extend(chunk)

    def reach(self, partition: Partition, time: int) -> None:
        """All rows of a partition up to this time were read."""
        if time > self._times.get(partition, BEFORE_ALL):
            self._times[partition] = time

    def release(self, awaited: Iterable[Partition], rank: Callable[[Partition], Rank]) -> tuple[list[WholeLine], int]:
        """The rows that may go, and the time that the query has reached with them. A row goes if no row of an awaited partition can come
        before it: the next one there is not earlier than what was read of it. Of rows of the same time, those of the partition with the
        lower rank go first."""
        first = min(((self._times.get(each, BEFORE_ALL), rank(each), each) for each in awaited), default=None)
        found = []
        for partition, line in self._lines.items():
            count = len(line)
            if first is not None and partition != first[2]:
                bisect = bisect_right if rank(partition) < first[1] else bisect_left
                count = bisect(line.chunk.times, first[0])
            saved = min(count, line.saved)
            line.saved -= saved
            if saved:
                self._gone[partition] = self._gone.get(partition, 0) + saved
            if count:
                found.append(WholeLine(rank(partition), *line.cut(count)))
        return found, self.latest if first is None else first[0]

    def changed(self) -> Iterator[WaitingChange]:
        """What has changed since the last time."""
        gone, self._gone = self._gone, {}
        unsaved = {partition: _part(line.chunk, line.saved, None) for partition, line in self._lines.items()}
        yield from self._changes(gone, unsaved)
        for line in self._lines.values():
            line.saved = len(line)

    def whole(self) -> Iterator[WaitingChange]:
        """All that is known, as a change from nothing."""
        return self._changes({}, {partition: line.chunk for partition, line in self._lines.items()})

    def restore(self, change: WaitingChange) -> None:
        """Know what was known once; changes come in the order in which they were made."""
        self._times.update(change.times)
        for partition, count in change.gone.items():
            line = self._lines[partition]
            line.cut(count)
            line.saved -= count
        for partition, added in change.added.items():
            line = self._lines.setdefault(partition, _Line())
            line.chunk.extend(Chunk(*added))
            line.saved = len(line)

    def _changes(self, gone: Mapping[Partition, int], added: Mapping[Partition, Chunk]) -> Iterator[WaitingChange]:
        """In pieces that are not too large; the first one has all but rows."""
        yield WaitingChange(dict(self._times), gone, {})
        for partition, chunk in added.items():
            for start in range(0, len(chunk.rows), CHANGE_ROWS_MAX):
                part = _part(chunk, start, start + CHANGE_ROWS_MAX)
                yield WaitingChange({}, {}, {partition: (part.times, part.places, part.rows)})
