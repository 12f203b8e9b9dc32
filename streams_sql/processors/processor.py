"""What operators with state have in common: they are state machines that know one key at a time.

A processor takes rows (or what else its inputs give) one at a time, in their order, with the state of their key, and says what comes of
them. States are plain values that can be kept anywhere: one look-up and one write are enough for all rows of a key that come together.
Time is the host's: a processor reads no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from streams_sql.plan.pipeline import Row

Change: TypeAlias = tuple[Row | None, Row]
"""The row that a table had under a key, if any, and the one that it has now. The latter may be one without a value: the key is gone."""

Out: TypeAlias = list[Any]
"""Rows, or changes of a table where they are asked for."""

KeyOf: TypeAlias = Callable[[Any], Any]
"""The key of what an input gives, which can be looked up in a dict; None where it has none."""

BEFORE_ALL: Final = -1
"""A time before that of every record."""
NEVER: Final = 2**63 - 1


class Clock:
    """Stream time: `now` is the latest ROWTIME of all inputs, that of the row which is taken included; `sides` are the latest ones that
    each input had before it."""

    __slots__ = ("now", "sides")

    def __init__(self, sides: int) -> None:
        self.now = BEFORE_ALL
        self.sides = [BEFORE_ALL] * sides


class Processor(Protocol):
    """`keys` has a function for each input. A state of None is that of a key of which nothing is known."""

    @property
    def keys(self) -> Sequence[KeyOf]: ...

    def take(self, key: Any, state: Any, side: int, row: Any, clock: Clock, out: Out) -> Any:
        """Add to `out` what comes of a row, and return the state to keep, which may be the same one, changed."""


@runtime_checkable
class TimedProcessor(Processor, Protocol):
    """One for which time matters. `rowtimes` are the places of ROWTIME in the rows of each input. States are lists whose first element
    is the stream time at which `expire` is due."""

    @property
    def rowtimes(self) -> Sequence[int]: ...

    def expire(self, key: Any, state: Any, clock: Clock) -> tuple[Any, list[tuple[Any, Any]]]:
        """The state to keep, and what is to be told, each with its place in the order of what all keys have to tell."""


@runtime_checkable
class ReadingProcessor(Processor, Protocol):
    """One that changes nothing for the rows of `reading_side`: they need not be taken one by one, and rows without a key come along."""

    @property
    def reading_side(self) -> int: ...

    def read(self, rows: list[Any], states: Mapping[Any, Any], out: Out) -> None:
        """Add to `out` what comes of rows."""


@runtime_checkable
class KeylessProcessor(Processor, Protocol):
    """One that has something to say about rows without a key, of which others never hear."""

    def take_keyless(self, side: int, row: Any, clock: Clock, out: Out) -> None: ...


def as_kept(origin: tuple[bool, int, int]) -> tuple[bool, int, int]:
    """The origin of a row that has a value, made from a record that may have none."""
    return (False, origin[1], origin[2]) if origin[0] else origin


def as_deleted(origin: tuple[bool, int, int]) -> tuple[bool, int, int]:
    return origin if origin[0] else (True, origin[1], origin[2])
