"""Rows of joins: the columns of both sides, and the later ROWTIME."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from streams_sql.plan.nodes import Node, Shape
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.processors.keys import key_places
from streams_sql.sources import ROWTIME


class JoinedRows:
    """`rowtimes` are the places of ROWTIME in the rows of both sides. With `is_key_shared`, both sides have the same key. `pick` makes the
    row of both rows, one behind the other, with the time and the origin behind them; `missing` are those that stand for none."""

    def __init__(self, left: Node, right: Node, shape: Shape, is_key_shared: bool = False) -> None:
        sides = columns_of(left), columns_of(right)
        self.rowtimes = (sides[0].index(ROWTIME), sides[1].index(ROWTIME))
        # Both rows stand behind each other, each with its origin, and ROWTIME behind them.
        self.missing = tuple((None,) * (len(columns) + 1) for columns in sides)
        second = len(sides[0]) + 1
        places = {name: place for place, name in enumerate(sides[0])}
        places |= {name: second + place for place, name in enumerate(sides[1])}
        places[ROWTIME] = second + len(sides[1]) + 1
        self.pick = itemgetter(*(places[column.name] for column in shape.columns), places[ROWTIME] + 1)
        found = [key_places(node) for node in (left, right)]
        self._keys = [
            [[columns.index(name) for name in names] for names in of_side]
            for columns, of_side in zip(sides, found, strict=True)
        ]
        self._key_places = [[[places[name] for name in names] for names in of_side] for of_side in found]
        self._is_key_shared = is_key_shared

    def pair(self, left: Row | None, right: Row | None, time: int, origin: Any) -> Row:
        first = self.missing[0] if left is None else left
        second = self.missing[1] if right is None else right
        picked: Row = self.pick((*first, *second, time, origin))
        return picked

    def gone(self, cause: Row, side: int, time: int, origin: Any) -> Row:
        """A row without a value. It has the key of `cause`, which is a row of that side."""
        values: list[Any] = [*self.missing[0], *self.missing[1], time, origin]
        keys = [[cause[place] for place in places] for places in self._keys[side]]
        key = next((found for found in keys if any(part is not None for part in found)), keys[0])
        filled = self._key_places[0] + self._key_places[1] if self._is_key_shared else self._key_places[side]
        for places in filled:
            for place, part in zip(places, key, strict=True):
                values[place] = part
        picked: Row = self.pick(values)
        return picked
