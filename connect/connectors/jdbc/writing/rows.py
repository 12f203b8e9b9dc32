"""Rows on their way into a table, column by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from connect.connectors.jdbc.identifiers import TableName

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """A table, the columns that are written, and how many of them, from the first, are the key."""

    table: TableName
    columns: tuple[str, ...]
    key_count: int

    @property
    def keys(self) -> tuple[str, ...]:
        return self.columns[: self.key_count]

    @property
    def others(self) -> tuple[str, ...]:
        return self.columns[self.key_count :]

    @property
    def key_alone(self) -> Target:
        return Target(self.table, self.keys, self.key_count)


class Rows:
    """As many values in each column. Columns come first, since that is how records are taken apart and text is built."""

    __slots__ = ("columns",)

    def __init__(self, columns: Sequence[Sequence[Any]]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def tuples(self) -> Iterator[Row]:
        return zip(*self.columns, strict=True)

    def keys(self, count: int) -> list[Any]:
        """What tells rows apart: the values of the first columns."""
        return list(self.columns[0]) if count == 1 else list(zip(*self.columns[:count], strict=True))

    def taken(self, places: Sequence[int]) -> Rows:
        return Rows([[column[place] for place in places] for column in self.columns])

    def last_of_each_key(self, count: int) -> Rows:
        """Without the rows whose key comes again, for statements that may touch a row only once."""
        last = {key: place for place, key in enumerate(self.keys(count))}
        return self if len(last) == len(self) else self.taken(sorted(last.values()))

    def slices(self, size: int) -> Iterator[Rows]:
        if 0 < len(self) <= size:
            yield self
            return
        for start in range(0, len(self), size):
            yield Rows([column[start : start + size] for column in self.columns])
