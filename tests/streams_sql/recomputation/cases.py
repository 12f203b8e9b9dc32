"""Cases: a query, its sources and their records, all of them made from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from tests.streams_sql.recomputation.queries import Select, used_sources
from tests.streams_sql.recomputation.query_generation import QueryGeneration
from tests.streams_sql.recomputation.sources import UNITS, Record, SourceDefinition, random_records, random_sources
from tests.streams_sql.recomputation.time_bounds import time_bounds

RECORDS: Final = (3, 10, 30, 60, 100)
"""How many records a case has by default: one of these numbers."""


@dataclass(frozen=True, slots=True)
class Case:
    """`sources` are those that the query reads."""

    seed: int
    sources: tuple[SourceDefinition, ...]
    query: Select
    records: tuple[Record, ...]

    def source(self, name: str) -> SourceDefinition:
        return next(source for source in self.sources if source.name == name)

    def __str__(self) -> str:
        lines = [f"seed {self.seed}: {self.query.text}"]
        lines += [source.statement(source.name) for source in self.sources]
        return "\n".join([*lines, *map(str, self.records)])


def random_case(seed: int, sizes: Sequence[int] = RECORDS) -> Case:
    random = Random(seed)
    sources = random_sources(random, f"_{seed}")
    unit = random.choice(UNITS)
    query = QueryGeneration(random, sources, unit).query()
    names = used_sources(query)
    used = tuple(source for source in sources if source.name in names)
    records = random_records(random, used, random.choice(sizes), unit, time_bounds(query))
    return Case(seed, used, query, records)
