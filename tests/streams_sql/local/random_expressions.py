"""Expressions made at random, each with what it comes to by the language's rules: a closure over the values of columns, which shares nothing
with the evaluator."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

Values: TypeAlias = Mapping[str, Any]
"""Of columns, by the names that they have in the statement."""

GREATEST: Final = 9
"""Of numbers: products of all that an expression may hold stay integers of 32 bits."""
WORDS: Final = ("x", "y", "zz")
_DEPTH: Final = 2


class Expression(NamedTuple):
    text: str
    value: Callable[[Values], Any]


class Expressions:
    """`numbers` and `words` are the names of columns. With `is_linear`, all numbers may be multiplied by one that is greater than 0: each
    expression is then multiplied by it, and each condition stays as it is."""

    def __init__(
        self, random: Random, numbers: Sequence[str], words: Sequence[str] = (), *, is_linear: bool = False
    ) -> None:
        self._random = random
        self._numbers = numbers
        self._words = words
        self._is_linear = is_linear

    def number(self, depth: int = _DEPTH) -> Expression:
        if depth == 0 or self._random.random() < 0.25:
            return self._leaf()
        linear = (self._arithmetic, self._absolute, self._first_of, self._case, self._negated)
        return self._random.choice(linear if self._is_linear else (*linear, self._division))(depth - 1)

    def condition(self, depth: int = _DEPTH) -> Expression:
        if depth > 0 and self._random.random() < 0.5:
            return self._random.choice((self._both, self._either, self._not))(depth - 1)
        make = self._random.choice((self._comparison, self._null_test, self._range, self._membership, self._word_test))
        return make(0)

    # -- numbers --

    def _leaf(self) -> Expression:
        if self._random.random() < 0.3:
            number = self._random.randint(-GREATEST, GREATEST)
            return Expression(f"({number})", lambda values: number)
        return self._column(self._numbers)

    def _column(self, names: Sequence[str]) -> Expression:
        name = self._random.choice(names)
        return Expression(name, lambda values: values[name])

    def _arithmetic(self, depth: int) -> Expression:
        linear = (("+", operator.add), ("-", operator.sub))
        symbol, function = self._random.choice(linear if self._is_linear else (*linear, ("*", operator.mul)))
        one, other = self.number(depth), self.number(depth)
        return Expression(
            f"({one.text} {symbol} {other.text})",
            lambda values: _unless_null(function, one.value(values), other.value(values)),
        )

    def _division(self, depth: int) -> Expression:
        """Integers are cut off towards zero, and what is left has the sign of what was divided."""
        dividend, divisor = self.number(depth), self._random.choice((-3, -1, 2, 7))
        symbol, function = self._random.choice((("/", _quotient), ("%", _rest)))
        return Expression(
            f"({dividend.text} {symbol} ({divisor}))",
            lambda values: _unless_null(function, dividend.value(values), divisor),
        )

    def _absolute(self, depth: int) -> Expression:
        of = self.number(depth)
        return Expression(f"ABS({of.text})", lambda values: _unless_null(abs, of.value(values)))

    def _negated(self, depth: int) -> Expression:
        of = self.number(depth)
        return Expression(f"(-{of.text})", lambda values: _unless_null(operator.neg, of.value(values)))

    def _first_of(self, depth: int) -> Expression:
        one, other = self.number(depth), self.number(depth)

        def value(values: Values) -> Any:
            first = one.value(values)
            return other.value(values) if first is None else first

        return Expression(f"COALESCE({one.text}, {other.text})", value)

    def _case(self, depth: int) -> Expression:
        condition, one, other = self.condition(depth), self.number(depth), self.number(depth)
        text = f"CASE WHEN {condition.text} THEN {one.text} ELSE {other.text} END"
        return Expression(text, lambda values: (one if condition.value(values) else other).value(values))

    # -- conditions: NULL is neither like nor unlike anything --

    def _comparison(self, depth: int) -> Expression:
        symbol, function = self._random.choice(
            (
                *(("<", operator.lt), ("<=", operator.le), ("=", operator.eq)),
                *((">", operator.gt), (">=", operator.ge), ("<>", operator.ne)),
            )
        )
        one, other = self.number(depth), self.number(depth)
        return Expression(
            f"{one.text} {symbol} {other.text}",
            lambda values: _unless_null(function, one.value(values), other.value(values)) or False,
        )

    def _null_test(self, depth: int) -> Expression:
        of, is_negated = self.number(depth), self._random.random() < 0.5
        text = f"{of.text} IS {'NOT ' if is_negated else ''}NULL"
        return Expression(text, lambda values: (of.value(values) is None) is not is_negated)

    def _range(self, depth: int) -> Expression:
        of, low = self.number(depth), self._random.randint(-GREATEST, GREATEST)
        high = low + self._random.randint(0, GREATEST)

        def value(values: Values) -> bool:
            found = of.value(values)
            return found is not None and low <= found <= high

        return Expression(f"{of.text} BETWEEN ({low}) AND ({high})", value)

    def _membership(self, depth: int) -> Expression:
        of, among = self.number(depth), self._random.sample(range(-GREATEST, GREATEST), 3)
        return Expression(f"{of.text} IN ({', '.join(map(str, among))})", lambda values: of.value(values) in among)

    def _word_test(self, depth: int) -> Expression:
        if not self._words:
            return self._comparison(depth)
        of, word = self._column(self._words), self._random.choice(WORDS)
        return Expression(f"{of.text} = '{word}'", lambda values: of.value(values) == word)

    def _both(self, depth: int) -> Expression:
        one, other = self.condition(depth), self.condition(depth)
        return Expression(f"({one.text} AND {other.text})", lambda values: one.value(values) and other.value(values))

    def _either(self, depth: int) -> Expression:
        one, other = self.condition(depth), self.condition(depth)
        return Expression(f"({one.text} OR {other.text})", lambda values: one.value(values) or other.value(values))

    def _not(self, depth: int) -> Expression:
        of = self.condition(depth)
        return Expression(f"(NOT {of.text})", lambda values: not of.value(values))


def _unless_null(function: Callable[..., Any], *arguments: Any) -> Any:
    return None if None in arguments else function(*arguments)


def _quotient(one: int, other: int) -> int:
    return abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)


def _rest(one: int, other: int) -> int:
    return one - other * _quotient(one, other)
