"""The expressions and the sources of a query, those of queries in it included: looked at, or exchanged for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from streams_sql.language.expressions import Expression
from streams_sql.language.statements import Query, Relation, SelectColumn, SelectItem, UnionAll

QueryT = TypeVar("QueryT", bound=Query | UnionAll)


def relations(query: Query | UnionAll) -> Iterator[Relation]:
    """The sources that have a name, in the order in which they are written; those of a query that is used twice come twice."""
    if isinstance(query, UnionAll):
        for each in query.queries:
            yield from relations(each)
        return
    for relation in (*query.common, query.source, *(join.right for join in query.joins)):
        if relation.query is None:
            yield relation
        else:
            yield from relations(relation.query)


def queries(query: Query | UnionAll) -> Iterator[Query]:
    """The query and those in it."""
    if isinstance(query, UnionAll):
        for each in query.queries:
            yield from queries(each)
        return
    yield query
    for relation in (*query.common, query.source, *(join.right for join in query.joins)):
        if relation.query is not None:
            yield from queries(relation.query)


class Exchange:
    """Makes queries with other sources and expressions. A query that is used several times stays one."""

    def __init__(
        self, relation: Callable[[Relation], Relation], expression: Callable[[Expression], Expression]
    ) -> None:
        self._relation = relation
        self._expression = expression
        self._known: dict[int, tuple[Query | UnionAll, Query | UnionAll]] = {}

    def of(self, query: QueryT) -> QueryT:
        known = self._known.get(id(query))
        if known is None:
            # The query itself is kept as well, so that no other gets its id.
            known = self._known[id(query)] = (query, self._made(query))
        made = known[1]
        assert isinstance(made, type(query))
        return made

    def _made(self, query: Query | UnionAll) -> Query | UnionAll:
        if isinstance(query, UnionAll):
            return replace(query, queries=tuple(map(self.of, query.queries)))
        change = self._expression
        return replace(
            query,
            select=tuple(map(self._item, query.select)),
            source=self._source(query.source),
            joins=tuple(
                replace(join, right=self._source(join.right), condition=change(join.condition)) for join in query.joins
            ),
            where=self._optional(query.where),
            group_by=tuple(map(change, query.group_by)),
            partition_by=tuple(map(change, query.partition_by)),
            having=self._optional(query.having),
            order_by=tuple(replace(each, expression=change(each.expression)) for each in query.order_by),
            common=tuple(map(self._source, query.common)),
        )

    def _source(self, relation: Relation) -> Relation:
        return self._relation(relation) if relation.query is None else replace(relation, query=self.of(relation.query))

    def _item(self, selected: SelectItem) -> SelectItem:
        if isinstance(selected, SelectColumn):
            return replace(selected, expression=self._expression(selected.expression))
        return selected if selected.struct is None else replace(selected, struct=self._expression(selected.struct))

    def _optional(self, expression: Expression | None) -> Expression | None:
        return None if expression is None else self._expression(expression)
