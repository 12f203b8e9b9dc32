"""Typed expressions as Python functions of a row.

A row is a sequence of values in the order of the columns given. What does not depend on the row is worked out once, when the expression
is compiled. An error in an expression is an exception of the function; `compile_column` turns it into NULL and tells of it. There the
parts that may stand for themselves do so: a CAST, an argument of a function that is a call itself or a field of a struct, and an element
of an array, a map or a struct is NULL where it fails, and what is around it goes on with that.

Arithmetic with NULL gives NULL; but in a lambda it is an error, as in ksqlDB: the call that the lambda stands in is NULL then, and not
one element of what it gives.
"""

from __future__ import annotations

import operator as python
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final, TypeAlias

from streams_sql.evaluation import comparisons, decimals, floats, integers, likes
from streams_sql.evaluation.calls import bound_reference
from streams_sql.evaluation.casts import cast_function
from streams_sql.evaluation.comparisons import Evaluate, Row
from streams_sql.evaluation.expression_error import ExpressionError
from streams_sql.sql_types import DOUBLE, STRING, Array, SqlType
from streams_sql.sql_types import Decimal as DecimalType
from streams_sql.typed import (
    Call,
    Case,
    Cast,
    Column,
    Lambda,
    Like,
    Literal,
    MakeArray,
    MakeMap,
    MakeStruct,
    Operation,
    Operator,
    Parameter,
    StructField,
    Subscript,
    Typed,
)

OnError: TypeAlias = Callable[[Exception], None]
Apply: TypeAlias = Callable[[Callable[..., Any], Sequence[Evaluate]], Evaluate]

_ARITHMETIC: Final = {Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.DIVIDE, Operator.MODULO}


def compile_expression(typed: Typed, columns: Sequence[str]) -> Evaluate:
    """What works out the expression from a row whose values are those of `columns`."""
    return _Scope(tuple(columns), (), None).compiled(typed)


def compile_column(typed: Typed, columns: Sequence[str], on_error: OnError) -> Evaluate:
    """As `compile_expression`, but an error gives NULL and is handed to `on_error`."""
    return _Scope(tuple(columns), (), on_error).guarded(typed)


class _Constant:
    """A value that is the same for all rows."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, row: Row) -> Any:
        return self.value


class _Scope:
    """Names that an expression may use: the columns of the row, and behind them the parameters of the lambdas around it."""

    def __init__(self, columns: tuple[str, ...], parameters: tuple[str, ...], on_error: OnError | None) -> None:
        self._columns = columns
        self._parameters = parameters
        self._on_error = on_error

    def guarded(self, typed: Typed) -> Evaluate:
        """NULL where it fails, if somebody hears of errors."""
        compute, on_error = self.compiled(typed), self._on_error
        if on_error is None or isinstance(typed, Cast) or isinstance(compute, _Constant | itemgetter):
            return compute
        return self._told(compute, typed, on_error)

    def _told(self, compute: Evaluate, typed: Typed, on_error: OnError) -> Evaluate:
        columns = self._columns

        def evaluate(row: Row) -> Any:
            try:
                return compute(row)
            except Exception as error:  # noqa: BLE001 - whatever goes wrong in one value must not stop the query
                on_error(ExpressionError(error, typed, columns, row))
                return None

        return evaluate

    def compiled(self, typed: Typed) -> Evaluate:
        match typed:
            case Literal(value):
                return _Constant(value)
            case Column(name):
                return itemgetter(self._columns.index(name))
            case Parameter(name):
                # The innermost lambda's parameter hides others of its name.
                return itemgetter(-1 - self._parameters[::-1].index(name))
            case Operation():
                return self._operation(typed)
            case Call():
                return self._call(typed)
            case Case(whens, default):
                return self._case(whens, default)
        return self._composite(typed)

    def _composite(self, typed: Typed) -> Evaluate:
        match typed:
            case Cast():
                return self._cast(typed)
            case Like(operand, pattern, escape):
                return self._like(operand, pattern, escape)
            case Subscript(operand, index):
                access = _element if isinstance(operand.type, Array) else dict.get
                return self._strict(access, [operand, index])
            case StructField(operand, name):
                return self._strict(itemgetter(name), [operand])
            case MakeArray(elements):
                return self._made(lambda *values: list(values), elements)
            case MakeMap(entries):
                parts = [part for entry in entries for part in entry]
                return self._made(lambda *values: dict(zip(values[::2], values[1::2], strict=True)), parts)
            case MakeStruct(fields):
                names = [name for name, _ in fields]
                return self._made(lambda *values: dict(zip(names, values, strict=True)), [part for _, part in fields])
        raise TypeError(f"{type(typed).__name__} is no expression")

    def _operation(self, operation: Operation) -> Evaluate:
        arguments = [self.compiled(argument) for argument in operation.arguments]
        apply = _applied_to_numbers if self._parameters and operation.type != STRING else _strictly_applied
        evaluate = _operation(operation, arguments, apply)
        return _constant_if(evaluate, arguments)

    def _folded(self, function: Callable[..., Any], arguments: Sequence[Typed]) -> Evaluate:
        compiled = [self.compiled(argument) for argument in arguments]
        return _constant_if(_applied(function, compiled), compiled)

    def _made(self, function: Callable[..., Any], elements: Sequence[Typed]) -> Evaluate:
        compiled = [self.guarded(element) for element in elements]
        return _constant_if(_applied(function, compiled), compiled)

    def _strict(self, function: Callable[..., Any], arguments: Sequence[Typed]) -> Evaluate:
        compiled = [self.compiled(argument) for argument in arguments]
        return _constant_if(_strictly_applied(function, compiled), compiled)

    def _argument(self, argument: Typed | Lambda) -> Evaluate:
        match argument:
            case Lambda():
                return self._lambda(argument)
            case Call() | StructField():
                return self.guarded(argument)
        return self.compiled(argument)

    def _lambda(self, function: Lambda) -> Evaluate:
        """The function of a lambda; its arguments stand behind the values of the row."""
        names = tuple(parameter.name for parameter in function.parameters)
        body = _Scope(self._columns, self._parameters + names, self._on_error).compiled(function.body)
        return lambda row: lambda *values: body((*row, *values))

    def _call(self, call: Call) -> Evaluate:
        types = [argument.body.type if isinstance(argument, Lambda) else argument.type for argument in call.arguments]
        function = bound_reference(call.overload, types, call.type)
        compiled = [self._argument(argument) for argument in call.arguments]
        evaluate = _applied(function, compiled)
        return _constant_if(evaluate, compiled) if call.overload.is_deterministic else evaluate

    def _cast(self, cast: Cast) -> Evaluate:
        convert, on_error = cast_function(cast.operand.type, cast.type), self._on_error
        if convert is None:
            return self.guarded(cast.operand)
        converted = self._strict(convert, [cast.operand])
        if on_error is None or isinstance(converted, _Constant):
            return converted
        return self._told(converted, cast, on_error)

    def _like(self, operand: Typed, pattern: Typed, escape: str | None) -> Evaluate:
        """NULL is like nothing."""
        searched = self.compiled(pattern)
        if isinstance(searched, _Constant) and searched.value is not None:
            matches = likes.matcher(searched.value, escape)
            return self._folded(lambda text: text is not None and matches(text), [operand])

        def matches_pattern(text: str | None, pattern: str | None) -> bool:
            return text is not None and pattern is not None and likes.matcher(pattern, escape)(text)

        return self._folded(matches_pattern, [operand, pattern])

    def _case(self, whens: Sequence[tuple[Typed, Typed]], default: Typed | None) -> Evaluate:
        cases = [(self.compiled(condition), self.compiled(value)) for condition, value in whens]
        otherwise = _Constant(None) if default is None else self.compiled(default)

        def evaluate(row: Row) -> Any:
            for condition, value in cases:
                if condition(row):
                    return value(row)
            return otherwise(row)

        return evaluate


def _applied(function: Callable[..., Any], arguments: Sequence[Evaluate]) -> Evaluate:
    match arguments:
        case []:
            return lambda row: function()
        case [only]:
            return lambda row: function(only(row))
        case [first, second]:
            return lambda row: function(first(row), second(row))
    return lambda row: function(*[argument(row) for argument in arguments])


def _strictly_applied(function: Callable[..., Any], arguments: Sequence[Evaluate]) -> Evaluate:
    """Of one or two arguments: NULL where one of them is."""
    if len(arguments) == 1:
        (operand,) = arguments
        return lambda row: None if (value := operand(row)) is None else function(value)
    left, right = arguments
    if isinstance(right, _Constant) and right.value is not None:
        constant = right.value
        return lambda row: None if (value := left(row)) is None else function(value, constant)

    def evaluate(row: Row) -> Any:
        first = left(row)
        if first is None:
            return None
        second = right(row)
        return None if second is None else function(first, second)

    return evaluate


def _applied_to_numbers(function: Callable[..., Any], arguments: Sequence[Evaluate]) -> Evaluate:
    """Of one or two arguments: an error where one of them is NULL."""
    applied = _applied(function, arguments)

    def evaluate(row: Row) -> Any:
        try:
            return applied(row)
        except TypeError:
            raise ValueError("NULL stands where a number is needed") from None

    return evaluate


def _constant_if(evaluate: Evaluate, arguments: Sequence[Evaluate]) -> Evaluate:
    """The value itself where all arguments are constants. An error is left for when a row comes: none may."""
    if not all(isinstance(argument, _Constant) for argument in arguments):
        return evaluate
    try:
        return _Constant(evaluate(()))
    except Exception:  # noqa: BLE001 - it happens again, and is told, where the value is needed
        return evaluate


def _operation(operation: Operation, arguments: Sequence[Evaluate], apply: Apply) -> Evaluate:
    """`apply` says what becomes of NULL in arithmetic."""
    operator = operation.operator
    match operator, arguments:
        case Operator.AND, [left, right]:
            return comparisons.conjunction(left, right)
        case Operator.OR, [left, right]:
            return comparisons.disjunction(left, right)
        case Operator.NOT, [operand]:
            return comparisons.negation(operand)
        case Operator.IS_NULL, [operand]:
            return lambda row: operand(row) is None
        case Operator.IS_NOT_NULL, [operand]:
            return lambda row: operand(row) is not None
        case Operator.IN, [value, *others]:
            return comparisons.membership(value, others)
        case ((Operator.DISTINCT | Operator.NOT_DISTINCT), [left, right]):
            return comparisons.distinct(operator, left, right)
        case Operator.NEGATE, [operand]:
            return apply(_negation(operation.type), [operand])
    left, right = arguments
    if operator in _ARITHMETIC:
        return apply(_arithmetic(operator, operation.type), [left, right])
    if isinstance(right, _Constant):
        return comparisons.comparison_with_constant(operator, left, right.value)
    return comparisons.comparison(operator, left, right)


def _arithmetic(operator: Operator, type_: SqlType | None) -> Callable[[Any, Any], Any]:
    if isinstance(type_, DecimalType):
        return decimals.arithmetic(operator, type_)
    if type_ == DOUBLE:
        return floats.arithmetic(operator)
    if type_ == STRING:
        return lambda left, right: left + right
    return integers.arithmetic(operator, type_)


def _negation(type_: SqlType | None) -> Callable[[Any], Any]:
    if isinstance(type_, DecimalType):
        return decimals.negative
    if type_ == DOUBLE:
        return python.neg
    wrap = integers.wrap_for(type_)
    return lambda value: wrap(-value)


def _element(values: list[Any], index: int) -> Any:
    """The element at a place that counts from 1, or from the end where it is negative."""
    place = index - 1 if index > 0 else len(values) + index
    return values[place] if 0 <= place < len(values) else None
