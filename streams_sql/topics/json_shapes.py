"""What JSON values of a sample have in common: the type of a column that holds all of them.

Whole numbers are BIGINT, and DOUBLE where others have fractions; objects are STRUCTs of all fields that were seen. What goes into no
type together is STRING, in which JSON that is no text stands as it was written. Nothing but nulls, and the elements of nothing but empty
arrays, are STRING as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from streams_sql.evaluation.integers import BIGINT_MAX
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, STRING, Array, Base, Field, Map, SqlType, Struct

FIELDS_MAX: Final = 64
"""An object inside of a record that has more different fields in a sample is a MAP: their names are data."""
DEPTH_MAX: Final = 16
"""Levels of objects and arrays; what is deeper is STRING."""

_NUMBERS: Final = frozenset({BIGINT, DOUBLE})


class _Items:
    """Of arrays."""

    __slots__ = ("shape",)

    def __init__(self, shape: Shape) -> None:
        self.shape = shape


Shape: TypeAlias = "Base | _Items | dict[str, Shape] | None"
"""A plain type, arrays, objects by their fields; None where there were nulls alone."""


def shape_of(value: Any, depth: int = 0) -> Shape:
    if isinstance(value, dict | list) and depth >= DEPTH_MAX:
        return STRING
    match value:
        case None:
            return None
        case bool():
            return BOOLEAN
        case int():
            return BIGINT if -BIGINT_MAX - 1 <= value <= BIGINT_MAX else DOUBLE
        case float():
            return DOUBLE
        case list():
            return _Items(merged(shape_of(item, depth + 1) for item in value))
        case dict():
            return {name: shape_of(item, depth + 1) for name, item in value.items()}
    return STRING


def merged(shapes: Iterable[Shape]) -> Shape:
    found: Shape = None
    for shape in shapes:
        found = _both(found, shape)
    return found


def _both(one: Shape, other: Shape) -> Shape:
    if one is None or one == other:
        return other
    match one, other:
        case _, None:
            return one
        case dict(), dict():
            return {name: _both(one.get(name), other.get(name)) for name in {**one, **other}}
        case _Items(shape=left), _Items(shape=right):
            return _Items(_both(left, right))
        case Base(), Base() if one in _NUMBERS and other in _NUMBERS:
            return DOUBLE
    return STRING


def type_of(shape: Shape) -> SqlType:
    match shape:
        case None:
            return STRING
        case _Items():
            return Array(type_of(shape.shape))
        case dict():
            return _object_type(shape)
    return shape


def fields_of(shape: Mapping[str, Shape]) -> dict[str, SqlType]:
    """Columns by their names: upper case, so that they need no quotes, but for fields that differ in nothing but case."""
    spellings: dict[str, int] = {}
    for name in shape:
        spellings[name.upper()] = spellings.get(name.upper(), 0) + 1
    return {
        name if spellings[name.upper()] > 1 else name.upper(): type_of(inner) for name, inner in shape.items() if name
    }


def _object_type(shape: dict[str, Shape]) -> SqlType:
    if not shape:
        return Map(STRING, STRING)
    if len(shape) > FIELDS_MAX:
        return Map(STRING, type_of(merged(shape.values())))
    return Struct(tuple(Field(name, type_) for name, type_ in fields_of(shape).items()))
