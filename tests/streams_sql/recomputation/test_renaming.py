"""Names mean nothing: a query whose sources, aliases and columns have other names writes the same records, with these names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any, Final

from streams_sql.problem import SqlProblem
from tests.streams_sql.recomputation.cases import Case, random_case
from tests.streams_sql.recomputation.expressions import Expression
from tests.streams_sql.recomputation.local_host import case_plan, written_locally
from tests.streams_sql.recomputation.queries import KEY_ITEM, Item, Scan, Subquery, Union
from tests.streams_sql.recomputation.sink_rows import SinkRecord
from tests.streams_sql.recomputation.sources import Record, SourceDefinition

SEEDS: Final = range(40_000, 40_060)
# What only quotes make names of columns, and of sources.
QUOTED_SOURCES: Final = ("SELECT", "lower", "with-dash", "2nd")
QUOTED: Final = ("GROUP", "count", "String", "a.b", "with ` in it", "ä ß", "1st", "NULL", "x->y", "--")


class Renaming:
    """Other names for all names of a case, as they are seen first. The key of results keeps its name."""

    def __init__(self, random: Random) -> None:
        plain = [f"{''.join(random.choices('QWERTZ', k=4))}_{number}" for number in range(60)]
        self._columns = random.sample([*QUOTED, *plain[:30]], len(QUOTED) + 30)
        self._sources = random.sample([*QUOTED_SOURCES, *plain[30:]], len(QUOTED_SOURCES) + 30)
        self._names: dict[str, str] = {KEY_ITEM: KEY_ITEM}

    def column(self, of: str) -> str:
        """As the catalogue has it."""
        if of not in self._names:
            self._names[of] = self._columns.pop()
        return self._names[of]

    def column_text(self, of: str) -> str:
        """As statements have it."""
        name = self.column(of)
        return name if of == KEY_ITEM else "`" + name.replace("`", "``") + "`"

    def source_text(self, of: str) -> str:
        if of not in self._names:
            self._names[of] = self._sources.pop()
        return f"`{self._names[of]}`"

    def node(self, of: Any) -> Any:
        match of:
            case Expression(parts=()) if of.duck.startswith('"'):
                alias, _, name = of.duck.strip('"').partition(".")
                return replace(of, ksql=f"{self.source_text(alias)}.{self.column_text(name)}")
            case Scan():
                return Scan(self.source(of.source), self.source_text(of.alias))
            case SourceDefinition():
                return self.source(of)
            case tuple():
                return tuple(map(self.node, of))
        if not is_dataclass(of) or isinstance(of, type):
            return of
        changed = {each.name: self.node(getattr(of, each.name)) for each in fields(of)}
        match of:
            case Item():
                changed["name"] = self.column_text(of.name)
            case Subquery() | Union():
                changed["alias"] = self.source_text(of.alias)
        return replace(of, **changed)

    def source(self, of: SourceDefinition) -> SourceDefinition:
        columns = tuple(replace(each, name=self.column_text(each.name)) for each in of.columns)
        return replace(of, name=self.source_text(of.name), columns=columns)

    def record(self, of: Record) -> Record:
        values = None if of.values is None else {self.column(name): value for name, value in of.values.items()}
        return replace(of, source=self.source_text(of.source), values=values)

    def case(self, of: Case) -> Case:
        return Case(of.seed, self.node(of.sources), self.node(of.query), tuple(map(self.record, of.records)))

    def written(self, of: SinkRecord) -> tuple[Any, ...]:
        value = None if of.value is None else self._values(json.loads(of.value))
        return of.key, value, of.time

    def _values(self, of: Mapping[str, Any]) -> dict[str, Any]:
        return {self.column(name.lower()): value for name, value in of.items()}


def test_names_mean_nothing() -> None:
    compared = 0
    for case in map(random_case, SEEDS):
        renaming = Renaming(Random(case.seed))
        renamed = renaming.case(case)
        with suppress(SqlProblem):
            plan = case_plan(case)
            expected = [renaming.written(record) for record in written_locally(case, plan)]
            assert decoded(written_locally(renamed, case_plan(renamed))) == expected, f"{case}\n{renamed}"
            compared += 1
    assert compared > 0.9 * len(SEEDS)


def decoded(records: Sequence[SinkRecord]) -> list[tuple[Any, ...]]:
    return [(each.key, None if each.value is None else json.loads(each.value), each.time) for each in records]
