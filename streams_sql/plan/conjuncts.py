"""Conditions taken apart and put together again, and what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from streams_sql.function_declaration import Overload
from streams_sql.sql_types import BOOLEAN
from streams_sql.typed import Column, Operation, Operator, Typed


def conjuncts(condition: Typed | None) -> list[Typed]:
    """All of which must be true."""
    found: list[Typed] = []
    waiting = [] if condition is None else [condition]
    while waiting:
        part = waiting.pop()
        match part:
            case Operation(Operator.AND, (left, right)):
                waiting += [right, left]
            case _:
                found.append(part)
    return found


def conjunction(parts: Iterable[Typed]) -> Typed | None:
    """True where all parts are."""
    whole: Typed | None = None
    for part in parts:
        whole = part if whole is None else Operation(Operator.AND, (whole, part), BOOLEAN)
    return whole


def columns_in(part: Any) -> Iterator[str]:
    """The names of the columns that an expression uses, one after the other."""
    if isinstance(part, Column):
        yield part.name
    elif isinstance(part, tuple):
        for each in part:
            yield from columns_in(each)
    elif is_dataclass(part) and not isinstance(part, Overload):
        for each in fields(part):
            yield from columns_in(getattr(part, each.name))


def with_columns(part: Any, names: dict[str, str]) -> Any:
    """The same expression with other names of columns."""
    if isinstance(part, Column):
        return Column(names.get(part.name, part.name), part.type)
    if isinstance(part, tuple):
        return tuple(with_columns(each, names) for each in part)
    if is_dataclass(part) and not isinstance(part, Overload | type):
        return type(part)(**{each.name: with_columns(getattr(part, each.name), names) for each in fields(part)})
    return part
