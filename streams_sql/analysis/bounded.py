"""Queries without EMIT that do more than choose rows of one source: joins, groups, DISTINCT, ORDER BY and OFFSET."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from streams_sql import typed
from streams_sql.analysis.calls import is_aggregate
from streams_sql.analysis.catalogue_view import CatalogueView
from streams_sql.analysis.coercion import converted
from streams_sql.analysis.column_names import ColumnNaming, joined_name
from streams_sql.analysis.derived import check_width, widest
from streams_sql.analysis.grouping import GroupParts, group_expressions, has_aggregates
from streams_sql.analysis.ordering import order_expressions
from streams_sql.analysis.outputs import check_names
from streams_sql.analysis.query import NO_LIMITS
from streams_sql.analysis.relation import Relation, read, typed_condition
from streams_sql.analysis.scope import NamedSource, Scope, scope_of
from streams_sql.analysis.select_list import Item, select_list
from streams_sql.analysis.table_functions import has_table_functions
from streams_sql.analysis.traversal import walk
from streams_sql.analysis.type_inference import TypeInference
from streams_sql.language.expressions import ColumnName, Expression
from streams_sql.language.statements import JoinKind, Kind, Query, SortItem, UnionAll, WindowKind
from streams_sql.language.statements import Relation as WrittenRelation
from streams_sql.plan.bounded import (
    Bounded,
    BoundedPlan,
    Chosen,
    Computed,
    Distinct,
    Groups,
    Look,
    OrderBy,
    Pairs,
    Slice,
    Sorted,
    Together,
)
from streams_sql.plan.conjuncts import columns_in, conjunction, conjuncts, with_columns
from streams_sql.plan.nodes import Named
from streams_sql.problem import SqlProblem
from streams_sql.sources import WINDOWEND, WINDOWSTART, Column, Schema, Source
from streams_sql.sql_types import BIGINT, Array, Map, SqlType, Struct
from streams_sql.typed import Operation, Operator, Typed

_HIDDEN: Final = "KSQL_ORDER_"
_JOIN: Final = "JOIN ON"
_EVERY_ROW: Final = typed.Literal(1, BIGINT)
_ORDERED_AGGREGATES: Final = ("_BY_OFFSET", "COLLECT_", "ATTR")
"""Aggregates whose result depends on the order in which rows come."""


def plan_bounded(query: Query, catalogue: CatalogueView) -> BoundedPlan:
    return _planned(query, catalogue, frozenset())


def _planned(query: Query, catalogue: CatalogueView, outside: frozenset[str]) -> BoundedPlan:
    def derive(relation: WrittenRelation, around: frozenset[str]) -> NamedSource:
        return _derived(relation, catalogue, around)

    for common in query.common:
        # One that nobody uses must be right, too.
        derive(common, frozenset())
    scope = scope_of(query, catalogue, derive, outside, may_repeat=True)
    sources = [_Source.of(scope, source) for source in scope.sources]
    relation = _relation(scope, sources)
    joins = [_join(query, place, scope, sources) for place in range(1, len(sources))]
    where = None
    if query.where is not None:
        where = typed_condition(relation.inference(), scope.resolved(query.where, "WHERE"), "WHERE")
    chosen = _chosen(query, scope, relation)
    return _plan(query, sources, joins, where, chosen)


@dataclass(frozen=True, slots=True)
class _Source:
    """A source of the query; `columns` are its columns under the names that they have in the joined rows."""

    named: NamedSource
    prefix: str
    columns: Mapping[str, Typed]

    @classmethod
    def of(cls, scope: Scope, named: NamedSource) -> _Source:
        prefix = joined_name(named.alias, "") if scope.is_join else ""
        columns = {prefix + column.name: typed.Column(prefix + column.name, column.type) for column in named.columns()}
        return cls(named, prefix, columns)


@dataclass(frozen=True, slots=True)
class _Join:
    kind: JoinKind
    equal: tuple[tuple[Typed, Typed], ...]
    own: tuple[Typed, ...]
    """Of the right side alone."""
    others: tuple[Typed, ...]


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What is made of the joined rows: columns, and what they are ordered by. `groups` is None without any."""

    columns: tuple[Named, ...]
    order: tuple[tuple[Typed, SortItem], ...]
    keys: tuple[bool, ...]
    groups: tuple[tuple[Named, ...], GroupParts] | None = None
    having: Typed | None = None


def _relation(scope: Scope, sources: Sequence[_Source]) -> Relation:
    """What names mean in the joined rows."""
    columns = {name: column for source in sources for name, column in source.columns.items()}
    starred = tuple(
        (source.named.alias, source.prefix + column.name) for source in sources for column in source.named.starred()
    )
    return Relation(read(scope.sources[0], sources[0].prefix), columns, (), starred)


# -- queries in FROM ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _InnerRows:
    """What another query gives."""

    rows: Bounded
    hidden: ClassVar[frozenset[str]] = frozenset()
    has_time: ClassVar[bool] = False


def _derived(written: WrittenRelation, catalogue: CatalogueView, outside: frozenset[str]) -> NamedSource:
    """The rows of a query as those of a source: of a table, unless some of them are records of a stream."""
    assert written.query is not None
    queries = written.query.queries if isinstance(written.query, UnionAll) else (written.query,)
    plans = [_planned(each, catalogue, outside) for each in queries]
    rows = plans[0].node
    if isinstance(written.query, UnionAll):
        rows = _together(plans, written)
        rows = Distinct(rows) if written.query.is_distinct else rows
    first = plans[0].sources[0]
    is_table = all(source.is_table for plan in plans for source in plan.sources)
    source = Source(
        name=written.alias,
        kind=Kind.TABLE if is_table else Kind.STREAM,
        schema=Schema((), rows.columns),
        topic="",
        key_format=first.key_format,
        value_format=first.value_format,
        statement="",
    )
    return NamedSource(written.alias, source, _InnerRows(rows))


def _together(plans: Sequence[BoundedPlan], written: WrittenRelation) -> Bounded:
    """UNION ALL: names are those of the first query."""
    check_width([len(plan.columns) for plan in plans], written.position)
    columns = [
        Column(same[0].name, widest(same[0].name, [column.type for column in same], written.position))
        for same in zip(*(plan.columns for plan in plans), strict=True)
    ]
    inputs = []
    for plan in plans:
        pairs = zip(columns, plan.columns, strict=True)
        named = [Named(to.name, converted(typed.Column(of.name, of.type), to.type)) for to, of in pairs]
        inputs.append(plan.node if plan.columns == tuple(columns) else Computed(plan.node, tuple(named)))
    return Together(tuple(inputs))


def _inner_rows(source: _Source, rows: Bounded, own: Sequence[Typed]) -> Bounded:
    """Those for which the conditions are true, with the prefix of the source before the names of their columns."""
    if source.prefix:
        named = [Named(source.prefix + column.name, typed.Column(column.name, column.type)) for column in rows.columns]
        rows = Computed(rows, tuple(named))
    condition = conjunction(own)
    return rows if condition is None else Chosen(rows, condition)


# -- joins ----------------------------------------------------------------------------------------


def _join(query: Query, place: int, scope: Scope, sources: Sequence[_Source]) -> _Join:
    """The join that adds the source at this place."""
    join = query.joins[place - 1]
    for source in (sources[0].named, sources[place].named):
        if not source.source.is_table:
            raise SqlProblem(
                f"{source.source.name} is a stream: queries without EMIT join tables alone. Add EMIT CHANGES to join its records "
                "as they come.",
                join.position,
            )
    if join.within is not None:
        raise SqlProblem(
            "WITHIN is for joins of streams: tables are joined as they are now. Leave it out.", join.position
        )
    known = Scope(scope.sources[: place + 1])
    left = {name: column for source in sources[:place] for name, column in source.columns.items()}
    right = sources[place].columns
    inference = Relation(read(scope.sources[0], ""), {**left, **right}, (), ()).inference()
    condition = typed_condition(inference, known.resolved(join.condition, _JOIN), _JOIN)
    equal: list[tuple[Typed, Typed]] = []
    own: list[Typed] = []
    others: list[Typed] = []
    for part in conjuncts(condition):
        pair = _pair(part, left, right)
        if pair is not None:
            equal.append(pair)
        elif join.kind in (JoinKind.INNER, JoinKind.LEFT) and _is_of(part, right):
            own.append(part)
        else:
            others.append(part)
    return _Join(join.kind, tuple(equal), tuple(own), tuple(others))


def _pair(part: Typed, left: Mapping[str, Typed], right: Mapping[str, Typed]) -> tuple[Typed, Typed] | None:
    """The two sides of an equality by which rows can be looked up."""
    match part:
        case Operation(Operator.EQUAL, (one, other)) if not isinstance(one.type, Array | Map | Struct):
            if _is_of(one, left) and _is_of(other, right):
                return one, other
            if _is_of(one, right) and _is_of(other, left):
                return other, one
    return None


def _is_of(part: Typed, columns: Mapping[str, Typed]) -> bool:
    names = list(columns_in(part))
    return bool(names) and all(name in columns for name in names)


# -- the select list ------------------------------------------------------------------------------


def _chosen(query: Query, scope: Scope, relation: Relation) -> _Chosen:
    items = select_list(query, scope, relation, is_persistent=False)
    if has_table_functions(items):
        raise SqlProblem("Table functions cannot be used in a query without EMIT.")
    ordered = order_expressions(query, scope, items)
    having = None if query.having is None else scope.resolved(query.having, "HAVING")
    aggregated = [*ordered, *([] if having is None else [having])]
    if query.group_by or has_aggregates(items) or any(is_aggregate(part) for each in aggregated for part in walk(each)):
        return _grouped(query, scope, relation, items, ordered, having)
    if having is not None:
        raise SqlProblem("HAVING requires a GROUP BY clause. Use WHERE to choose rows.", having.position)
    inference = relation.inference()
    key = set() if scope.is_join else {column.name for column in scope.sources[0].source.schema.key}
    keys = tuple(isinstance(item.expression, ColumnName) and item.expression.name in key for item in items)
    return _Chosen(_named(items, inference), _typed_order(query, ordered, inference), keys)


def _grouped(
    query: Query,
    scope: Scope,
    relation: Relation,
    items: list[Item],
    ordered: list[Expression],
    having: Expression | None,
) -> _Chosen:
    groups = group_expressions(query, scope)
    naming = ColumnNaming(relation.columns)
    names = [group.name if isinstance(group, ColumnName) else naming.name_for(group) for group in groups]
    parts = GroupParts(relation, dict(zip(groups, names, strict=True)), None, NO_LIMITS, _EVERY_ROW)
    selected = parts.selected(items)
    ordered = parts.ordered(ordered)
    having = None if having is None else parts.having(having)
    parts.check_loose()
    inference = relation.inference()
    keys = tuple(Named(name, _with_type(inference.of(by), by, name)) for name, by in zip(names, groups, strict=True))
    columns = [(key.name, key.expression.type) for key in keys] + [
        (call.name, call.column.type) for call in parts.aggregates
    ]
    found: dict[str, Typed] = {name: typed.Column(name, type_) for name, type_ in columns if type_ is not None}
    result = Relation(relation.node, found, (), ()).inference(parts.names)
    return _Chosen(
        _named(selected, result),
        _typed_order(query, ordered, result),
        (False,) * len(items),
        (keys, parts),
        None if having is None else typed_condition(result, having, "HAVING"),
    )


def _named(items: Iterable[Item], inference: TypeInference) -> tuple[Named, ...]:
    named = tuple(
        Named(item.name, _with_type(inference.of(item.expression), item.expression, item.name)) for item in items
    )
    check_names(Column(each.name, each.expression.type) for each in named if each.expression.type is not None)
    return named


def _with_type(value: Typed, expression: Expression, name: str) -> Typed:
    if value.type is None:
        raise SqlProblem(
            f"Can't infer a type of null for {name}. Please explicitly cast it to a required type, e.g. CAST(null AS VARCHAR).",
            expression.position,
        )
    return value


def _typed_order(
    query: Query, expressions: Sequence[Expression], inference: TypeInference
) -> tuple[tuple[Typed, SortItem], ...]:
    found = []
    for expression, sorting in zip(expressions, query.order_by, strict=True):
        value = _with_type(inference.of(expression), expression, "ORDER BY")
        if isinstance(value.type, Array | Map | Struct):
            raise SqlProblem(
                f"ORDER BY {inference.text(expression)} is not possible: values of type {_kind(value.type)} have no order.",
                sorting.expression.position,
            )
        found.append((value, sorting))
    return tuple(found)


def _kind(type_: SqlType) -> str:
    return type(type_).__name__.upper()


# -- the plan -------------------------------------------------------------------------------------


def _plan(
    query: Query, sources: Sequence[_Source], joins: Sequence[_Join], where: Typed | None, chosen: _Chosen
) -> BoundedPlan:
    columns, order = _with_order(query, chosen)
    rest, own = _pushed(where, sources, joins)
    needed = set(columns_in((rest, columns, *(_needed(join) for join in joins), _needed_by_groups(chosen))))
    inputs = [_rows(source, needed, own[place]) for place, source in enumerate(sources)]
    node: Bounded = inputs[0]
    for rows, join in zip(inputs[1:], joins, strict=True):
        node = Pairs(node, rows, join.kind, join.equal, conjunction(join.others))
    if rest is not None:
        node = Chosen(node, rest)
    if chosen.groups is not None:
        node = _groups(node, chosen)
    node = Computed(node, columns)
    if query.is_distinct:
        node = Distinct(node)
    offset = query.offset or 0
    first = None if query.limit is None else query.limit + offset
    if order:
        node = _sorted(node, order, first)
    if query.limit is not None or offset:
        node = Slice(node, query.limit, offset)
    visible = tuple(
        Named(each.name, typed.Column(each.name, each.expression.type))
        for each in chosen.columns
        if each.expression.type
    )
    if len(columns) > len(visible):
        node = Computed(node, visible)
    return BoundedPlan(node, chosen.keys, query.limit)


def _with_order(query: Query, chosen: _Chosen) -> tuple[tuple[Named, ...], tuple[OrderBy, ...]]:
    """All columns that are computed: those that are asked for, and those that nobody sees but ORDER BY."""
    columns = list(chosen.columns)
    order = []
    for value, sorting in chosen.order:
        name = next((named.name for named in columns if named.expression == value), None)
        if name is None:
            if query.is_distinct:
                raise SqlProblem(
                    "What SELECT DISTINCT is ordered by must be in its select list.", sorting.expression.position
                )
            name = f"{_HIDDEN}{len(columns)}"
            columns.append(Named(name, value))
        has_nulls_first = sorting.has_nulls_first
        if has_nulls_first is None:
            # NULL is less than all values.
            has_nulls_first = not sorting.is_descending
        order.append(OrderBy(name, sorting.is_descending, has_nulls_first))
    return tuple(columns), tuple(order)


def _pushed(
    where: Typed | None, sources: Sequence[_Source], joins: Sequence[_Join]
) -> tuple[Typed | None, list[list[Typed]]]:
    """What remains of WHERE after the joins, and what each source is asked for alone: that it is missing is not what WHERE says."""
    own: list[list[Typed]] = [[], *(list(join.own) for join in joins)]
    rest = []
    for part in conjuncts(where):
        place = next((place for place, source in enumerate(sources) if _is_of(part, source.columns)), None)
        if place is not None and _is_always_there(place, joins):
            own[place].append(part)
        else:
            rest.append(part)
    return conjunction(rest), own


def _is_always_there(place: int, joins: Sequence[_Join]) -> bool:
    kinds = [join.kind for join in joins]
    before = place == 0 or kinds[place - 1] in (JoinKind.INNER, JoinKind.RIGHT)
    return before and all(kind in (JoinKind.INNER, JoinKind.LEFT) for kind in kinds[place:])


def _needed(join: _Join) -> tuple[object, ...]:
    return join.equal, join.others


def _needed_by_groups(chosen: _Chosen) -> tuple[object, ...]:
    if chosen.groups is None:
        return ()
    keys, parts = chosen.groups
    return keys, tuple(call.arguments for call in parts.aggregates)


def _rows(source: _Source, needed: set[str], own: Sequence[Typed]) -> Bounded:
    inner = source.named.rows
    return _inner_rows(source, inner.rows, own) if isinstance(inner, _InnerRows) else _look(source, needed, own)


def _look(source: _Source, needed: set[str], own: Sequence[Typed]) -> Look:
    columns = list(source.named.columns())
    names = {source.prefix + column.name: column.name for column in columns}
    kept = tuple(
        replace(column, name=source.prefix + column.name) for column in columns if source.prefix + column.name in needed
    )
    condition = conjunction(with_columns(part, names) for part in own)
    return Look(
        source.named.source,
        source.prefix,
        kept or tuple([replace(column, name=source.prefix + column.name) for column in columns[:1]]),
        condition,
    )


def _groups(node: Bounded, chosen: _Chosen) -> Bounded:
    assert chosen.groups is not None
    keys, parts = chosen.groups
    if isinstance(node, Look):
        is_ordered = any(word in call.function for call in parts.aggregates for word in _ORDERED_AGGREGATES)
        node = replace(node, is_ordered=is_ordered)
    node = Groups(node, keys, parts.aggregates)
    return node if chosen.having is None else Chosen(node, chosen.having)


def _sorted(node: Bounded, order: tuple[OrderBy, ...], first: int | None) -> Bounded:
    """Rows of one table come in the order of its key by themselves; SQLite knows the first ones by other columns."""
    match node:
        case Computed(Look() as look, named) if look.source.is_table:
            expressions = {each.name: each.expression for each in named}
            looked = [
                replace(by, column=found.name)
                for by in order
                if isinstance(found := expressions[by.column], typed.Column)
            ]
            if len(looked) == len(order):
                names = [by.column for by in looked]
                if names == key_columns(look.source)[: len(names)] and not any(by.is_descending for by in looked):
                    return node
                if first is not None:
                    node = replace(node, input=replace(look, order=tuple(looked), first=first))
    return Sorted(node, order, first)


def key_columns(source: Source) -> list[str]:
    """In whose order the rows of a view come."""
    names = [column.name for column in source.schema.key]
    if source.key_window is None:
        return names
    bounds = [WINDOWSTART, WINDOWEND] if source.key_window.kind is WindowKind.SESSION else [WINDOWSTART]
    return names + bounds
