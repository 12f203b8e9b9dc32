"""Queries that run in this process one behind the other: what one gives is read by the next, as if there were a topic between them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from streams_sql.local.pipeline import Pipeline
from streams_sql.plan.join_warning import JoinWarning
from streams_sql.plan.nodes import PersistentPlan
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.sources import ROWOFFSET, ROWPARTITION, ROWTIME, WINDOWEND, WINDOWSTART
from tests.streams_sql.analysis.catalogues import planned, sources

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Fed:
    """A record of a topic: `values` are those of its columns; without `is_there`, it has a key alone."""

    topic: str
    time: int
    values: Values
    is_there: bool = True


@cache
def _plans(statements: tuple[str, ...]) -> list[PersistentPlan]:
    catalogue, plans = sources(), []
    for statement in statements:
        if " AS SELECT " in statement or " AS WITH " in statement:
            plans.append(planned(statement, catalogue))
        catalogue.add(statement)
    return plans


@dataclass
class _Query:
    plan: PersistentPlan
    pipeline: Pipeline
    written: list[tuple[Values, bool]] = field(default_factory=list)


class Chained:
    """Statements as they would be given to a server: CREATE … of sources, then queries."""

    def __init__(self, *statements: str) -> None:
        self._offsets = itertools.count()
        self.errors: list[Exception] = []
        self._queries = [_Query(plan, Pipeline(plan.node, self._note)) for plan in _plans(statements)]

    def _note(self, error: Exception) -> None:
        """Joins may find nothing."""
        if not isinstance(error, JoinWarning):
            self.errors.append(error)

    @property
    def rows(self) -> list[tuple[Values, bool]]:
        """What the last query has written: the columns and ROWTIME of each row, and whether it is there."""
        return self._queries[-1].written

    @property
    def table(self) -> dict[tuple[Any, ...], Values]:
        """The same, if that is a table."""
        sink = self._queries[-1].plan.sink
        names = [column.name for column in sink.schema.key]
        if sink.key_window is not None:
            names += [WINDOWSTART, WINDOWEND]
        found: dict[tuple[Any, ...], Values] = {}
        for values, is_there in self.rows:
            key = tuple(values[name] for name in names)
            found.pop(key, None)
            if is_there:
                found[key] = values
        return found

    def feed(self, record: Fed) -> None:
        offset = next(self._offsets)
        for query in self._queries:
            for place, read in enumerate(query.pipeline.reads):
                if read.source.topic == record.topic:
                    values = {
                        **dict.fromkeys((column.name for column in read.source.schema.columns()), None),
                        **record.values,
                        ROWTIME: record.time,
                        ROWPARTITION: 0,
                        ROWOFFSET: offset,
                    }
                    names = [name.removeprefix(read.prefix) for name in columns_of(read)]
                    row = (*(values[name] for name in names), (not record.is_there, 0, offset))
                    self._write(query, query.pipeline.feed(place, [row]))

    def _write(self, query: _Query, rows: list[Row]) -> None:
        names, sink = columns_of(query.plan.node), query.plan.sink
        for row in rows:
            values = dict(zip(names, row[:-1], strict=True))
            query.written.append((values, not row[-1][0]))
            self.feed(Fed(sink.topic, values[ROWTIME], values, not row[-1][0]))
