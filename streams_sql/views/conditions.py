"""Conditions in SQLite's words, where they mean exactly the same there.

A comparison with NULL is false here and NULL in SQLite, so that each condition has two texts: one that is true where the condition is
true, and one that is true where it is false. A condition that is NULL has neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from streams_sql.evaluation.comparisons import Evaluate
from streams_sql.evaluation.compiler import compile_expression
from streams_sql.function_declaration import Overload
from streams_sql.plan.conjuncts import conjunction, conjuncts
from streams_sql.sql_types import BIGINT, BOOLEAN, BYTES, DATE, DOUBLE, INTEGER, STRING, TIME, TIMESTAMP, SqlType
from streams_sql.sql_types import Decimal as DecimalType
from streams_sql.typed import Call, Cast, Column, Literal, Operation, Operator, Typed
from streams_sql.views.codecs import NOT_A_NUMBER, Codec, Unstorable, codec_of
from streams_sql.views.layout import ViewLayout, column_name

PARTS_MAX: Final = 400
"""Comparisons of one condition that SQLite is asked for; longer ones are looked at here. It takes trees up to a depth of 1,000."""
PARAMETERS_MAX: Final = 10_000

_SIGNS: Final[Mapping[Operator, str]] = {
    Operator.EQUAL: "=",
    Operator.NOT_EQUAL: "<>",
    Operator.LESS: "<",
    Operator.LESS_OR_EQUAL: "<=",
    Operator.GREATER: ">",
    Operator.GREATER_OR_EQUAL: ">=",
    Operator.DISTINCT: "IS NOT",
    Operator.NOT_DISTINCT: "IS",
}
_MIRRORED: Final[Mapping[Operator, Operator]] = {
    Operator.LESS: Operator.GREATER,
    Operator.LESS_OR_EQUAL: Operator.GREATER_OR_EQUAL,
    Operator.GREATER: Operator.LESS,
    Operator.GREATER_OR_EQUAL: Operator.LESS_OR_EQUAL,
}
_UPWARDS: Final = frozenset({Operator.GREATER, Operator.GREATER_OR_EQUAL})
_NULL_TESTS: Final = frozenset({Operator.IS_NULL, Operator.IS_NOT_NULL})


class _Family(Enum):
    """Types whose values compare with each other as they are kept."""

    WHOLE = "whole numbers"
    DECIMAL = "decimals"


_FAMILIES: Final[Mapping[SqlType, SqlType | _Family]] = {
    INTEGER: _Family.WHOLE,
    BIGINT: _Family.WHOLE,
    **{type_: type_ for type_ in (BOOLEAN, BYTES, DATE, DOUBLE, STRING, TIME, TIMESTAMP)},
}


class _Untranslatable(Exception):
    """SQLite has no words for it that mean the same."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A parameter of the SQL text: an expression without columns of the view, worked out from the literals of a query, and how the
    column that it is compared with keeps its values."""

    evaluate: Evaluate
    codec: Codec
    type: SqlType

    def value(self, literals: Sequence[Any]) -> Any:
        """Unstorable where SQLite would not compare with it as Python does; whatever the expression raises."""
        value = self.evaluate(literals)
        if value is None:
            return None
        kept = value if self.codec.encode is None else self.codec.encode(value)
        if kept.__class__ is str:
            if self.type == DOUBLE and kept == NOT_A_NUMBER:
                raise Unstorable("NaN is not even equal to itself")
            kept.encode()
        return kept


@dataclass(frozen=True, slots=True)
class SqlCondition:
    """What SQLite is asked, and what remains. `key_choices` is how many keys can pass, where all columns of the key are fixed."""

    text: str
    bounds: tuple[Bound, ...]
    rest: Typed | None
    key_choices: int | None
    fixed: frozenset[str] = frozenset()
    ranged: frozenset[str] = frozenset()
    """The columns that have one value, and those that lie between some or are among several."""


def translate(condition: Typed | None, layout: ViewLayout, parameters: Sequence[str]) -> SqlCondition:
    """`parameters` are names of columns in the condition that stand for literals."""
    translation = _Translation(layout, tuple(parameters))
    texts: list[str] = []
    rest: list[Typed] = []
    choices: dict[str, int] = {}
    ranged: set[str] = set()
    for part in conjuncts(condition):
        mark = translation.mark()
        try:
            texts.append(translation.true(part))
        except _Untranslatable:
            translation.reset(mark)
            rest.append(part)
        else:
            _note_choices(part, choices)
            ranged.update(_ranged(part))
    fixed = frozenset(name for name, count in choices.items() if count == 1)
    return SqlCondition(
        " AND ".join(f"({text})" for text in texts),
        tuple(translation.bounds),
        conjunction(rest),
        _key_choices(choices, layout),
        fixed,
        frozenset(ranged) - fixed,
    )


@dataclass(slots=True)
class _Translation:
    layout: ViewLayout
    parameters: tuple[str, ...]
    bounds: list[Bound] = field(default_factory=list)
    parts: int = 0

    def mark(self) -> tuple[int, int]:
        return len(self.bounds), self.parts

    def reset(self, mark: tuple[int, int]) -> None:
        del self.bounds[mark[0] :]
        self.parts = mark[1]

    def true(self, part: Typed) -> str:
        return self._text(part, is_true=True)

    def _text(self, part: Typed, *, is_true: bool) -> str:
        """True in SQLite exactly where the part is true, or with `is_true` off where it is false."""
        self.parts += 1
        if self.parts > PARTS_MAX:
            raise _Untranslatable
        match part:
            case Operation(Operator.AND, (left, right)):
                return self._logic(left, right, decides=False, is_true=is_true)
            case Operation(Operator.OR, (left, right)):
                return self._logic(left, right, decides=True, is_true=is_true)
            case Operation(Operator.NOT, (operand,)):
                return self._text(operand, is_true=not is_true)
            case Column(type=type_) if type_ == BOOLEAN:
                return self._column(part) if is_true else f"NOT {self._column(part)}"
            case Operation():
                text = self._comparison(part)
                return text if is_true else f"NOT ifnull({text}, 0)"
        raise _Untranslatable

    def _logic(self, left: Typed, right: Typed, *, decides: bool, is_true: bool) -> str:
        """AND and OR: where the left side is what `decides`, the right side is not looked at; nor where it is NULL."""
        if is_true is decides:
            first = self._text(left, is_true=decides)
            second = self._text(right, is_true=decides)
            if not _is_never_null(left):
                second = f"{self._leaf(left, is_true=not decides)} AND {second}"
            return f"(({first}) OR ({second}))"
        return f"(({self._text(left, is_true=is_true)}) AND ({self._text(right, is_true=is_true)}))"

    def _leaf(self, part: Typed, *, is_true: bool) -> str:
        """A part that the text needs twice has to be small."""
        if not isinstance(part, Column):
            raise _Untranslatable
        return self._text(part, is_true=is_true)

    def _column(self, column: Typed) -> str:
        place = self.layout.places.get(column.name) if isinstance(column, Column) else None
        if place is None:
            raise _Untranslatable
        return column_name(place)

    def _comparison(self, operation: Operation) -> str:
        operator = operation.operator
        first, *others = operation.arguments
        if operator in _NULL_TESTS:
            return f"{self._column(first)} {operator.value}"
        if operator is Operator.IN:
            column, type_ = self._kept(first)
            return f"{column} IN ({', '.join(self._bound(other, type_) for other in others)})"
        if operator not in _SIGNS:
            raise _Untranslatable
        (second,) = others
        if self._is_constant(first):
            first, second, operator = second, first, _MIRRORED.get(operator, operator)
        column, type_ = self._kept(first)
        text = f"{column} {_SIGNS[operator]} {self._bound(second, type_)}"
        # What stands for NaN is more than all numbers, and must not pass for one.
        return f"({text} AND {column} <> '{NOT_A_NUMBER}')" if type_ == DOUBLE and operator in _UPWARDS else text

    def _kept(self, part: Typed) -> tuple[str, SqlType]:
        """A column whose kept values compare as its values do, by its place, and its type."""
        while isinstance(part, Cast) and part.type == BIGINT and part.operand.type == INTEGER:
            part = part.operand
        column = self._column(part)
        if part.type is None or _family(part.type) is None:
            raise _Untranslatable
        return column, part.type

    def _bound(self, part: Typed, type_: SqlType) -> str:
        if part.type is None or _family(part.type) != _family(type_) or not self._is_constant(part):
            raise _Untranslatable
        if len(self.bounds) >= PARAMETERS_MAX:
            raise _Untranslatable
        self.bounds.append(Bound(compile_expression(part, self.parameters), codec_of(type_), type_))
        return f"?{len(self.bounds)}"

    def _is_constant(self, part: Typed) -> bool:
        """Whether it is the same for all rows, and each time."""
        match part:
            case Literal():
                return True
            case Column(name):
                return name in self.parameters
            case Cast(operand):
                return self._is_constant(operand)
            case Operation(_, arguments):
                return all(map(self._is_constant, arguments))
            case Call(_, Overload(is_deterministic=True), arguments):
                return all(isinstance(argument, Typed) and self._is_constant(argument) for argument in arguments)
        return False


def _family(type_: SqlType) -> SqlType | _Family | None:
    return _Family.DECIMAL if isinstance(type_, DecimalType) else _FAMILIES.get(type_)


def _is_never_null(part: Typed) -> bool:
    match part:
        case Operation(Operator.AND | Operator.OR | Operator.NOT, arguments):
            return all(map(_is_never_null, arguments))
        case Operation():
            return True
    return False


def _note_choices(part: Typed, choices: dict[str, int]) -> None:
    """How many values a column may have after this condition."""
    match part:
        case Operation(Operator.EQUAL, (Column(name), _)):
            choices[name] = 1
        case Operation(Operator.EQUAL, (_, Column(name))):
            choices[name] = 1
        case Operation(Operator.IN, (Column(name), *others)):
            choices[name] = min(len(others), choices.get(name, len(others)))


def _ranged(part: Typed) -> Iterator[str]:
    match part:
        case Operation(operator, (Column(name), _)) if operator in _MIRRORED:
            yield name
        case Operation(operator, (_, Column(name))) if operator in _MIRRORED:
            yield name
        case Operation(Operator.IN, (Column(name), *_)):
            yield name


def _key_choices(choices: Mapping[str, int], layout: ViewLayout) -> int | None:
    product = 1
    for column in layout.source.schema.key:
        if column.name not in choices:
            return None
        product *= choices[column.name]
    return product
