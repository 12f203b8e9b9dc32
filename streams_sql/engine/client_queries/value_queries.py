"""Queries that stand for values, in SELECT without EMIT: they are asked first, and what they give takes their places.

None of them sees the rows around it, so that each has one answer for the whole query. With the values in their places the rest is a query
like any other: a key that is among them is looked up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from streams_sql.analysis.query_parts import Exchange, queries
from streams_sql.analysis.traversal import rewritten, walk
from streams_sql.engine.client_queries.results import Result
from streams_sql.evaluation.time_texts import date_text, time_text, timestamp_text
from streams_sql.language.expressions import Cast, ColumnName, Expression, In, Literal, QueryValue
from streams_sql.language.statements import Query
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import Array, Base, Map, SqlType, Struct

VALUES_MAX: Final = 1_000
"""Of one query behind IN."""
QUERIES_MAX: Final = 16
"""That stand for values in one query."""

_TIMES: Final[dict[SqlType, Callable[[int], str]]] = {
    Base.TIME: time_text,
    Base.DATE: date_text,
    Base.TIMESTAMP: timestamp_text,
}

Ask = Callable[[Query], Awaitable[Result]]


class ValuedQuery(NamedTuple):
    """A query without queries in its expressions; `notes` are those of the answers to these."""

    query: Query
    notes: tuple[str, ...] = ()


def value_queries(query: Query) -> list[tuple[QueryValue, bool]]:
    """The queries in expressions, and whether all their values are asked for."""
    found: dict[int, tuple[QueryValue, bool]] = {}

    def collect(expression: Expression) -> Expression:
        for part in walk(expression):
            if isinstance(part, In):
                found.update({id(value): (value, True) for value in part.values if isinstance(value, QueryValue)})
            elif isinstance(part, QueryValue):
                found.setdefault(id(part), (part, False))
        return expression

    Exchange(lambda relation: relation, collect).of(query)
    return list(found.values())


async def with_values(query: Query, ask: Ask) -> ValuedQuery:
    """SqlProblem where one of them gives what is no value."""
    asked = value_queries(query)
    if not asked:
        return ValuedQuery(query)
    if len(asked) > QUERIES_MAX:
        raise SqlProblem(
            f"{len(asked)} queries stand for values, and at most {QUERIES_MAX} may: put some of them into FROM, and join with their rows.",
            asked[QUERIES_MAX][0].position,
        )
    for value, _ in asked:
        _refuse_outer_columns(value, query)
    values: dict[int, list[Expression]] = {}
    notes: dict[str, None] = {}
    for value, is_list in asked:
        result = await ask(value.query)
        notes |= dict.fromkeys(result.notes)
        values[id(value)] = await _values(value, result, is_list=is_list)

    def change(part: Expression) -> Expression | None:
        if isinstance(part, QueryValue):
            return values[id(part)][0]
        if not isinstance(part, In) or not any(id(value) in values for value in part.values):
            return None
        listed = [each for value in part.values for each in values.get(id(value), [value])]
        if not listed:
            return Literal(part.is_negated, position=part.position)
        return replace(part, operand=rewritten(part.operand, change), values=tuple(listed))

    return ValuedQuery(
        Exchange(lambda relation: relation, lambda each: rewritten(each, change)).of(query), tuple(notes)
    )


def _refuse_outer_columns(value: QueryValue, around: Query) -> None:
    outside = _aliases(around) - _aliases(value.query)

    def check(expression: Expression) -> Expression:
        for part in walk(expression):
            if isinstance(part, ColumnName) and part.source in outside:
                raise SqlProblem(
                    f"{part} is a column of the query around this one. A query in an expression is asked first, once for all rows, and "
                    "cannot see the columns around it: put it into FROM, and say in the ON of a JOIN which rows belong together.",
                    part.position,
                )
        return expression

    Exchange(lambda relation: relation, check).of(value.query)


def _aliases(query: Query) -> set[str]:
    return {
        relation.alias for each in queries(query) for relation in (each.source, *(join.right for join in each.joins))
    }


async def _values(value: QueryValue, result: Result, *, is_list: bool) -> list[Expression]:
    try:
        if value.is_existence:
            return [Literal(await _has_rows(result), position=value.position)]
        _check_columns(value, result)
        most = VALUES_MAX if is_list else 1
        rows: list[tuple[Any, ...]] = []
        async for batch in result.batches:
            rows += batch.rows
            if len(rows) > most:
                raise _too_many(value, is_list=is_list)
    finally:
        await result.close()
    type_ = result.columns[0].type
    found: list[Expression] = [_written(row[0], type_, value) for row in dict.fromkeys(rows)]
    return found if found or is_list else [_written(None, type_, value)]


async def _has_rows(result: Result) -> bool:
    async for batch in result.batches:
        if batch.rows:
            return True
    return False


def _check_columns(value: QueryValue, result: Result) -> None:
    if len(result.columns) != 1:
        names = ", ".join(column.name for column in result.columns)
        raise SqlProblem(
            f"A query that stands for a value gives one column, and this one has {len(result.columns)}: {names}.",
            value.position,
        )
    type_ = result.columns[0].type
    if isinstance(type_, Array | Map | Struct) or type_ == Base.BYTES:
        raise SqlProblem(
            f"A query that stands for a value gives a number, a text, a time or a BOOLEAN, and this one gives {type_}.",
            value.position,
        )


def _too_many(value: QueryValue, *, is_list: bool) -> SqlProblem:
    if is_list:
        return SqlProblem(
            f"The query gives more than the {VALUES_MAX} values that IN may have: put it into FROM, and JOIN with its rows.",
            value.position,
        )
    return SqlProblem(
        "The query stands for one value, and gives several rows: an aggregate, or ORDER BY … LIMIT 1, makes it one.",
        value.position,
    )


def _written(value: Any, type_: SqlType, place: QueryValue) -> Expression:
    """A value of a plain type as a statement would write it, with the type that it has."""
    text = _TIMES[type_](value) if value is not None and type_ in _TIMES else value
    return Cast(Literal(text, position=place.position), type_, position=place.position)
