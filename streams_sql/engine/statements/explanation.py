"""EXPLAIN: what a statement would do, or what a query does."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from streams_sql.analysis.defaults import Defaults
from streams_sql.analysis.persistent import plan_create_as, plan_insert
from streams_sql.analysis.pull import plan_pull
from streams_sql.analysis.push import plan_push
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.changes import sources_of
from streams_sql.engine.client_queries.resolution import Resolution, ResolvedQuery
from streams_sql.engine.client_queries.scans import Scans
from streams_sql.engine.client_queries.value_queries import value_queries
from streams_sql.engine.queries.persistent_queries import PersistentQueries
from streams_sql.engine.statements.entities import QueryDescription
from streams_sql.engine.statements.listing import Listings
from streams_sql.language.statements import CreateAsSelect, Explain, InsertSelect, Query, Statement
from streams_sql.local.topic_pages import look_span
from streams_sql.plan.bounded import BoundedPlan, ScanPlan
from streams_sql.plan.bounded_lineage import bounded_origins
from streams_sql.plan.lineage import Origins, origins, pull_origins
from streams_sql.plan.nodes import PersistentPlan, PullPlan, PushPlan
from streams_sql.plan.scan_text import scan_text
from streams_sql.plan.text import plan_text
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column
from streams_sql.views.bounded_pull import look_plan
from streams_sql.views.pull_texts import PullTexts


@dataclass(frozen=True, slots=True)
class Explanation:
    catalogue: Catalogue
    defaults: Defaults
    listing: Listings
    queries: PersistentQueries
    pulls: PullTexts
    resolution: Resolution
    scanning: Scans

    async def explain(self, statement: Explain, text: str, properties: Mapping[str, str]) -> QueryDescription:
        if statement.query_id is not None:
            query = self.listing.query(statement.query_id)
            return self.listing.described_query(query, await self.queries.spark_plan(query.id))
        assert statement.statement is not None, "EXPLAIN is about something"
        if isinstance(statement.statement, Query):
            return await self._explained_query(statement.statement, text)
        plan = self._plan(statement.statement, self.defaults.overridden(properties))
        return self._with_lineage(_described(plan, text), plan)

    async def _explained_query(self, query: Query, text: str) -> QueryDescription:
        for value, _ in value_queries(query):
            raise SqlProblem(
                "EXPLAIN tells the plan of one query, and the values of those in its expressions are not known before they are asked. "
                "Explain each by itself.",
                value.position,
            )
        resolved = await self.resolution.resolved(query, self.catalogue)
        plan: PushPlan | PullPlan | BoundedPlan
        if query.emit is not None:
            plan = plan_push(resolved.query, resolved, is_local=resolved.reads_records)
            described = _described(plan, text)
        elif resolved.is_of_tables:
            plan = plan_pull(query, self.catalogue)
            described = _described_pull(plan, text, await asyncio.to_thread(self.pulls.text, plan))
        else:
            scan = self.scanning.plan(resolved)
            plan = scan.plan
            described = _described_scan(scan, resolved, text)
        explained = replace(described, plan="\n".join([described.plan, *resolved.notes]))
        return self._with_lineage(explained, plan)

    def _with_lineage(
        self, described: QueryDescription, plan: PersistentPlan | PushPlan | PullPlan | BoundedPlan
    ) -> QueryDescription:
        found: Origins
        match plan:
            case BoundedPlan():
                found = bounded_origins(plan.node)
            case PullPlan():
                found = pull_origins(plan)
            case _:
                found = origins(plan.node)
        names = [column.name for column in described.columns]
        return replace(described, lineage=self.listing.lineage.of_columns(names, found))

    def _plan(self, statement: Statement, defaults: Defaults) -> PersistentPlan:
        match statement:
            case CreateAsSelect():
                return plan_create_as(statement, self.catalogue, defaults)
            case InsertSelect():
                return plan_insert(statement, self.catalogue)
            case _:
                raise SqlProblem(
                    "The provided statement does not run a ksql query: EXPLAIN takes one, or the id of a query."
                )


def _described(plan: PersistentPlan | PushPlan, text: str) -> QueryDescription:
    sources = tuple(dict.fromkeys(source.name for source in sources_of(plan.node)))
    if isinstance(plan, PushPlan):
        return QueryDescription("", text, plan.columns, frozenset(), sources, (), plan_text(plan), kind="PUSH")
    schema = plan.sink.schema
    keys = frozenset(column.name for column in schema.key)
    return QueryDescription("", text, (*schema.key, *schema.value), keys, sources, (plan.sink.name,), plan_text(plan))


def _described_scan(plan: ScanPlan, resolved: ResolvedQuery, text: str) -> QueryDescription:
    sources = tuple(source.name for source in resolved.sources.values())
    shown = scan_text(plan, look_plan, look_span)
    return QueryDescription("", text, plan.columns, frozenset(), sources, (), shown, kind="PULL")


def _described_pull(plan: PullPlan | BoundedPlan, text: str, shown: str) -> QueryDescription:
    if isinstance(plan, BoundedPlan):
        columns, sources = plan.columns, plan.sources
    else:
        found = [(named.name, named.expression.type) for named in plan.columns]
        columns = tuple(Column(name, type_) for name, type_ in found if type_ is not None)
        sources = (plan.source,)
    keys = frozenset(column.name for column, is_key in zip(columns, plan.keys, strict=True) if is_key)
    names = tuple(source.name for source in sources)
    return QueryDescription("", text, columns, keys, names, (), shown, kind="PULL")
