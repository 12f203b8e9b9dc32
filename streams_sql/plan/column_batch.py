"""Rows of records as columns: one sequence for each, of which rows are made only where somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streams_sql.plan.pipeline import Origin, Row


@dataclass(frozen=True, slots=True)
class ColumnBatch:
    """Of records that all have a value. The columns are those of a relation, in its order."""

    columns: Sequence[Sequence[Any]]
    partitions: Sequence[int]
    offsets: Sequence[int]

    def rows(self) -> list[Row]:
        return list(zip(*self.columns, self.origins(), strict=True))

    def chosen(self, places: Sequence[int]) -> list[Row]:
        """Rows of some of the columns."""
        return list(zip(*[self.columns[place] for place in places], self.origins(), strict=True))

    def origins(self) -> Iterator[Origin]:
        return zip(repeat(False), self.partitions, self.offsets)
