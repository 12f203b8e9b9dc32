"""Types as they are written in statements: made of types that are known, with numbers that make sense."""

from __future__ import annotations

from dataclasses import replace

from streams_sql.analysis.catalogue_view import nearest_hint
from streams_sql.language.expressions import CustomType, TypeName
from streams_sql.language.type_names import TYPE_NAMES
from streams_sql.problem import Position, SqlProblem
from streams_sql.sql_types import DECIMAL_PRECISION_MAX, Array, Decimal, Map, SqlType, Struct


def known_type(name: TypeName, position: Position | None = None) -> SqlType:
    """The type that a name stands for."""
    match name:
        case CustomType():
            hint = (
                nearest_hint(name.name, sorted({*TYPE_NAMES, *name.made}))
                or " SHOW TYPES lists those that CREATE TYPE has made."
            )
            raise SqlProblem(f"Cannot resolve unknown type: {name.name}.{hint}", name.position or position)
        case Array(element):
            return Array(known_type(element, position))
        case Map(key, value):
            return Map(known_type(key, position), known_type(value, position))
        case Struct(fields):
            return Struct(tuple(replace(field, type=known_type(field.type, position)) for field in fields))
        case Decimal():
            _check_decimal(name, position)
    return name


def _check_decimal(decimal: Decimal, position: Position | None) -> None:
    if not 1 <= decimal.precision <= DECIMAL_PRECISION_MAX:
        raise SqlProblem(
            f"DECIMAL precision must be >= 1 and at most {DECIMAL_PRECISION_MAX}: {decimal}. Choose a smaller precision.",
            position,
        )
    if not 0 <= decimal.scale <= decimal.precision:
        raise SqlProblem(f"DECIMAL precision must be >= scale, and scale must be >= 0: {decimal}.", position)


def base_name(type_: SqlType | None) -> str:
    """The type without its parts: ARRAY, DECIMAL, INTEGER; NULL for none."""
    match type_:
        case None:
            return "NULL"
        case Array():
            return "ARRAY"
        case Map():
            return "MAP"
        case Struct():
            return "STRUCT"
        case Decimal():
            return "DECIMAL"
    return str(type_)
