"""Functions called by name with values, as a query would."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from streams_sql.evaluation.calls import bound_reference
from streams_sql.functions.library import LIBRARY
from streams_sql.functions.resolution import resolve
from streams_sql.sql_types import BOOLEAN, BYTES, DOUBLE, INTEGER, STRING, Array, Map, SqlType
from streams_sql.sql_types import Decimal as DecimalType

_TYPES: dict[type, SqlType] = {bool: BOOLEAN, int: INTEGER, float: DOUBLE, str: STRING, bytes: BYTES}


def call(name: str, *values: Any, types: tuple[SqlType | None, ...] | None = None) -> Any:
    """The result of a function; the types of its arguments are those that the values look like unless they are given."""
    known = [type_of(value) for value in values] if types is None else types
    resolved = resolve(LIBRARY.scalars[name], known)
    return bound_reference(resolved.overload, known, resolved.result)(*values)


def type_of(value: Any) -> SqlType | None:
    match value:
        case None:
            return None
        case Decimal():
            _, digits, exponent = value.as_tuple()
            scale = -int(exponent)
            return DecimalType(max(len(digits), scale + 1), scale)
        case list():
            return Array(next((type_ for type_ in map(type_of, value) if type_), STRING))
        case dict():
            values = (type_ for type_ in map(type_of, value.values()) if type_)
            return Map(type_of(next(iter(value), "")) or STRING, next(values, STRING))
    return _TYPES[type(value)]
