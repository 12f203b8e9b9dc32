"""Where in the order of a table its rows stand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from connect.connectors.jdbc.increments import Increment
from connect.connectors.jdbc.layouts import UNCONVERTIBLE
from connect.connectors.jdbc.positions import Position
from connect.connectors.jdbc.timestamps import TimestampColumn
from connect.errors import ConnectError


class RowPositions(NamedTuple):
    """Reads positions from rows by the places of the columns that order them."""

    target: str
    timestamps: TimestampColumn | None
    timestamp_places: tuple[int, ...]
    number_place: int | None

    @classmethod
    def of(
        cls, target: str, increment: Increment, timestamps: TimestampColumn | None, names: Sequence[str]
    ) -> RowPositions:
        """ConnectError if the rows do not have the columns."""
        number = increment.incrementing
        return cls(
            target,
            timestamps,
            tuple(_place(target, names, name) for name in increment.timestamps),
            None if number is None else _place(target, names, number),
        )

    @property
    def are_unique(self) -> bool:
        """Whether each row has a position of its own: times alone may be those of many."""
        return self.number_place is not None

    def position(self, row: Sequence[Any]) -> Position:
        try:
            return Position(self._moment(row), self._number(row))
        except (*UNCONVERTIBLE, StopIteration) as error:
            raise ConnectError(
                f"{error}: a row of {self.target} cannot be placed, since the columns that tell new rows from old ones "
                "must hold times and whole numbers"
            ) from None

    def _moment(self, row: Sequence[Any]) -> datetime | None:
        if self.timestamps is None:
            return None
        return self.timestamps.moment(next(row[place] for place in self.timestamp_places if row[place] is not None))

    def _number(self, row: Sequence[Any]) -> int | None:
        if self.number_place is None:
            return None
        value = row[self.number_place]
        number = int(value)
        if number != value:
            raise ValueError(f"{value!r} is no whole number")
        return number


def _place(target: str, names: Sequence[str], name: str) -> int:
    if name in names:
        return names.index(name)
    lowered = [each.lower() for each in names]
    if name.lower() not in lowered:
        raise ConnectError(f"{target} has no column {name}: it has {', '.join(names)}")
    return lowered.index(name.lower())
