"""Expressions whose names and types are known: what both hosts run.

The analyser has put in all casts, so that an operation's arguments have the types it works on. Names are those of the columns of the
relation below; a type is None for NULL alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from streams_sql.function_declaration import Overload
from streams_sql.sql_types import SqlType


class Operator(Enum):
    """Operators as written. AND and OR look at their right side only if the left one does not decide."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    MODULO = "%"
    NEGATE = "NEGATE"
    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    DISTINCT = "IS DISTINCT FROM"
    NOT_DISTINCT = "IS NOT DISTINCT FROM"
    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    IS_NULL = "IS NULL"
    IS_NOT_NULL = "IS NOT NULL"
    IN = "IN"
    """The first argument is among the others."""


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any
    type: SqlType | None


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: SqlType


@dataclass(frozen=True, slots=True)
class Parameter:
    """Of the lambda around it."""

    name: str
    type: SqlType


@dataclass(frozen=True, slots=True)
class Operation:
    operator: Operator
    arguments: tuple[Typed, ...]
    type: SqlType | None


@dataclass(frozen=True, slots=True)
class Like:
    operand: Typed
    pattern: Typed
    escape: str | None
    type: SqlType


@dataclass(frozen=True, slots=True)
class Cast:
    operand: Typed
    type: SqlType


@dataclass(frozen=True, slots=True)
class Case:
    """The first value whose condition is true."""

    whens: tuple[tuple[Typed, Typed], ...]
    default: Typed | None
    type: SqlType | None


@dataclass(frozen=True, slots=True)
class Call:
    """Of a scalar function; lambdas stand among the arguments."""

    name: str
    overload: Overload
    arguments: tuple[Typed | Lambda, ...]
    type: SqlType


@dataclass(frozen=True, slots=True)
class Lambda:
    parameters: tuple[Parameter, ...]
    body: Typed


@dataclass(frozen=True, slots=True)
class Subscript:
    """array[i] (from 1, or from the end with negative numbers) or map[key]; NULL where there is nothing."""

    operand: Typed
    index: Typed
    type: SqlType


@dataclass(frozen=True, slots=True)
class StructField:
    operand: Typed
    name: str
    type: SqlType


@dataclass(frozen=True, slots=True)
class MakeArray:
    elements: tuple[Typed, ...]
    type: SqlType


@dataclass(frozen=True, slots=True)
class MakeMap:
    entries: tuple[tuple[Typed, Typed], ...]
    type: SqlType


@dataclass(frozen=True, slots=True)
class MakeStruct:
    fields: tuple[tuple[str, Typed], ...]
    type: SqlType


Typed: TypeAlias = (
    Literal
    | Column
    | Parameter
    | Operation
    | Like
    | Cast
    | Case
    | Call
    | Subscript
    | StructField
    | MakeArray
    | MakeMap
    | MakeStruct
)
