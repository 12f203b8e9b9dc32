"""Push queries: SELECT … EMIT CHANGES."""

from __future__ import annotations

from collections.abc import Mapping

from streams_sql.analysis.catalogue_view import CatalogueView
from streams_sql.analysis.outputs import check_names
from streams_sql.analysis.query import NO_LIMITS, analyse, projected
from streams_sql.analysis.query_parts import relations
from streams_sql.analysis.ranges import asked_spans, check_live
from streams_sql.language.statements import Query
from streams_sql.plan.hosting import Hosting, hosting_of
from streams_sql.plan.nodes import Named, PushPlan, UnionAll
from streams_sql.plan.pipeline import chain_of
from streams_sql.sources import Column


def plan_push(
    query: Query,
    catalogue: CatalogueView,
    limits: Mapping[str, int] = NO_LIMITS,
    now_ms: int = 0,
    is_local: bool = False,
) -> PushPlan:
    """What Spark has no operator for, and streams that are put together, run in this process, where the first row needs no JVM; `is_local` says
    that it has to. `now_ms` is what SINCE 5 MINUTES counts from."""
    check_live(relation.range for relation in relations(query))
    analysed = analyse(query, catalogue, is_persistent=False, limits=limits, is_bounded=is_local)
    columns = tuple(Column(output.name, output.type) for output in analysed.outputs)
    check_names(columns)
    named = tuple(Named(output.name, output.value) for output in analysed.outputs)
    rows = projected(analysed, named, ())
    spans = asked_spans(query, catalogue, now_ms)
    is_here = hosting_of(rows) is Hosting.SHARDS or isinstance(chain_of(rows).base, UnionAll)
    return PushPlan(rows, columns, query.limit, is_local or bool(spans) or is_here, spans)
