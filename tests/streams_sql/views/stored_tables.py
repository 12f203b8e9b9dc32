"""Tables in SQLite without topics, and queries over them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from streams_sql.analysis.pull import plan_pull
from streams_sql.bounded.memory import MEMORY_BYTES, Memory
from streams_sql.bounded.pages import Account, Budget
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import Query
from streams_sql.plan.bounded import Bounded, BoundedPlan
from streams_sql.sources import Source
from streams_sql.views.bounded_pull import BoundedPull
from streams_sql.views.layout import ViewLayout
from streams_sql.views.store import Connection, Store


class StoredTable:
    """A view that nothing fills but `put`."""

    def __init__(self, source: Source, folder: Path) -> None:
        self.source = source
        self.store = Store(folder / source.name, ViewLayout.of(source))
        self.asked_by: list[str] = []
        self._next = 0

    def put(self, rows: Iterable[Sequence[Any]], rowtime: int = 1_000) -> None:
        """Rows with the values of the key, the window if there is one, and the value."""
        found = []
        for row in rows:
            found.append((*row, rowtime, 0, self._next, (False, 0, self._next)))
            self._next += 1
        self.store.apply(found, {0: self._next}, [])

    def new_reader(self) -> Connection:
        return self.store.reader()

    def failure(self, error: sqlite3.Error) -> Exception:
        return error

    def tended(self) -> int:
        """Build what is wanted, and tell in how many steps."""
        steps = 1
        while self.store.tend():
            steps += 1
        return steps

    def is_found_by(self, column: str) -> bool:
        self.asked_by.append(column)
        return column == self.source.schema.key[0].name


class StoredTables:
    def __init__(self, folder: Path, sources: Mapping[str, Source]) -> None:
        self.catalogue = Catalogue(sources)
        self.tables = {name: StoredTable(source, folder) for name, source in sources.items()}

    def plan(self, text: str) -> BoundedPlan:
        statement = parse_statement(text)
        assert isinstance(statement, Query)
        plan = plan_pull(statement, self.catalogue)
        assert isinstance(plan, BoundedPlan)
        return plan

    def asked(self, text: str, budget: Budget | None = None) -> list[tuple[Any, ...]]:
        return self.run(self.plan(text).node, budget)

    def run(self, node: Bounded, budget: Budget | None = None) -> list[tuple[Any, ...]]:
        budget = budget or Budget(memory_bytes=MEMORY_BYTES)

        def no_stream(_: object) -> Any:
            raise AssertionError("there are tables alone")

        pull = BoundedPull(
            node,
            lambda source: self.tables[source.name],
            no_stream,
            Account(budget),
            Memory(budget.memory_bytes),
        )
        found: list[tuple[Any, ...]] = []
        try:
            while (page := pull.page()) is not None:
                found += page
        finally:
            pull.close()
        return found

    def close(self) -> None:
        for table in self.tables.values():
            table.store.close()
