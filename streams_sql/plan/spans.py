"""Parts of topics: from where to where a look reads."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final

BEHIND_ALL: Final = 2**63 - 1
"""An offset that no record has."""


@dataclass(frozen=True, slots=True)
class Span:
    """The records of a topic that are meant: of these partitions (None: of all), from an offset or a time on, up to but not including
    another one. A time means the first record of a partition that is as late or later. `last` means as many at the end of all this, by
    their times; `key` the partition in which the records of a key are. What is None does not limit."""

    partitions: frozenset[int] | None = None
    from_offset: int | None = None
    to_offset: int | None = None
    from_time_ms: int | None = None
    to_time_ms: int | None = None
    last: int | None = None
    key: bytes | None = None

    def narrowed(self, other: Span) -> Span:
        """What is in both, as far as offsets, times and partitions go."""
        return replace(
            self,
            partitions=_both(self.partitions, other.partitions),
            from_offset=_later(self.from_offset, other.from_offset),
            to_offset=_earlier(self.to_offset, other.to_offset),
            from_time_ms=_later(self.from_time_ms, other.from_time_ms),
            to_time_ms=_earlier(self.to_time_ms, other.to_time_ms),
            key=other.key if self.key is None else self.key,
        )

    def beyond(self, other: Span) -> Span:
        """What of this the other one does not say."""
        return Span(
            **{
                each.name: None if getattr(self, each.name) == getattr(other, each.name) else getattr(self, each.name)
                for each in fields(self)
            }
        )

    def __str__(self) -> str:
        found = []
        if self.partitions is not None:
            found.append(f"partitions {', '.join(map(str, sorted(self.partitions))) or 'none'}")
        if self.from_offset == BEHIND_ALL:
            found.append("what comes from now on")
        else:
            found += _ends("offset", self.from_offset, self.to_offset)
        found += _ends("time", self.from_time_ms, self.to_time_ms)
        if self.key is not None:
            found.append("the partition of the key")
        if self.last is not None:
            found.append(f"the last {self.last} records")
        return ", ".join(found) or "all"


ALL: Final = Span()
FROM_NOW_ON: Final = Span(from_offset=BEHIND_ALL)


def _both(one: frozenset[int] | None, other: frozenset[int] | None) -> frozenset[int] | None:
    if one is None or other is None:
        return one if other is None else other
    return one & other


def _later(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _earlier(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _ends(what: str, first: int | None, end: int | None) -> list[str]:
    found = [] if first is None else [f"from {what} {first}"]
    return found if end is None else [*found, f"up to and without {what} {end}"]
