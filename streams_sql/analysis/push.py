"""Push queries: SELECT … EMIT CHANGES."""

from __future__ import annotations

from collections.abc import Mapping

from streams_sql.analysis.catalogue_view import CatalogueView
from streams_sql.analysis.query import NO_LIMITS, analyse, check_names, projected
from streams_sql.language.problem import SqlProblem
from streams_sql.language.statements import Query
from streams_sql.plan.hosting import Hosting, hosting_of
from streams_sql.plan.nodes import Named, PushPlan
from streams_sql.sources import Column


def plan_push(
    query: Query,
    catalogue: CatalogueView,
    limits: Mapping[str, int] = NO_LIMITS,
) -> PushPlan:
    """What Spark has no operator for runs in this process, where its first row needs no JVM."""
    analysed = analyse(query, catalogue, is_persistent=False, limits=limits)
    if query.limit is not None and query.limit < 0:
        raise SqlProblem(f"LIMIT {query.limit} is negative: it says how many rows are wanted.")
    columns = tuple(Column(output.name, output.type) for output in analysed.outputs)
    check_names(columns)
    named = tuple(Named(output.name, output.value) for output in analysed.outputs)
    rows = projected(analysed, named, ())
    return PushPlan(rows, columns, query.limit, is_local=hosting_of(rows) is Hosting.SHARDS)
