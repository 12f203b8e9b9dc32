"""Bounded queries: SELECT without EMIT, over topics of a real broker."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from streams_sql.analysis.scan import plan_scan
from streams_sql.bounded.pages import Budget
from streams_sql.engine.client_queries.resolution import ResolvedQuery
from streams_sql.engine.client_queries.topic_scan import Scan as ScanRun
from streams_sql.plan.records import Problem
from tests.streams_sql.analysis.catalogues import query_of, sources
from tests.streams_sql.recomputation.case_topics import CaseTopics
from tests.streams_sql.recomputation.cases import Case
from tests.streams_sql.recomputation.expressions import Expression, Type
from tests.streams_sql.recomputation.outcomes import Outcome, ResultRow, stream_outcome, table_outcome
from tests.streams_sql.recomputation.queries import Item, Select
from tests.streams_sql.recomputation.recomputation import Mode


class BoundedHost:
    """It has neither PARTITION BY nor EMIT FINAL, which are for queries that write topics."""

    mode = Mode.BOUNDED

    def __init__(self, topics: CaseTopics) -> None:
        self._topics = topics
        self._settings = {"bootstrap.servers": topics.address}

    def takes(self, query: Select) -> bool:
        return not query.is_repartitioned and (query.grouping is None or not query.grouping.is_final)

    def outcomes(self, cases: list[Case]) -> Iterator[Outcome | Exception]:
        for case in cases:
            topics = self._topics.create(case)
            try:
                self._topics.write(case, topics, case.records)
                yield self._outcome(case, topics)
            except Exception as error:  # noqa: BLE001 - it is the outcome
                yield error
            finally:
                self._topics.delete(topics)

    def _outcome(self, case: Case, topics: dict[str, str]) -> Outcome:
        catalogue = sources(*(source.statement(topics[source.name]).rstrip(";") for source in case.sources))
        query = _with_bounds(case.query)
        names = [source.name.upper() for source in case.sources]
        found = {name: source for name in names if (source := catalogue.source(name)) is not None}
        plan = plan_scan(query_of(query.text), ResolvedQuery(query_of(query.text), found), time.time_ns() // 1_000_000)
        scan = ScanRun(plan, self._settings, None, Budget(), _fail, _pass_over)
        try:
            rows = []
            while (page := scan.page()) is not None:
                rows += page
        finally:
            scan.close()
        return _outcome(case.query, rows, len(query.items) - len(case.query.items))


def _with_bounds(query: Select) -> Select:
    """With the bounds of windows as columns."""
    is_windowed = query.grouping is not None and query.grouping.window is not None
    alias = query.relation.operands[0].expression.text.partition(".")[0]
    names = [f"{alias}.WINDOWSTART", f"{alias}.WINDOWEND"] if is_windowed else []
    added = [Item(f"w{place}", Expression(Type.BIGINT, name, name)) for place, name in enumerate(names)]
    return replace(query, items=(*query.items, *added))


def _outcome(query: Select, rows: list[tuple[object, ...]], added: int) -> Outcome:
    found = []
    for row in rows:
        values = row[1 : len(row) - added]
        match row[len(row) - added :]:
            case (int(start), int(end)):
                found.append(ResultRow(row[0], (start, end), values, None))
            case _:
                found.append(ResultRow(row[0], None, values, None))
    return table_outcome(found) if query.is_table else stream_outcome(found)


def _pass_over(error: Exception) -> None:
    """The value is NULL, as the language has it."""


def _fail(problem: Problem) -> None:
    raise AssertionError(problem)
