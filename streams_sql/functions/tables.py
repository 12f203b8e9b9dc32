"""Table functions: each gives a list, and a row for each of its elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from streams_sql.functions.registration import table_function
from streams_sql.sql_types import Array, SqlType

CUBE_COLUMNS_MAX: Final = 20
"""CUBE_EXPLODE doubles its rows with every column: 20 make a million."""


def _element(arguments: Sequence[SqlType | None]) -> SqlType:
    (array,) = arguments
    assert isinstance(array, Array), "the signature asks for one"
    return array.element


@table_function(
    "explode",
    "ARRAY<T> -> T",
    doc="A row for each element of an array.",
    parameters=("list",),
    takes_null=True,
    spark="coalesce({0}, array())",
)
@table_function(
    "explode",
    "ARRAY<DECIMAL> -> DECIMAL",
    doc="A row for each element of an array.",
    parameters=("input",),
    takes_null=True,
    returns=_element,
    spark="coalesce({0}, array())",
)
def explode(values: list[Any] | None) -> list[Any]:
    return values or []


@table_function(
    "cube_explode",
    "ARRAY<T> -> ARRAY<T>",
    doc="A row for each way to keep some of the elements of an array and put NULL instead of the others.",
    parameters=("columns",),
    takes_null=True,
)
def cube_explode(columns: list[Any] | None) -> list[list[Any]]:
    """An element that is NULL already does not double the rows."""
    if columns is None:
        return []
    if len(columns) > CUBE_COLUMNS_MAX:
        raise ValueError(f"cube_explode: too many columns ({len(columns)}); max is {CUBE_COLUMNS_MAX}")
    rows: list[list[Any]] = [[]]
    for value in columns:
        choices = [None] if value is None else [None, value]
        rows = [[*row, choice] for row in rows for choice in choices]
    return rows
