"""Expressions of random queries, each with its text in the language under test and in DuckDB's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import Final


class Type(StrEnum):
    """Types of columns, by their names in both languages."""

    INTEGER = "INTEGER"
    BIGINT = "BIGINT"
    DOUBLE = "DOUBLE"
    DECIMAL = "DECIMAL(9, 2)"
    STRING = "VARCHAR"
    BOOLEAN = "BOOLEAN"


INTEGERS: Final = (Type.INTEGER, Type.BIGINT)
WORDS: Final = ("", "a", "B", "zz", "Ωx", "a b", "%", "null")
"""Without characters outside the basic plane: their order differs between Java and SQL."""
_DEPTH: Final = 2
_DIVISIONS: Final = (("/", "//"), ("%", "%"))
"""Both round towards zero."""
_ORDERS: Final = ("<", "<=", "=", ">", ">=", "<>")


@dataclass(frozen=True, slots=True)
class Expression:
    """A call: `ksql` and `duck` are templates with a place for each part."""

    type: Type
    ksql: str
    duck: str
    parts: tuple[Expression, ...] = ()

    @property
    def text(self) -> str:
        return self.ksql.format(*(part.text for part in self.parts))

    @property
    def duck_text(self) -> str:
        return self.duck.format(*(part.duck_text for part in self.parts))

    def simplified(self) -> Iterator[Expression]:
        """Smaller expressions of the same type, the smallest first."""
        for part in self.parts:
            if part.type == self.type:
                yield part
        for place, part in enumerate(self.parts):
            for smaller in part.simplified():
                yield replace(self, parts=(*self.parts[:place], smaller, *self.parts[place + 1 :]))


@dataclass(frozen=True, slots=True)
class Operand:
    """A column that expressions may mention. Sums and products of `is_exact` doubles have no rounding errors."""

    expression: Expression
    is_exact: bool = True


def column(alias: str, name: str, type_: Type) -> Expression:
    return Expression(type_, f"{alias}.{name}", f'"{alias}.{name}"')


def literal(value: int | float | str | bool, type_: Type) -> Expression:
    """A number that is no INTEGER is cast: its own type would depend on how it is written."""
    text = "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value).upper()
    shown = f"({text})" if not isinstance(value, str) and value < 0 else text
    cast = f"CAST({shown} AS {type_})"
    return Expression(type_, cast if type_ in (Type.BIGINT, Type.DOUBLE, Type.DECIMAL) else shown, cast)


class Expressions:
    """Random expressions over some columns."""

    def __init__(self, random: Random, operands: Sequence[Operand]) -> None:
        self._random = random
        self._operands = operands

    def any(self) -> Expression:
        """An expression of a type for which there is a column. One that may divide by zero is not part of another: there, it would depend
        on the order of evaluation what is NULL."""
        type_ = self._random.choice([operand.expression.type for operand in self._operands])
        if type_ in INTEGERS and self._random.random() < 0.15:
            return _divided(type_, self._random.choice(_DIVISIONS), self.of(type_, 1), self.of(type_, 1))
        return self.of(type_)

    def of(self, type_: Type, depth: int = _DEPTH) -> Expression:
        if depth == 0 or self._random.random() < 0.3:
            return self._leaf(type_)
        makes = {
            Type.INTEGER: (self._wrapped, self._divided, self._absolute, self._first, self._case, self._length),
            Type.BIGINT: (self._wrapped, self._divided, self._absolute, self._first, self._case, self._widened),
            Type.DOUBLE: (self._exact, self._first, self._case),
            Type.DECIMAL: (self._first, self._case),
            Type.STRING: (self._case, self._first, self._word_function, self._cast_text, self._concatenated),
            Type.BOOLEAN: (self._first, self._case),
        }
        return self._random.choice(makes[type_])(type_, depth - 1)

    def number(self) -> Expression | None:
        """One that can be summed up without rounding errors, if there is any."""
        types = [operand.expression.type for operand in self._operands if operand.is_exact]
        summed = [type_ for type_ in types if type_ in (*INTEGERS, Type.DECIMAL, Type.DOUBLE)]
        if not summed:
            return None
        chosen = self._random.choice(summed)
        return self._exact(chosen, 1) if chosen is Type.DOUBLE else self.of(chosen)

    def condition(self, depth: int = _DEPTH) -> Expression:
        if depth > 0 and self._random.random() < 0.4:
            one, other = self.condition(depth - 1), self.condition(depth - 1)
            return self._random.choice(
                (
                    _condition("({0} AND {1})", one, other),
                    _condition("({0} OR {1})", one, other),
                    _condition("(NOT {0})", one),
                )
            )
        return self._random.choice((self._comparison, self._comparison, self._null_test, self._range, self._likeness))()

    # -- values --

    def _leaf(self, type_: Type) -> Expression:
        columns = [each.expression for each in self._operands if each.expression.type == type_]
        if columns and self._random.random() < 0.75:
            return self._random.choice(columns)
        return self._literal(type_)

    def _literal(self, type_: Type) -> Expression:
        match type_:
            case Type.INTEGER | Type.BIGINT:
                return literal(self._random.choice((0, 1, -1, 2, 3, 7, -9)), type_)
            case Type.DOUBLE:
                return literal(self._random.choice((0.5, -1.25, 2.0)), type_)
            case Type.DECIMAL:
                return literal(self._random.choice((0.25, 10.5, -3.75)), type_)
            case Type.STRING:
                return literal(self._random.choice(WORDS), type_)
        return literal(self._random.random() < 0.5, type_)

    def _wrapped(self, type_: Type, depth: int) -> Expression:
        """Sums, differences and products wrap around, as Java's do."""
        symbol = self._random.choice("+-*")
        return Expression(
            type_,
            f"({{0}} {symbol} {{1}})",
            f"{_wrap(type_)}(CAST({{0}} AS HUGEINT) {symbol} {{1}})",
            (self.of(type_, depth), self.of(type_, depth)),
        )

    def _divided(self, type_: Type, depth: int) -> Expression:
        divisor = literal(self._random.choice((-3, -1, 1, 2, 7)), type_)
        return _divided(type_, self._random.choice(_DIVISIONS), self.of(type_, depth), divisor)

    def _absolute(self, type_: Type, depth: int) -> Expression:
        return Expression(type_, "ABS({0})", f"{_wrap(type_)}(ABS(CAST({{0}} AS HUGEINT)))", (self.of(type_, depth),))

    def _first(self, type_: Type, depth: int) -> Expression:
        template = "COALESCE({0}, {1})"
        return Expression(type_, template, template, (self.of(type_, depth), self.of(type_, depth)))

    def _case(self, type_: Type, depth: int) -> Expression:
        template = "CASE WHEN {0} THEN {1} ELSE {2} END"
        parts = (self.condition(0), self.of(type_, depth), self.of(type_, depth))
        return Expression(type_, template, template, parts)

    def _widened(self, type_: Type, depth: int) -> Expression:
        template = "CAST({0} AS BIGINT)"
        return Expression(type_, template, template, (self.of(Type.INTEGER, depth),))

    def _length(self, type_: Type, depth: int) -> Expression:
        return Expression(type_, "LEN({0})", "CAST(length({0}) AS INTEGER)", (self.of(Type.STRING, depth),))

    def _exact(self, type_: Type, depth: int) -> Expression:
        """Sums and products of doubles of few digits."""
        exact = [each.expression for each in self._operands if each.is_exact and each.expression.type is Type.DOUBLE]
        leaves = [*exact, self._literal(type_)]
        template = f"({{0}} {self._random.choice('+-*')} {{1}})"
        return Expression(type_, template, template, (self._random.choice(leaves), self._random.choice(leaves)))

    def _word_function(self, type_: Type, depth: int) -> Expression:
        ksql, duck = self._random.choice(
            (
                ("UCASE({0})", "upper({0})"),
                ("LCASE({0})", "lower({0})"),
                ("TRIM({0})", "trim({0})"),
                ("SUBSTRING({0}, 1, 1)", "substring({0}, 1, 1)"),
            )
        )
        return Expression(type_, ksql, duck, (self.of(type_, depth),))

    def _cast_text(self, type_: Type, depth: int) -> Expression:
        of = self.of(self._random.choice(INTEGERS), depth)
        return Expression(type_, "CAST({0} AS VARCHAR)", "CAST({0} AS VARCHAR)", (of,))

    def _concatenated(self, type_: Type, depth: int) -> Expression:
        return Expression(type_, "({0} + {1})", "({0} || {1})", (self.of(type_, depth), self.of(type_, depth)))

    # -- conditions: a comparison with NULL does not hold, and its negation does --

    def _comparison(self) -> Expression:
        type_ = self._type()
        symbol = self._random.choice(("=", "<>") if type_ is Type.BOOLEAN else _ORDERS)
        return _test(f"({{0}} {symbol} {{1}})", self.of(type_, 1), self.of(type_, 1))

    def _null_test(self) -> Expression:
        word = self._random.choice(("IS", "IS NOT"))
        return _condition(f"({{0}} {word} NULL)", self.of(self._type(), 1))

    def _range(self) -> Expression:
        low = self._random.randint(-9, 9)
        return _test(f"({{0}} BETWEEN {low} AND {low + self._random.randint(0, 9)})", self.of(Type.INTEGER, 1))

    def _likeness(self) -> Expression:
        pattern = self._random.choice(("a%", "%z", "_", "%"))
        return _test(f"({{0}} LIKE '{pattern}')", self.of(Type.STRING, 1))

    def _type(self) -> Type:
        return self._random.choice([operand.expression.type for operand in self._operands])


def _divided(type_: Type, symbols: tuple[str, str], dividend: Expression, divisor: Expression) -> Expression:
    ksql, duck = symbols
    return Expression(
        type_,
        f"({{0}} {ksql} {{1}})",
        f"{_wrap(type_)}(CAST({{0}} AS HUGEINT) {duck} NULLIF(CAST({{1}} AS HUGEINT), 0))",
        (dividend, divisor),
    )


def _condition(template: str, *parts: Expression) -> Expression:
    return Expression(Type.BOOLEAN, template, template, parts)


def _test(template: str, *parts: Expression) -> Expression:
    return Expression(Type.BOOLEAN, template, f"COALESCE({template}, FALSE)", parts)


def _wrap(type_: Type) -> str:
    return "wrap32" if type_ is Type.INTEGER else "wrap64"
