"""Walks through expressions as they were written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from operator import is_
from typing import Any, Final

from streams_sql.language.expressions import Expression

_POSITION: Final = "position"
# To ask a dataclass for its fields takes longer than all the rest.
_KNOWN_NAMES: Final[dict[type, tuple[str, ...]]] = {}


def rewritten(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """The expression with parts of it replaced, from the top down; where `change` gives None, it is asked about what is inside."""
    changed = change(expression)
    return with_children(expression, lambda child: rewritten(child, change)) if changed is None else changed


def with_children(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression itself where nothing has changed."""
    changes = {}
    for name, value in _parts(expression):
        changed = _changed(value, change)
        if changed is not value:
            changes[name] = changed
    return replace(expression, **changes) if changes else expression


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all that is inside of it."""
    yield expression
    for child in children(expression):
        yield from walk(child)


def children(expression: Expression) -> Iterator[Expression]:
    for _, value in _parts(expression):
        yield from _expressions_in(value)


def _parts(expression: Expression) -> Iterator[tuple[str, Any]]:
    """What may have expressions inside."""
    for name in _names(expression):
        value = getattr(expression, name)
        if isinstance(value, Expression | tuple):
            yield name, value


def _names(expression: Expression) -> tuple[str, ...]:
    kind = type(expression)
    names = _KNOWN_NAMES.get(kind)
    if names is None:
        names = _KNOWN_NAMES[kind] = tuple(part.name for part in fields(expression) if part.name != _POSITION)
    return names


def _changed(value: Any, change: Callable[[Expression], Expression]) -> Any:
    if isinstance(value, Expression):
        return change(value)
    if not isinstance(value, tuple):
        return value
    changed = tuple([_changed(item, change) for item in value])
    return value if all(map(is_, changed, value)) else changed


def _expressions_in(value: Any) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _expressions_in(item)
