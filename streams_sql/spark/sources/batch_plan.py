"""Which records the next batch of a query reads, and which partitions its rows have to wait for.

The partitions that a query with state reads are aligned by time: a row is processed when every other partition has been read up to a later
row, or to its end. Only the plan of a batch knows the ends, so it names the partitions that are *awaited*: those with unread records, and for
`max.task.idle.ms` after their last record those without. The names are part of the offsets of the batch, since a batch that is run again
must process the same rows. Rows that cannot be processed yet are held by the shards (see `waiting_rows`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from streams_sql.spark.sources.ranges import Partition

AWAITED: Final = ":awaited"
"""The key of the awaited partitions among the offsets of topics. No topic has a colon in its name."""
HELD_ROWS_MAX: Final = 200_000
"""Above this, a batch reads only the partitions that all held rows wait for. One batch may still add to it."""
BEFORE_ALL: Final = -1
"""A time before that of every record."""

Positions: TypeAlias = Mapping[Partition, int]
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """Where a batch ends, and the partitions that its rows wait for."""

    ends: Positions
    awaited: frozenset[Partition] = frozenset()


@dataclass(frozen=True, slots=True)
class Pace:
    """What the batches so far have found: the greatest timestamp read from each partition, and the number of rows that are held."""

    times: Mapping[Partition, int]
    held_rows: int = 0

    def write(self, path: Path) -> None:
        """Atomically: the process that plans batches reads it at any time."""
        new = path.with_suffix(".new-pace")
        new.write_text(json.dumps({"held": self.held_rows, "times": named(self.times)}))
        new.replace(path)


def read_pace(path: Path) -> Pace | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    return Pace({partition_named(name): at for name, at in found["times"].items()}, found["held"])


def named(positions: Mapping[Partition, int]) -> dict[str, int]:
    return {f"{topic}-{number}": at for (topic, number), at in positions.items()}


def partition_named(name: str) -> Partition:
    topic, _, number = name.rpartition("-")
    return topic, int(number)


def plan_of(offsets: Mapping[str, Mapping[str, Any]]) -> BatchPlan:
    """From the offsets that Spark keeps."""
    ends = {
        (topic, int(number)): at for topic, found in offsets.items() if topic != AWAITED for number, at in found.items()
    }
    return BatchPlan(ends, frozenset(map(partition_named, offsets.get(AWAITED, ()))))


def offsets_of(plan: BatchPlan, topics: Iterable[str]) -> dict[str, dict[str, Any]]:
    """In the form of Spark's own connector, with the awaited partitions beside the topics."""
    found: dict[str, dict[str, Any]] = {topic: {} for topic in topics}
    for (topic, number), at in sorted(plan.ends.items()):
        found[topic][str(number)] = at
    if plan.awaited:
        found[AWAITED] = dict.fromkeys(sorted(f"{topic}-{number}" for topic, number in plan.awaited), True)
    return found


def limited(begun: Mapping[K, int], ends: Mapping[K, int], records_max: int | None) -> dict[K, int]:
    """Where a batch ends: at the ends, or before them, so that each partition gets its share of what a batch may have."""
    waiting = {partition: end - begun.get(partition, 0) for partition, end in ends.items()}
    total = sum(waiting.values())
    if records_max is None or total <= records_max:
        return dict(ends)
    return {
        partition: begun.get(partition, 0) + -(-count * records_max // total) for partition, count in waiting.items()
    }


class Planner:
    """Plans the batches of one query whose partitions are aligned. `pace` is the file that says how far ahead partitions are; `idle_ms` is
    `max.task.idle.ms`."""

    def __init__(self, pace: Path, idle_ms: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self._pace = pace
        self._idle_s = idle_ms / 1000
        self._clock = clock
        self._idle_since_s: dict[Partition, float] = {}

    def next(self, begun: BatchPlan, ends: Positions, readable: Positions, records_max: int | None) -> BatchPlan | None:
        """The plan after `begun`, None if there is nothing to do. `ends` are the log end offsets, `readable` those that may be read to."""
        planned = limited(begun.ends, self._chosen(begun.ends, readable), records_max)
        unread = {partition for partition, end in ends.items() if planned.get(partition, 0) < end}
        plan = BatchPlan(planned, frozenset(unread | self._idle(begun.ends, ends)))
        is_read = any(at > begun.ends.get(partition, 0) for partition, at in planned.items())
        return plan if is_read or begun.awaited - plan.awaited else None

    def _chosen(self, begun: Positions, readable: Positions) -> Positions:
        """With too many rows held, the partitions that are furthest behind in time; reading others would only hold more."""
        pace = read_pace(self._pace)
        if pace is None or pace.held_rows <= HELD_ROWS_MAX:
            return readable
        unread = [partition for partition, end in readable.items() if end > begun.get(partition, 0)]
        if not unread:
            return readable
        earliest = min(pace.times.get(partition, BEFORE_ALL) for partition in unread)
        behind = {each for each in unread if pace.times.get(each, BEFORE_ALL) == earliest}
        return {
            partition: end if partition in behind else begun.get(partition, 0) for partition, end in readable.items()
        }

    def _idle(self, begun: Positions, ends: Positions) -> set[Partition]:
        """Partitions whose next record is still waited for, though they have been read to their ends."""
        if not self._idle_s:
            return set()
        now_s = self._clock()
        for partition, end in ends.items():
            if end > begun.get(partition, 0):
                self._idle_since_s[partition] = now_s
            else:
                self._idle_since_s.setdefault(partition, now_s)
        return {partition for partition, since_s in self._idle_since_s.items() if now_s - since_s < self._idle_s}
