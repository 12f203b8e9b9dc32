"""What comes of a query, in a form that can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

Bounds: TypeAlias = tuple[int, int]


class ResultRow(NamedTuple):
    """A row of a stream, or a change of a table. Without values it is a tombstone. `window` is part of the key."""

    key: Any
    window: Bounds | None
    values: tuple[Any, ...] | None
    time: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of a table the values of each key and their time, None where it is not compared; of a stream, how many times each row is there."""

    table: dict[Any, Any] | None
    stream: Counter[Any] | None

    def difference(self, found: Outcome, limit: int = 12) -> list[str]:
        """What is missing in another outcome, and what is there that should not be."""
        if self.table is not None and found.table is not None:
            return _table_difference(self.table, found.table)[:limit]
        assert self.stream is not None
        assert found.stream is not None
        missing, surplus = self.stream - found.stream, found.stream - self.stream
        lines = [f"missing {count} x {row}" for row, count in missing.items()]
        lines += [f"surplus {count} x {row}" for row, count in surplus.items()]
        return lines[:limit]


def _table_difference(expected: dict[Any, Any], found: dict[Any, Any]) -> list[str]:
    lines = []
    for key in dict.fromkeys([*expected, *found]):
        if key not in found:
            lines.append(f"{key}: expected {expected[key]}, and there is none")
        elif key not in expected:
            lines.append(f"{key}: found {found[key]}, and none is expected")
        elif expected[key][0] != found[key][0] or (
            None not in (expected[key][1], found[key][1]) and expected[key] != found[key]
        ):
            lines.append(f"{key}: expected {expected[key]}, found {found[key]}")
    return lines


def table_outcome(changes: Iterable[ResultRow]) -> Outcome:
    """The last values of each key."""
    rows: dict[Any, Any] = {}
    for change in changes:
        place = canonical(change.key), change.window
        if change.values is None:
            rows.pop(place, None)
        else:
            rows[place] = canonical(change.values), change.time
    return Outcome(rows, None)


def stream_outcome(rows: Iterable[ResultRow]) -> Outcome:
    return Outcome(None, Counter(canonical((row.key, row.values, row.time)) for row in rows))


def canonical(value: Any) -> Any:
    """Numbers are equal whatever their types are; a number with a fraction is compared as the double next to it."""
    match value:
        case Decimal():
            return float(value)
        case list() | tuple():
            return tuple(map(canonical, value))
    return value
