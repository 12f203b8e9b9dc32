"""SELECT without EMIT over streams and topics: a look at the records that there are, from the beginning to the end or at a part of them.

Rows are chosen, grouped and put in order as those of tables are. What knows time runs as it does in a query that goes on, up to the ends
of the topics: windows, joins of streams, and tables as they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from streams_sql import typed
from streams_sql.analysis.catalogue_view import CatalogueView
from streams_sql.analysis.outputs import AnalysedQuery, check_names
from streams_sql.analysis.pull import plan_pull
from streams_sql.analysis.query import NO_LIMITS, analyse, projected
from streams_sql.analysis.query_parts import queries, relations
from streams_sql.analysis.ranges import asked_spans
from streams_sql.analysis.select_list import Item
from streams_sql.analysis.table_functions import has_table_functions
from streams_sql.language.expressions import ColumnName, Expression, FunctionCall, Literal
from streams_sql.language.statements import Join, JoinKind, Query, SelectColumn
from streams_sql.plan.bounded import Bounded, BoundedPlan, Computed, Distinct, OrderBy, Piped, ScanPlan, Slice, Sorted
from streams_sql.plan.nodes import Named
from streams_sql.problem import SqlProblem
from streams_sql.processors.windows import GRACE_DEFAULT_MS
from streams_sql.sources import WINDOW_BOUNDS, Column
from streams_sql.sql_types import Array, Map, Struct

_ORDER: Final = "KSQL_ORDER_{}"
_KEY: Final = "KSQL_KEY_{}"


def plan_scan(query: Query, catalogue: CatalogueView, now_ms: int, limits: Mapping[str, int] = NO_LIMITS) -> ScanPlan:
    """`now_ms` is what SINCE 5 MINUTES counts from."""
    is_piped = _is_piped(query, catalogue)
    if is_piped and any(relation.is_row for relation in relations(query)):
        raise SqlProblem(
            "A SELECT without FROM cannot be combined with tables, joins, windows or table functions such as EXPLODE.",
            query.position,
        )
    plan = _piped_plan(query, catalogue, limits) if is_piped else plan_pull(query, catalogue)
    return ScanPlan(plan, asked_spans(query, catalogue, now_ms))


def _is_piped(query: Query, catalogue: CatalogueView) -> bool:
    """Whether it needs operators that know time, or that make several rows of one."""
    sources = [catalogue.source(relation.name) for relation in relations(query)]
    has_tables = any(source is not None and source.is_table for source in sources)
    return has_tables or any(bool(each.joins) or each.window is not None or _is_flat(each) for each in queries(query))


def _is_flat(query: Query) -> bool:
    items = [Item("", item.expression) for item in query.select if isinstance(item, SelectColumn)]
    return has_table_functions(items)


def _piped_plan(query: Query, catalogue: CatalogueView, limits: Mapping[str, int]) -> BoundedPlan:
    if query.partition_by:
        raise SqlProblem(
            "PARTITION BY is for queries that write a topic. Rows can be put in order with ORDER BY.",
            query.partition_by[0].position,
        )
    added = _order_items(query)
    plain = replace(
        query,
        select=(*query.select, *added),
        joins=tuple(map(_waiting, query.joins)),
        order_by=(),
        offset=None,
        is_distinct=False,
    )
    analysed = analyse(plain, catalogue, is_persistent=False, limits=limits, is_bounded=True, has_null_groups=True)
    columns = tuple(Column(output.name, output.type) for output in analysed.outputs)
    check_names(columns)
    named = [Named(output.name, output.value) for output in analysed.outputs]
    row_key = _row_key(analysed) if analysed.node.shape.is_table else None
    node = projected(analysed, [*named, *(row_key or ())], ())
    names = None if row_key is None else tuple(key.name for key in row_key)
    shown = columns[: len(columns) - len(added)]
    return BoundedPlan(_finished(query, Piped(node, columns, names), shown), (False,) * len(shown), query.limit)


def _finished(query: Query, piped: Piped, shown: tuple[Column, ...]) -> Bounded:
    node: Bounded = Distinct(piped) if query.is_distinct else piped
    offset = query.offset or 0
    order = _order(query, [column.name for column in shown], {column.name: column for column in piped.columns})
    if order:
        node = Sorted(node, order, None if query.limit is None else query.limit + offset)
    if query.limit is not None or offset:
        node = Slice(node, query.limit, offset)
    if len(shown) == len(piped.columns):
        return node
    return Computed(node, tuple(Named(column.name, typed.Column(column.name, column.type)) for column in shown))


def _waiting(join: Join) -> Join:
    """Where all records are there, a row is told to be without a partner when none has come, and not before."""
    if join.within is None or join.kind is JoinKind.INNER or join.within.grace_ms is not None:
        return join
    return replace(join, within=replace(join.within, grace_ms=GRACE_DEFAULT_MS))


def _row_key(analysed: AnalysedQuery) -> list[Named]:
    values = [key.value for key in analysed.relation.keys]
    if analysed.node.shape.key_window is not None:
        values += [typed.Column(name, type_) for name, type_ in WINDOW_BOUNDS.items()]
    return [Named(_KEY.format(index), value) for index, value in enumerate(values)]


# -- order ----------------------------------------------------------------------------------------


def _order_items(query: Query) -> list[SelectColumn]:
    """What rows are put in order by and that is no column of the result."""
    items = []
    for index, sorting in enumerate(query.order_by):
        if _selected(sorting.expression, query) is None:
            if query.is_distinct:
                raise SqlProblem(
                    "What SELECT DISTINCT is ordered by must be in its select list.", sorting.expression.position
                )
            items.append(SelectColumn(_copied(sorting.expression, query), _ORDER.format(index)))
    return items


def _copied(expression: Expression, query: Query) -> Expression:
    """The key of a group can be selected once; this is another column with the same values."""
    if expression in query.group_by:
        return FunctionCall("AS_VALUE", (expression,), position=expression.position)
    return expression


def _selected(expression: Expression, query: Query) -> str | int | None:
    """The name of the column of the result that is meant, or its place (from 1)."""
    if isinstance(expression, Literal) and type(expression.value) is int:
        return expression.value
    for item in query.select:
        if isinstance(item, SelectColumn):
            name = item.alias or (item.expression.name if isinstance(item.expression, ColumnName) else None)
            is_named = isinstance(expression, ColumnName) and expression.source is None and expression.name == name
            if name is not None and (is_named or item.expression == expression):
                return name
    return None


def _order(query: Query, shown: list[str], columns: Mapping[str, Column]) -> tuple[OrderBy, ...]:
    order = []
    for index, sorting in enumerate(query.order_by):
        found = _selected(sorting.expression, query)
        if isinstance(found, int):
            if not 1 <= found <= len(shown):
                raise SqlProblem(
                    f"ORDER BY {found}: there is no such place in the select list, which has {len(shown)} columns.",
                    sorting.expression.position,
                )
            name = shown[found - 1]
        else:
            name = _ORDER.format(index) if found is None else found
        type_ = columns[name].type
        if isinstance(type_, Array | Map | Struct):
            raise SqlProblem(
                f"ORDER BY is not possible here: values of type {type(type_).__name__.upper()} have no order.",
                sorting.expression.position,
            )
        # NULL is less than all values.
        nulls_first = not sorting.is_descending if sorting.has_nulls_first is None else sorting.has_nulls_first
        order.append(OrderBy(name, sorting.is_descending, nulls_first))
    return tuple(order)
