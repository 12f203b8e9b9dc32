"""Makes failing cases small enough to be read: fewer records, a simpler query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.streams_sql.recomputation.cases import Case
from tests.streams_sql.recomputation.queries import Select, used_sources

Fails = Callable[[Case], bool]


def shrunk(case: Case, fails: Fails, attempts_max: int = 2000) -> Case:
    """The smallest case that was found to fail as well, after so many attempts at most."""
    attempts = 0

    def still_fails(smaller: Case) -> bool:
        nonlocal attempts
        attempts += 1
        return attempts <= attempts_max and fails(smaller)

    while attempts < attempts_max:
        before = case
        case = _fewer_records(case, still_fails)
        case = _simpler_query(case, still_fails)
        case = _one_partition(case, still_fails)
        if case == before:
            break
    return case


def _fewer_records(case: Case, fails: Fails) -> Case:
    """Leave out halves, quarters and so on, down to single records."""
    size = max(len(case.records) // 2, 1)
    while size:
        start = 0
        while start < len(case.records):
            smaller = replace(case, records=case.records[:start] + case.records[start + size :])
            if fails(smaller):
                case = smaller
            else:
                start += size
        size //= 2
    return case


def _simpler_query(case: Case, fails: Fails) -> Case:
    """Take the first simpler query that fails, again and again."""
    while (simpler := next((each for each in _simpler(case) if fails(each)), None)) is not None:
        case = simpler
    return case


def _simpler(case: Case) -> Iterator[Case]:
    for query in case.query.simplified():
        if len(query.items) > 1:
            yield _of_query(case, query)


def _of_query(case: Case, query: Select) -> Case:
    names = used_sources(query)
    return replace(
        case,
        query=query,
        sources=tuple(source for source in case.sources if source.name in names),
        records=tuple(record for record in case.records if record.source in names),
    )


def _one_partition(case: Case, fails: Fails) -> Case:
    for source in case.sources:
        others = [replace(each, partitions=1) if each is source else each for each in case.sources]
        records = tuple(
            replace(record, partition=0) if record.source == source.name else record for record in case.records
        )
        smaller = replace(case, sources=tuple(others), records=records)
        if source.partitions > 1 and fails(smaller):
            case = smaller
    return case
