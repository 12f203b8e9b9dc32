"""EXPLAIN: what a statement would do, or what a query does."""

from __future__ import annotations

from dataclasses import dataclass

from streams_sql.analysis.catalogue_view import source_hint
from streams_sql.analysis.defaults import Defaults
from streams_sql.analysis.persistent import plan_create_as, plan_insert
from streams_sql.analysis.pull import plan_pull
from streams_sql.analysis.push import plan_push
from streams_sql.engine.answers import QueryDescribed
from streams_sql.engine.catalogue import Catalogue
from streams_sql.engine.changes import sources_of
from streams_sql.engine.listing import Listing
from streams_sql.engine.queries import Queries
from streams_sql.language.problem import SqlProblem
from streams_sql.language.statements import CreateAsSelect, Explain, InsertSelect, Query, Statement
from streams_sql.plan.nodes import PersistentPlan, PullPlan, PushPlan
from streams_sql.plan.text import plan_text
from streams_sql.sources import Column, Source


@dataclass(frozen=True, slots=True)
class Explaining:
    catalogue: Catalogue
    defaults: Defaults
    listing: Listing
    queries: Queries

    async def explain(self, statement: Explain, text: str) -> QueryDescribed:
        if statement.query_id is not None:
            query = self.listing.query(statement.query_id)
            return self.listing.described_query(query, await self.queries.spark_plan(query.id))
        assert statement.statement is not None, "EXPLAIN is about something"
        return _described(self._plan(statement.statement), text)

    def insert_target(self, name: str) -> Source:
        """The source that a client streams rows into. Names are upper case unless they are quoted."""
        wanted = name[1:-1] if name[:1] == name[-1:] == "`" else name.upper()
        found = self.catalogue.source(wanted)
        if found is None:
            raise SqlProblem(
                f"Cannot insert values into an unknown stream/table: `{wanted}`{source_hint(self.catalogue, wanted)}"
            )
        if found.is_read_only or found.key_window is not None:
            raise SqlProblem(f"Cannot insert values into {wanted}, which is read-only or windowed.")
        return found

    def _plan(self, statement: Statement) -> PersistentPlan | PushPlan | PullPlan:
        match statement:
            case CreateAsSelect():
                return plan_create_as(statement, self.catalogue, self.defaults)
            case InsertSelect():
                return plan_insert(statement, self.catalogue)
            case Query(emit=None):
                return plan_pull(statement, self.catalogue)
            case Query():
                return plan_push(statement, self.catalogue)
            case _:
                raise SqlProblem(
                    "The provided statement does not run a ksql query: EXPLAIN takes one, or the id of a query."
                )


def _described(plan: PersistentPlan | PushPlan | PullPlan, text: str) -> QueryDescribed:
    if isinstance(plan, PullPlan):
        return _described_pull(plan, text)
    sources = tuple(source.name for source in sources_of(plan.node))
    if isinstance(plan, PushPlan):
        return QueryDescribed("", text, plan.columns, frozenset(), sources, (), plan_text(plan), kind="PUSH")
    schema = plan.sink.schema
    keys = frozenset(column.name for column in schema.key)
    return QueryDescribed("", text, (*schema.key, *schema.value), keys, sources, (plan.sink.name,), plan_text(plan))


def _described_pull(plan: PullPlan, text: str) -> QueryDescribed:
    columns = [Column(named.name, named.expression.type) for named in plan.columns if named.expression.type is not None]
    keys = frozenset(named.name for named, is_key in zip(plan.columns, plan.keys, strict=True) if is_key)
    return QueryDescribed("", text, tuple(columns), keys, (plan.source.name,), (), plan_text(plan), kind="PULL")
