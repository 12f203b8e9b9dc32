"""Expressions as text that is read back as the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, TypeAlias

from streams_sql.language.expressions import (
    Between,
    Binary,
    Case,
    Cast,
    ColumnName,
    Dereference,
    Expression,
    FunctionCall,
    In,
    IsNull,
    Lambda,
    Like,
    Literal,
    MakeArray,
    MakeMap,
    MakeStruct,
    QueryValue,
    Subscript,
    Unary,
)
from streams_sql.language.words import RESERVED_WORDS
from streams_sql.sql_types import quoted

_PLAIN_NAME: Final = re.compile(r"[A-Z_][A-Z0-9_@]*", re.ASCII)
_NO_NAMES: Final[Mapping[str, str]] = {}


def is_plain(name: str) -> bool:
    """Whether it needs no quotes."""
    return _PLAIN_NAME.fullmatch(name) is not None and name not in RESERVED_WORDS


def format_name(name: str) -> str:
    """Quoted only if it must be."""
    return name if is_plain(name) else quoted(name)


def format_expression(expression: Expression, names: Mapping[str, str] = _NO_NAMES) -> str:
    """As ksqlDB writes it in its messages: every operation in parentheses. `names` are words to show instead of columns' names."""
    return _Format(names).of(expression)


class _Format:
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def of(self, expression: Expression) -> str:
        return _FORMS[type(expression)](self, expression)

    def all(self, expressions: Iterable[Expression]) -> str:
        return ", ".join(map(self.of, expressions))

    def literal(self, literal: Literal) -> str:
        return literal_text(literal.value)

    def column(self, column: ColumnName) -> str:
        if column.name in self._names:
            return self._names[column.name]
        return ".".join(format_name(part) for part in (column.source, column.name) if part is not None)

    def query(self, value: QueryValue) -> str:
        return "EXISTS (SELECT …)" if value.is_existence else "(SELECT …)"

    def unary(self, unary: Unary) -> str:
        operand = self.of(unary.operand)
        if unary.operator == "NOT":
            return f"(NOT {operand})"
        if operand.startswith("-"):
            return f"{unary.operator} {operand}"
        # A sign right before a number would be read as part of it.
        return f"{unary.operator}({operand})" if operand[0].isdigit() else f"{unary.operator}{operand}"

    def binary(self, binary: Binary) -> str:
        return f"({self.of(binary.left)} {binary.operator} {self.of(binary.right)})"

    def between(self, between: Between) -> str:
        low, high = self.of(between.low), self.of(between.high)
        return f"({self.of(between.operand)}{_negation(between)} BETWEEN {low} AND {high})"

    def among(self, among: In) -> str:
        return f"({self.of(among.operand)}{_negation(among)} IN ({self.all(among.values)}))"

    def like(self, like: Like) -> str:
        escape = "" if like.escape is None else f" ESCAPE {_string(like.escape)}"
        return f"({self.of(like.operand)}{_negation(like)} LIKE {self.of(like.pattern)}{escape})"

    def is_null(self, test: IsNull) -> str:
        return f"({self.of(test.operand)} IS{_negation(test)} NULL)"

    def cast(self, cast: Cast) -> str:
        return f"CAST({self.of(cast.operand)} AS {cast.type})"

    def case(self, case: Case) -> str:
        parts = ["CASE"] if case.operand is None else ["CASE", self.of(case.operand)]
        parts += (f"WHEN {self.of(when)} THEN {self.of(then)}" for when, then in case.whens)
        if case.default is not None:
            parts.append(f"ELSE {self.of(case.default)}")
        return f"({' '.join(parts)} END)"

    def call(self, call: FunctionCall) -> str:
        return f"{format_name(call.name)}({'*' if call.is_star else self.all(call.arguments)})"

    def function(self, function: Lambda) -> str:
        return f"({', '.join(map(format_name, function.parameters))}) => {self.of(function.body)}"

    def subscript(self, subscript: Subscript) -> str:
        return f"{self._base(subscript.operand)}[{self.of(subscript.index)}]"

    def dereference(self, dereference: Dereference) -> str:
        return f"{self._base(dereference.operand)}->{format_name(dereference.field)}"

    def _base(self, operand: Expression) -> str:
        """What is before [ or ->, which a sign must not take for itself."""
        return f"({self.of(operand)})" if isinstance(operand, Unary) else self.of(operand)

    def array(self, array: MakeArray) -> str:
        return f"ARRAY[{self.all(array.elements)}]"

    def map(self, map_: MakeMap) -> str:
        return f"MAP({', '.join(f'{self.of(key)}:={self.of(value)}' for key, value in map_.entries)})"

    def struct(self, struct: MakeStruct) -> str:
        return f"STRUCT({', '.join(f'{format_name(name)}:={self.of(value)}' for name, value in struct.fields)})"


_Form: TypeAlias = Callable[[_Format, Any], str]

_FORMS: Final[Mapping[type, _Form]] = {
    Literal: _Format.literal,
    ColumnName: _Format.column,
    Unary: _Format.unary,
    Binary: _Format.binary,
    Between: _Format.between,
    In: _Format.among,
    Like: _Format.like,
    IsNull: _Format.is_null,
    Cast: _Format.cast,
    Case: _Format.case,
    FunctionCall: _Format.call,
    Lambda: _Format.function,
    Subscript: _Format.subscript,
    Dereference: _Format.dereference,
    MakeArray: _Format.array,
    MakeMap: _Format.map,
    MakeStruct: _Format.struct,
    QueryValue: _Format.query,
}


def _negation(predicate: Between | In | Like | IsNull) -> str:
    return " NOT" if predicate.is_negated else ""


def literal_text(value: bool | int | float | Decimal | str | None) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _string(value)
        case float():
            return _scientific(value)
        case Decimal():
            text = format(value, "f")
            return text if "." in text else f"{text}."
    return str(value)


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _scientific(value: float) -> str:
    """Always with an exponent: without one, it would be read as a decimal."""
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    whole, *fraction = map(str, digits)
    point = f".{''.join(fraction)}" if fraction else ""
    return f"{'-' if sign else ''}{whole}{point}E{int(exponent) + len(fraction)}"
