"""Pull queries: SELECT … without EMIT, a look at what there is now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from streams_sql.analysis.catalogue_view import CatalogueView
from streams_sql.analysis.grouping import has_aggregates
from streams_sql.analysis.query import check_names
from streams_sql.analysis.relation import read_relation, typed_condition
from streams_sql.analysis.scope import scope_of
from streams_sql.analysis.select_list import Item, select_list
from streams_sql.analysis.traversal import walk
from streams_sql.language.expressions import ColumnName, Expression
from streams_sql.language.problem import SqlProblem
from streams_sql.language.statements import Query
from streams_sql.plan.nodes import Named, PullPlan
from streams_sql.sources import ROWOFFSET, ROWPARTITION, Column
from streams_sql.typed import Typed

_HELP: Final = " See https://cnfl.io/queries for more info.\nAdd EMIT CHANGES if you intended to issue a push query."
_NOT_KEPT: Final = (ROWPARTITION, ROWOFFSET)


def plan_pull(query: Query, catalogue: CatalogueView) -> PullPlan:
    _check_clauses(query)
    scope = scope_of(query, catalogue)
    source = scope.sources[0]
    relation = read_relation(source)
    items = select_list(query, scope, relation, is_persistent=False)
    if has_aggregates(items):
        raise SqlProblem(f"Pull queries don't support GROUP BY clauses, nor aggregate functions.{_HELP}")
    _check_columns("SELECT", (item.expression for item in items))
    where = None if query.where is None else scope.resolved(query.where, "WHERE")
    _check_columns("WHERE", () if where is None else (where,))
    inference = relation.inference()
    condition = None if where is None else typed_condition(inference, where, "WHERE")
    columns = tuple(Named(item.name, _value(inference.of(item.expression), item)) for item in items)
    check_names(Column(named.name, named.expression.type) for named in columns if named.expression.type is not None)
    key = {column.name for column in source.source.schema.key}
    keys = tuple(isinstance(item.expression, ColumnName) and item.expression.name in key for item in items)
    return PullPlan(source.source, condition, columns, keys, query.limit)


def _check_clauses(query: Query) -> None:
    for clause, found in _clauses(query):
        if found:
            raise SqlProblem(f"Pull queries don't support {clause}.{_HELP}")


def _clauses(query: Query) -> Iterator[tuple[str, bool]]:
    yield "JOIN clauses", bool(query.joins)
    yield "WINDOW clauses", query.window is not None
    yield "GROUP BY clauses", bool(query.group_by)
    yield "PARTITION BY clauses", bool(query.partition_by)
    yield "HAVING clauses", query.having is not None
    yield "negative integers in the LIMIT clause", query.limit is not None and query.limit < 0
    yield "EMIT clauses", query.emit is not None


def _check_columns(clause: str, expressions: Iterator[Expression] | tuple[Expression, ...]) -> None:
    found = [
        part.name
        for expression in expressions
        for part in walk(expression)
        if isinstance(part, ColumnName) and part.name in _NOT_KEPT
    ]
    if found:
        shown = ", ".join(f"`{name}`" for name in found)
        raise SqlProblem(f"Pull queries don't support the following columns in {clause} clauses: {shown}.{_HELP}")


def _value(value: Typed, item: Item) -> Typed:
    if value.type is None:
        raise SqlProblem(
            f"Can't infer a type of null for {item.name}. Please explicitly cast it to a required type, "
            "e.g. CAST(null AS VARCHAR).",
            item.expression.position,
        )
    return value
