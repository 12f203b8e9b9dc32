"""Pull queries: SELECT … without EMIT, a look at what there is now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from streams_sql.analysis.bounded import plan_bounded
from streams_sql.analysis.calls import is_aggregate
from streams_sql.analysis.catalogue_view import CatalogueView
from streams_sql.analysis.outputs import check_names
from streams_sql.analysis.relation import read_relation, typed_condition
from streams_sql.analysis.scope import scope_of
from streams_sql.analysis.select_list import Item, select_list
from streams_sql.analysis.traversal import walk
from streams_sql.language.expressions import ColumnName
from streams_sql.language.statements import Query, SelectColumn, UnionAll
from streams_sql.plan.bounded import BoundedPlan
from streams_sql.plan.nodes import Named, PullPlan
from streams_sql.problem import Position, SqlProblem, placed_at
from streams_sql.sources import Column
from streams_sql.typed import Typed

_HELP: Final = " See https://cnfl.io/queries for more info.\nAdd EMIT CHANGES if you intended to issue a push query."


def plan_pull(query: Query, catalogue: CatalogueView) -> PullPlan | BoundedPlan:
    """The plain ones are those that are asked thousands of times a second."""
    for each in _queries(query):
        _check_clauses(each)
    with placed_at(query.position):
        return _plain_plan(query, catalogue) if _is_plain(query) else plan_bounded(query, catalogue)


def _queries(query: Query) -> Iterator[Query]:
    """A query and those in it."""
    yield query
    for relation in (*query.common, query.source, *(join.right for join in query.joins)):
        if relation.query is not None:
            for each in relation.query.queries if isinstance(relation.query, UnionAll) else (relation.query,):
                yield from _queries(each)


def _is_plain(query: Query) -> bool:
    """Whether it chooses rows of one source, and no more."""
    if query.source.query is not None or query.common:
        return False
    if query.joins or query.group_by or query.having or query.is_distinct or query.order_by or query.offset:
        return False
    written = [item.expression for item in query.select if isinstance(item, SelectColumn)]
    return not any(is_aggregate(part) for expression in written for part in walk(expression))


def _plain_plan(query: Query, catalogue: CatalogueView) -> PullPlan:
    scope = scope_of(query, catalogue)
    source = scope.sources[0]
    relation = read_relation(source)
    items = select_list(query, scope, relation, is_persistent=False)
    where = None if query.where is None else scope.resolved(query.where, "WHERE")
    inference = relation.inference()
    condition = None if where is None else typed_condition(inference, where, "WHERE")
    columns = tuple(Named(item.name, _value(inference.of(item.expression), item)) for item in items)
    check_names(Column(named.name, named.expression.type) for named in columns if named.expression.type is not None)
    key = {column.name for column in source.source.schema.key}
    keys = tuple(isinstance(item.expression, ColumnName) and item.expression.name in key for item in items)
    return PullPlan(source.source, condition, columns, keys, query.limit)


def _check_clauses(query: Query) -> None:
    for clause, position in _clauses(query):
        raise SqlProblem(f"Pull queries don't support {clause}.{_HELP}", position)


def _clauses(query: Query) -> Iterator[tuple[str, Position | None]]:
    """Those that are none of a pull query's, and where they stand."""
    if query.window is not None:
        yield "WINDOW clauses", query.window.position
    if query.partition_by:
        yield "PARTITION BY clauses", query.partition_by[0].position
    if query.emit is not None:
        yield "EMIT clauses", query.emit_position


def _value(value: Typed, item: Item) -> Typed:
    if value.type is None:
        raise SqlProblem(
            f"Can't infer a type of null for {item.name}. Please explicitly cast it to a required type, "
            "e.g. CAST(null AS VARCHAR).",
            item.expression.position,
        )
    return value
