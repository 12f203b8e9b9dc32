"""SELECT: its clauses have one order. Queries may stand in FROM, have names by WITH, and be put together by UNION ALL and UNION."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from streams_sql.language.durations import read_window, read_within
from streams_sql.language.formatting import is_plain
from streams_sql.language.ranges import read_range
from streams_sql.language.reader import Reader
from streams_sql.language.statements import Emit, Join, JoinKind, Query, Relation, SelectAll, SortItem, UnionAll
from streams_sql.problem import Position

READS_MAX: Final = 64
"""Places where a query reads something. A query that has a name is there once for each use."""
DEPTH_MAX: Final = 20
"""Levels of queries in queries."""
UNNAMED: Final = "SUBQUERY"
"""The name of a query in FROM that was given none."""

_JOINS: Final = {"INNER": JoinKind.INNER, "LEFT": JoinKind.LEFT, "RIGHT": JoinKind.RIGHT, "FULL": JoinKind.OUTER}

_SINGLE_ROW: Final = Relation("", "", is_row=True, reads=0)
_AFTER_SELECT: Final = frozenset({"", ";", ")", "WHERE", "UNION", "ORDER", "LIMIT", "OFFSET"})
"""What may follow the select list where there is no FROM; nothing is the end."""

_Common: TypeAlias = Mapping[str, Relation]
"""The queries that have a name here."""


def read_query(reader: Reader) -> Query:
    return _read_query(reader, {})


def read_value_query(reader: Reader) -> Query:
    """One that stands for a value: it knows the names that WITH has given to others around it."""
    query = _read_query(reader, reader.common)
    if query.emit is not None:
        raise reader.problem("EMIT stands at the end of the whole query, not in a part of it.", query.emit_position)
    return query


def _read_query(reader: Reader, known: _Common) -> Query:
    outer = reader.common
    try:
        return _read_whole(reader, known)
    finally:
        reader.common = outer


def _read_whole(reader: Reader, known: _Common) -> Query:
    common: dict[str, Relation] = {}
    if reader.accept("WITH"):
        _read_common(reader, common, known)
        known = {**known, **common}
    reader.common = known
    position = reader.position
    query = _read_select(reader, known)
    union = _read_union(reader, known, query)
    if union is not None:
        relation = _relation(reader, UNNAMED, position, union)
        query = Query((SelectAll(position=position),), relation, position=position)
    order_by = _read_order(reader)
    emit_position = reader.position
    emit = Emit(reader.expect_one_of(*Emit.__members__)) if reader.accept("EMIT") else None
    order_by = order_by or _read_order(reader)
    limit, offset = _read_bounds(reader)
    return replace(
        query,
        emit=emit,
        order_by=order_by,
        limit=limit,
        offset=offset,
        common=tuple(common.values()),
        emit_position=emit_position,
    )


def _read_union(reader: Reader, known: _Common, first: Query) -> UnionAll | None:
    """UNION ALL and UNION mean other things in another order, so that a chain has one of them."""
    queries, kinds = [first], set[bool]()
    while reader.accept("UNION"):
        if not reader.accept("ALL"):
            reader.accept("DISTINCT")
            kinds.add(True)
        else:
            kinds.add(False)
        if len(kinds) > 1:
            raise reader.problem(
                "UNION and UNION ALL are mixed, and what is meant depends on their order: put one of them in a query of its own, "
                "SELECT * FROM (… UNION …) x UNION ALL ….",
                reader.last_position,
            )
        queries.append(_read_select(reader, known))
    return UnionAll(tuple(queries), kinds.pop()) if len(queries) > 1 else None


def _read_common(reader: Reader, common: dict[str, Relation], known: _Common) -> None:
    """name AS (query), …: each sees those before it, and not itself."""
    if reader.word() == "RECURSIVE" and reader.word(ahead=1) != "AS":
        raise reader.problem("WITH RECURSIVE is not supported: a query cannot read its own rows.")
    while True:
        position = reader.position
        name = reader.source_name()
        if name in common:
            raise reader.problem(f"WITH gives the name {name} to two queries.", position)
        reader.expect("AS")
        if not reader.is_next("("):
            raise reader.unexpected()
        query = _read_inner(reader, {**known, **common})
        common[name] = _relation(reader, name, position, query)
        if not reader.accept(","):
            return


def _read_select(reader: Reader, known: _Common) -> Query:
    """A query up to what is said of its rows as a whole."""
    position = reader.position
    reader.expect("SELECT")
    is_distinct = reader.accept("DISTINCT")
    select = tuple(reader.listed(reader.select_item))
    if not reader.accept("FROM"):
        return _without_source(reader, Query(select, _SINGLE_ROW, is_distinct=is_distinct, position=position))
    return Query(
        select=select,
        source=_read_relation(reader, known),
        joins=_read_joins(reader, known),
        window=read_window(reader) if reader.accept("WINDOW") else None,
        where=reader.condition() if reader.accept("WHERE") else None,
        group_by=reader.values() if reader.accept("GROUP", "BY") else (),
        partition_by=reader.values() if reader.accept("PARTITION", "BY") else (),
        having=reader.condition() if reader.accept("HAVING") else None,
        is_distinct=is_distinct,
        position=position,
    )


def _without_source(reader: Reader, query: Query) -> Query:
    """SELECT 1: no more than WHERE follows it, and what is said of rows as a whole."""
    if any(isinstance(item, SelectAll) for item in query.select) or reader.word() not in _AFTER_SELECT:
        raise reader.unexpected()
    return replace(query, where=reader.condition()) if reader.accept("WHERE") else query


def _read_order(reader: Reader) -> tuple[SortItem, ...]:
    return tuple(reader.listed(lambda: _read_sorting(reader))) if reader.accept("ORDER", "BY") else ()


def _read_sorting(reader: Reader) -> SortItem:
    expression = reader.condition()
    is_descending = reader.accept_one_of("ASC", "DESC") == "DESC"
    if not reader.accept("NULLS"):
        return SortItem(expression, is_descending)
    return SortItem(expression, is_descending, reader.expect_one_of("FIRST", "LAST") == "FIRST")


def _read_bounds(reader: Reader) -> tuple[int | None, int | None]:
    """LIMIT and OFFSET, in any order."""
    limit = reader.integer("LIMIT") if reader.accept("LIMIT") else None
    offset = reader.integer("OFFSET") if reader.accept("OFFSET") else None
    if limit is None and reader.accept("LIMIT"):
        limit = reader.integer("LIMIT")
    return limit, offset


def _read_relation(reader: Reader, known: _Common) -> Relation:
    position = reader.position
    if reader.is_next("("):
        query = _read_inner(reader, known)
        return _relation(reader, reader.source_alias() or UNNAMED, position, query)
    if reader.word() == "TOPIC" and reader.word(ahead=1) == "(":
        return _read_topic(reader)
    name, written = reader.relation_name()
    alias = reader.source_alias() or name
    named = known.get(name)
    if named is not None:
        return replace(named, alias=alias, position=position)
    return Relation(name, alias, position, range=read_range(reader), written=written)


def _read_topic(reader: Reader) -> Relation:
    """TOPIC('name'): it is called as if the name had been written without quotes, where that can be."""
    position = reader.position
    reader.expect("TOPIC")
    (name,) = reader.in_parentheses(reader.string)
    own_alias = name.upper() if is_plain(name.upper()) else name
    return Relation(name, reader.source_alias() or own_alias, position, is_topic=True, range=read_range(reader))


def _read_inner(reader: Reader, known: _Common) -> Query:
    """A query in parentheses."""
    reader.expect("(")
    query = reader.nested(lambda: _read_query(reader, known))
    if query.emit is Emit.CHANGES:
        raise reader.problem("EMIT CHANGES stands at the end of the whole query, not in a part of it.", reader.position)
    reader.expect(")")
    return query


def _relation(reader: Reader, name: str, position: Position, query: Query | UnionAll) -> Relation:
    inner = list(_relations(query))
    reads, depth = sum(each.reads for each in inner), 1 + max(each.depth for each in inner)
    if reads > READS_MAX:
        raise reader.problem(
            f"{name} would read {reads} streams and tables, with each use of a name of WITH counted; at most {READS_MAX} are "
            "possible. Make streams or tables of some of the queries.",
            position,
        )
    if depth > DEPTH_MAX:
        raise reader.problem(
            f"{name} has queries in queries on more than {DEPTH_MAX} levels. Make streams or tables of some of them.",
            position,
        )
    return Relation(name, name, position, query=query, reads=reads, depth=depth)


def _relations(query: Query | UnionAll) -> Iterable[Relation]:
    for each in query.queries if isinstance(query, UnionAll) else (query,):
        yield each.source
        yield from (join.right for join in each.joins)


def _read_joins(reader: Reader, known: _Common) -> tuple[Join, ...]:
    joins: list[Join] = []
    while True:
        position = reader.position
        kind = _read_join_kind(reader)
        if kind is None:
            return tuple(joins)
        right = _read_relation(reader, known)
        within = read_within(reader) if reader.accept("WITHIN") else None
        reader.expect("ON")
        joins.append(Join(kind, right, reader.condition(), within, position))


def _read_join_kind(reader: Reader) -> JoinKind | None:
    word = reader.accept_one_of(*_JOINS)
    if word is None:
        return JoinKind.INNER if reader.accept("JOIN") else None
    if word != "INNER":
        reader.accept("OUTER")
    reader.expect("JOIN")
    return _JOINS[word]
