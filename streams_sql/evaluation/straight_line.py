"""Plain expressions as Python source: for rows by the hundred thousand, one function does what a chain of closures does, in a third of
the time.

What is plain cannot fail on values of its types: columns, constants, comparisons, logic, arithmetic that wraps or is of floats, CASE. All
else stays with the closures of `compiler`, which are the reference, and are what a generated function is compared with in tests. The
source holds nothing that a user wrote: constants are handed to it as values, under names of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import Any, Final

from streams_sql.evaluation.comparisons import Evaluate
from streams_sql.evaluation.integers import BIGINT_MAX, INTEGER_MAX, wrap_for
from streams_sql.sql_types import BIGINT, DOUBLE, INTEGER, STRING, SqlType
from streams_sql.typed import Case, Cast, Column, Literal, Operation, Operator, Typed

SOURCES_KEPT_MAX: Final = 1_000
ROW: Final = "row"
ORIGIN: Final = "(False, partition, offset)"
"""Of a row that is made of columns."""

_COMPARISONS: Final = {
    Operator.EQUAL: "==",
    Operator.NOT_EQUAL: "!=",
    Operator.LESS: "<",
    Operator.LESS_OR_EQUAL: "<=",
    Operator.GREATER: ">",
    Operator.GREATER_OR_EQUAL: ">=",
}
_ARITHMETIC: Final = {Operator.ADD: "+", Operator.SUBTRACT: "-", Operator.MULTIPLY: "*"}
_WHOLE_MAX: Final = {INTEGER: INTEGER_MAX, BIGINT: BIGINT_MAX}


class NotPlain(Exception):
    """The expression, or a part of it, is left to the closures."""


@dataclass(frozen=True, slots=True)
class Text:
    """Python source of one value."""

    source: str
    may_be_null: bool = True


@dataclass(slots=True)
class Texts:
    """Writes expressions over rows. `constants` are what the texts name."""

    constants: dict[str, Any] = field(default_factory=dict)
    _columns: Sequence[str] = ()
    _temporaries: int = 0

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def column(self, place: int) -> str:
        """The value of the column there."""
        return f"{ROW}[{place}]"

    def row(self, columns: Sequence[str]) -> str:
        """All values of the columns, and where they come from."""
        return ROW

    def applied(self, function: Evaluate, columns: Sequence[str]) -> Text:
        """What a closure makes of the row."""
        return Text(f"{self.constant(function)}({self.row(columns)})")

    def of(self, typed: Typed, columns: Sequence[str]) -> Text:
        """Of a row whose values are those of the columns. NotPlain."""
        self._columns = columns
        return self._of(typed)

    def _of(self, typed: Typed) -> Text:
        match typed:
            case Column(name):
                return Text(self.column(self._columns.index(name)))
            case Literal(None):
                return Text("None")
            case Literal(value):
                return Text(self.constant(value), may_be_null=False)
            case Operation():
                return self._operation(typed)
            case Cast(operand, type_):
                return self._cast(operand, type_)
            case Case(whens, default):
                return self._case(whens, default)
        raise NotPlain

    def _operation(self, operation: Operation) -> Text:
        operator, arguments = operation.operator, operation.arguments
        if operator in _ARITHMETIC:
            return self._arithmetic(_ARITHMETIC[operator], operation.type, arguments)
        match operator, [self._of(argument) for argument in arguments]:
            case Operator.AND, [left, right]:
                return Text(f"({left.source} and {right.source})", left.may_be_null or right.may_be_null)
            case Operator.OR, [left, right]:
                return self._disjunction(left, right)
            case Operator.NOT, [operand]:
                return self._strict([operand], lambda value: f"not {value}")
            case Operator.IS_NULL, [operand]:
                return Text(f"({operand.source} is None)", may_be_null=False)
            case Operator.IS_NOT_NULL, [operand]:
                return Text(f"({operand.source} is not None)", may_be_null=False)
            case Operator.DISTINCT, [left, right]:
                return Text(f"({left.source} != {right.source})", may_be_null=False)
            case Operator.NOT_DISTINCT, [left, right]:
                return Text(f"({left.source} == {right.source})", may_be_null=False)
            case Operator.IN, [searched, *others]:
                return self._true_of(
                    [searched], lambda value: " or ".join([f"{value} == {other.source}" for other in others]) or "False"
                )
            case _, [left, right] if operator in _COMPARISONS:
                return self._true_of([left, right], lambda one, other: f"{one} {_COMPARISONS[operator]} {other}")
        raise NotPlain

    def _disjunction(self, left: Text, right: Text) -> Text:
        if not left.may_be_null:
            return Text(f"({left.source} or {right.source})", right.may_be_null)
        name = self._temporary()
        return Text(f"({name} if ({name} := {left.source}) or {name} is None else {right.source})")

    def _arithmetic(self, sign: str, type_: SqlType | None, arguments: Sequence[Typed]) -> Text:
        parts = [self._of(argument) for argument in arguments]
        if type_ in (DOUBLE, STRING):
            return self._strict(parts, lambda one, other: f"{one} {sign} {other}")
        maximum = _WHOLE_MAX.get(type_) if type_ in (INTEGER, BIGINT) else None
        if maximum is None:
            raise NotPlain
        made, wrap = self._temporary(), self.constant(wrap_for(type_))
        return self._strict(
            parts,
            lambda one, other: (
                f"{made} if -{maximum} <= ({made} := {one} {sign} {other}) <= {maximum} else {wrap}({made})"
            ),
        )

    def _cast(self, operand: Typed, type_: SqlType) -> Text:
        part = self._of(operand)
        if operand.type == type_ or (operand.type == INTEGER and type_ == BIGINT):
            return part
        if type_ == DOUBLE and operand.type in (INTEGER, BIGINT):
            convert = self.constant(float)
            return self._strict([part], lambda value: f"{convert}({value})")
        raise NotPlain

    def _case(self, whens: Sequence[tuple[Typed, Typed]], default: Typed | None) -> Text:
        otherwise = "None" if default is None else self._of(default).source
        cases = [f"{self._of(value).source} if {self._of(condition).source} else " for condition, value in whens]
        return Text(f"({''.join(cases)}{otherwise})")

    def _strict(self, parts: Sequence[Text], write: Callable[..., str]) -> Text:
        """NULL where one of the parts is; those behind it are not looked at then."""
        names, nulls = self._named(parts, "is None")
        if not nulls:
            return Text(f"({write(*names)})", may_be_null=False)
        return Text(f"(None if {' or '.join(nulls)} else {write(*names)})")

    def _true_of(self, parts: Sequence[Text], write: Callable[..., str]) -> Text:
        """Not true where one of the parts is NULL."""
        names, present = self._named(parts, "is not None")
        return Text(f"({' and '.join([*present, f'({write(*names)})'])})", may_be_null=False)

    def _named(self, parts: Sequence[Text], test: str) -> tuple[list[str], list[str]]:
        """What the parts are called once the tests are made, and the tests of those that may be NULL."""
        names, tests = [], []
        for part in parts:
            if part.may_be_null:
                name = self._temporary()
                tests.append(f"({name} := {part.source}) {test}")
                names.append(name)
            else:
                names.append(part.source)
        return names, tests

    def _temporary(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"


@dataclass(slots=True)
class ColumnTexts(Texts):
    """Writes expressions over columns that are gone through side by side: `used` are the places of those that the texts name, each by a
    name of its own."""

    used: set[int] = field(default_factory=set)

    def column(self, place: int) -> str:
        self.used.add(place)
        return f"v{place}"

    def row(self, columns: Sequence[str]) -> str:
        return f"({''.join(f'{self.column(place)}, ' for place in range(len(columns)))}{ORIGIN})"


def made(source: str, name: str, constants: dict[str, Any]) -> Callable[..., Any]:
    """The function of this name that the source defines. `constants` are what it names."""
    scope: dict[str, Any] = dict(constants)
    exec(_compiled(source), scope)
    function: Callable[..., Any] = scope[name]
    return function


@lru_cache(SOURCES_KEPT_MAX)
def _compiled(source: str) -> CodeType:
    return compile(source, "<plan>", "exec")
