"""Groups that SQLite can make by itself, and means the same by: counts, sums of whole numbers, least and greatest values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from streams_sql.evaluation.integers import wrap_bigint, wrap_integer
from streams_sql.plan.bounded import Groups, Look
from streams_sql.plan.nodes import AggregateCall
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, INTEGER, Array, Map, SqlType, Struct
from streams_sql.typed import Column, Typed
from streams_sql.views.layout import TABLE, ViewLayout, column_name
from streams_sql.views.pull import BoundPull

HALF_BITS: Final = 32
LOW_BITS: Final = (1 << HALF_BITS) - 1

Combine: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class GroupQuery:
    """`values` are those that the text asks for. `combines` makes each column of the result from so many columns of SQLite's."""

    text: str
    values: Sequence[Any]
    combines: tuple[tuple[int, Combine], ...]

    def row(self, found: Sequence[Any]) -> tuple[Any, ...]:
        made = []
        place = 0
        for width, combine in self.combines:
            made.append(combine(*found[place : place + width]))
            place += width
        return tuple(made)


def group_query(node: Groups, look: Look, pull: BoundPull) -> GroupQuery | None:
    """None where SQLite cannot, or would mean something else. `pull` asks for the rows that are grouped."""
    if pull.query.has_rest or look.is_ordered:
        return None
    layout = ViewLayout.of(look.source)
    keys = [_place(key.expression, look, layout) for key in node.keys]
    parts = [_aggregate(call, look, layout) for call in node.aggregates]
    texts, combines = [], []
    for place in keys:
        if place is None or not _is_told_apart(layout.columns[place].type):
            return None
        texts.append(column_name(place))
        combines.append((1, _decoding(layout, place)))
    for part in parts:
        if part is None:
            return None
        texts += part[0]
        combines.append((len(part[0]), part[1]))
    # SQLite gives no row without columns.
    select = f"SELECT {', '.join(texts) or '1'} FROM {TABLE} WHERE {pull.query.condition.text or '1'}"  # noqa: S608 - names are made here
    grouped = f" GROUP BY {', '.join(texts[: len(keys)])}" if keys else ""
    return GroupQuery(select + grouped, pull.values, tuple(combines))


def _place(expression: Typed, look: Look, layout: ViewLayout) -> int | None:
    if not isinstance(expression, Column):
        return None
    return layout.places.get(expression.name.removeprefix(look.prefix))


def _is_told_apart(type_: SqlType) -> bool:
    """Whether values are equal exactly if they are kept as the same."""
    return not isinstance(type_, Array | Map | Struct) and type_ != DOUBLE


def _decoding(layout: ViewLayout, place: int) -> Combine:
    decode = layout.codecs[place].decode
    if decode is None:
        return _as_it_is
    return lambda value: None if value is None else decode(value)


def _as_it_is(value: Any) -> Any:
    return value


def _aggregate(call: AggregateCall, look: Look, layout: ViewLayout) -> tuple[list[str], Combine] | None:
    if call.function == "COUNT" and not call.arguments:
        return ["count(*)"], _as_it_is
    if len(call.arguments) != 1 or call.constants:
        return None
    (argument,) = call.arguments
    place = _place(argument, look, layout)
    if place is None:
        return None
    name, type_ = column_name(place), layout.columns[place].type
    match call.function:
        case "COUNT":
            return [f"count({name})"], _as_it_is
        case "SUM" if type_ == INTEGER:
            return [f"sum({name})"], lambda total: wrap_integer(total or 0)
        case "SUM" if type_ == BIGINT:
            # Neither half can be too large for SQLite, which knows no numbers that go round.
            return [f"sum({name} >> {HALF_BITS})", f"sum({name} & {LOW_BITS})"], _whole
        case "MIN" | "MAX" if _is_told_apart(type_) and type_ != BOOLEAN:
            return [f"{call.function.lower()}({name})"], _decoding(layout, place)
    return None


def _whole(high: int | None, low: int | None) -> int:
    return wrap_bigint(((high or 0) << HALF_BITS) + (low or 0))
