"""Expressions as they were written: names are not resolved, types are not known.

Two expressions are equal when they say the same, wherever they stand: that is how GROUP BY finds its expressions in the select list.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from streams_sql.function_declaration import AggregateFunction, Function
from streams_sql.problem import Position
from streams_sql.sql_types import SqlType, quoted

if TYPE_CHECKING:
    from streams_sql.language.statements import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    position: Position | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal(_Placed):
    """A number without a point is an int, with a point a Decimal, with an exponent a float. `TRUE` and 1 are not the same."""

    value: bool | int | float | Decimal | str | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True, eq=False)
class NamedLiteral(Literal):
    """The value of a property, with the place of its name."""

    name_position: Position | None = field(default=None, kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class ColumnName(_Placed):
    """`name` or `source.name`. Names are upper case already unless they were quoted. A unit of time that is the argument of a function
    looks like the name of a column as well."""

    name: str
    source: str | None = None
    is_like_text: bool = field(default=False, compare=False, repr=False, kw_only=True)
    """Whether it stands in double quotes, in which other languages have texts."""

    def __str__(self) -> str:
        return f"{self.source}.{self.name}" if self.source else self.name


@dataclass(frozen=True, slots=True)
class Unary(_Placed):
    """`operator` is one of - + NOT."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(_Placed):
    """`operator` is one of + - * / % || = <> < <= > >= AND OR, IS DISTINCT FROM, IS NOT DISTINCT FROM."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Between(_Placed):
    operand: Expression
    low: Expression
    high: Expression
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class In(_Placed):
    operand: Expression
    values: tuple[Expression, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Like(_Placed):
    operand: Expression
    pattern: Expression
    escape: str | None = None
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class IsNull(_Placed):
    operand: Expression
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Cast(_Placed):
    operand: Expression
    type: TypeName


@dataclass(frozen=True, slots=True)
class CustomType(_Placed):
    """A type that CREATE TYPE has named, alone or inside of others. `made` are the names that statements have given."""

    name: str
    made: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    def __str__(self) -> str:
        return quoted(self.name)


@dataclass(frozen=True, slots=True)
class Case(_Placed):
    """`operand` is that of the simple form: CASE x WHEN 1 THEN …"""

    whens: tuple[tuple[Expression, Expression], ...]
    default: Expression | None = None
    operand: Expression | None = None


@dataclass(frozen=True, slots=True)
class FunctionCall(_Placed):
    """`COUNT(*)` has no arguments, and is_star. `made` is the function where CREATE FUNCTION has made it."""

    name: str
    arguments: tuple[Expression, ...]
    is_star: bool = False
    made: Function | AggregateFunction | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Lambda(_Placed):
    parameters: tuple[str, ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class Subscript(_Placed):
    """array[1] or map['key']."""

    operand: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Dereference(_Placed):
    """struct->field."""

    operand: Expression
    field: str


@dataclass(frozen=True, slots=True)
class MakeArray(_Placed):
    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MakeMap(_Placed):
    entries: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True, slots=True)
class MakeStruct(_Placed):
    fields: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class QueryValue(_Placed):
    """(SELECT …): the one value that a query gives, or in the place of the values of IN all of them. With `is_existence` (EXISTS …) it
    stands for whether there is a row at all."""

    query: Query
    is_existence: bool = False


Expression: TypeAlias = (
    Literal
    | ColumnName
    | Unary
    | Binary
    | Between
    | In
    | Like
    | IsNull
    | Cast
    | Case
    | FunctionCall
    | Lambda
    | Subscript
    | Dereference
    | MakeArray
    | MakeMap
    | MakeStruct
    | QueryValue
)

TypeName: TypeAlias = SqlType | CustomType
"""Parts of a type may be custom types as well: `analysis` puts in what they stand for."""
