"""How far a reader of topics has read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

Positions: TypeAlias = Mapping[str, Mapping[int, int]]
"""The next offset of each partition, by topic."""
Ranges: TypeAlias = Mapping[str, Mapping[int, tuple[int, int]]]
"""The log start offset and the log end offset of each partition, by topic."""

_COMPLETE_PERCENT: Final = 100


@dataclass(frozen=True, slots=True)
class PartitionBacklog:
    topic: str
    partition: int
    start: int
    end: int
    position: int

    @property
    def behind(self) -> int:
        return max(0, self.end - max(self.position, self.start))


@dataclass(frozen=True, slots=True)
class Backlog:
    """What a reader has left of its topics. `is_known` is False until it has reported a position; until then all is left.
    `is_complete`: it has read everything that its topics held a while ago, and so had those that write to its topics."""

    partitions: tuple[PartitionBacklog, ...]
    is_known: bool
    is_complete: bool
    has_held: bool = False
    """Some of what was read waits for records of other partitions."""

    @property
    def is_own(self) -> bool:
        """Whether the reader itself is behind, and not only those that write to its topics."""
        return not self.is_complete and (self.has_held or bool(self.behind))

    @property
    def behind(self) -> int:
        return sum(each.behind for each in self.partitions)

    @property
    def total(self) -> int:
        return sum(each.end - each.start for each in self.partitions)

    @property
    def percent(self) -> int:
        """100 only when nothing is left."""
        behind, total = self.behind, self.total
        if not behind:
            return _COMPLETE_PERCENT
        return min(_COMPLETE_PERCENT - 1, _COMPLETE_PERCENT * (total - behind) // total)

    @property
    def text(self) -> str:
        if not self.behind:
            held = " and holds back rows that wait for records of other partitions" if self.has_held else ""
            return f"has read all of its topics{held}"
        if not self.is_known:
            return f"has not finished a batch since it was started; its topics have {self.total} records"
        return f"has read {self.percent} % of its topics and is {self.behind} records behind"


def partition_backlogs(positions: Positions, ranges: Ranges, topics: Iterable[str]) -> tuple[PartitionBacklog, ...]:
    """Partitions without a position have not been read."""
    return tuple(
        PartitionBacklog(topic, partition, start, end, positions.get(topic, {}).get(partition, start))
        for topic in sorted(topics)
        for partition, (start, end) in sorted(ranges.get(topic, {}).items())
    )
