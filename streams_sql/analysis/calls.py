"""Calls of scalar functions: which overload is meant, and what its arguments are cast to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeGuard

from streams_sql import typed
from streams_sql.analysis.cast_hints import can_cast
from streams_sql.analysis.coercion import converted
from streams_sql.analysis.type_inference import TypeInference
from streams_sql.function_declaration import AggregateFunction, Function, IntervalUnit, Overload
from streams_sql.functions.library import LIBRARY
from streams_sql.functions.resolution import (
    Argument,
    LambdaArgument,
    LambdaTypes,
    Resolved,
    UnitArgument,
    resolve,
    unknown_function,
)
from streams_sql.language import expressions as written
from streams_sql.language.expressions import Expression
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import BIGINT, BYTES, DATE, DOUBLE, INTEGER, STRING, TIME, TIMESTAMP, Decimal, SqlType
from streams_sql.typed import Typed

_UNITS: Final = ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")
_TRIED_TYPES: Final = (STRING, INTEGER, BIGINT, DOUBLE, BYTES, TIMESTAMP, DATE, TIME)
INTERVAL_UNITS: Final = frozenset([*_UNITS, *(f"{unit}S" for unit in _UNITS)])


def scalar_call(inference: TypeInference, call: written.FunctionCall) -> Typed:
    """The rule for calls where rows are looked at one by one."""
    name, function = call.name.upper(), called(call)
    if isinstance(function, AggregateFunction):
        raise SqlProblem(
            f"Aggregate functions cannot be used here: {name} is one. It goes with GROUP BY into SELECT or HAVING."
        )
    if function is None:
        raise unknown_function(call.name, LIBRARY.names())
    if function.is_table:
        raise SqlProblem(f"Table functions cannot be used here: {name} is one. It goes into SELECT.")
    return typed_call(inference, call, function)


def called(call: written.FunctionCall) -> Function | AggregateFunction | None:
    """The function that is meant: a user's, or one of the library."""
    return call.made or LIBRARY.find(call.name)


def is_aggregate(expression: Expression) -> bool:
    return isinstance(expression, written.FunctionCall) and isinstance(called(expression), AggregateFunction)


def typed_call(inference: TypeInference, call: written.FunctionCall, function: Function) -> typed.Call:
    arguments = [_ArgumentTyping(inference, argument) for argument in call.arguments]
    described = [argument.described for argument in arguments]
    try:
        resolved = resolve(function, described)
    except SqlProblem as problem:
        hint = cast_hint(described, call.arguments, inference.text, lambda tried: resolve(function, tried))
        raise SqlProblem(problem.message + hint, problem.position) from problem
    finished = _finished(arguments, resolved)
    return typed.Call(function.name, resolved.overload, finished, resolved.result)


def cast_hint(
    arguments: Sequence[Argument],
    expressions: Sequence[written.Expression],
    text: Callable[[written.Expression], str],
    attempt: Callable[[list[Argument]], object],
) -> str:
    """The CAST of one argument that would make a call right, to be put after a message; nothing if there is none."""
    for place, (found, expression) in enumerate(zip(arguments, expressions, strict=True)):
        if not isinstance(found, SqlType):
            continue
        # A decimal is a number with a fraction first, which a whole number would lose.
        for wanted in (DOUBLE, *_TRIED_TYPES) if isinstance(found, Decimal) else _TRIED_TYPES:
            if wanted == found or not can_cast(expression, found, wanted):
                continue
            try:
                attempt([*arguments[:place], wanted, *arguments[place + 1 :]])
            except SqlProblem:
                continue
            return f"\nCAST({text(expression)} AS {wanted}) would make it fit."
    return ""


def takes_unit(name: str, index: int) -> bool:
    """Whether a word such as DAYS may be this argument of the function."""
    function = LIBRARY.scalars.get(name.upper())
    if function is None:
        return False
    parameters = [overload.parameters for overload in function.overloads]
    return any(index < len(each) and isinstance(each[index], IntervalUnit) for each in parameters)


class _ArgumentTyping:
    """One argument. A lambda's body gets its types while the overload is looked for."""

    def __init__(self, inference: TypeInference, expression: Expression) -> None:
        self._inference = inference
        self.typed: Typed | None = None
        self.function: typed.Lambda | None = None
        self.described: Argument
        if isinstance(expression, written.Lambda):
            self._lambda = expression
            _check_parameters(inference, expression)
            text = inference.text(expression)
            self.described = LambdaArgument(text, len(expression.parameters), self._body)
        elif _is_unit(expression, inference):
            self.typed = typed.Literal(expression.name, STRING)
            self.described = UnitArgument(expression.name)
        else:
            self.typed = inference.of(expression)
            self.described = self.typed.type

    def _body(self, types: Sequence[SqlType]) -> SqlType | None:
        names = self._lambda.parameters
        parameters = [typed.Parameter(name, type_) for name, type_ in zip(names, types, strict=True)]
        inner = self._inference.with_parameters(dict(zip(names, parameters, strict=True)))
        body = inner.of(self._lambda.body)
        self.function = typed.Lambda(tuple(parameters), body)
        return body.type


def _is_unit(expression: Expression, inference: TypeInference) -> TypeGuard[written.ColumnName]:
    if not isinstance(expression, written.ColumnName) or expression.name not in INTERVAL_UNITS:
        return False
    return expression.name not in inference.columns and expression.name not in inference.parameters


def _check_parameters(inference: TypeInference, expression: written.Lambda) -> None:
    for name in expression.parameters:
        if name in inference.columns:
            raise SqlProblem(f"Lambda function argument can't be a column name: {name}", expression.position)
        if name in inference.parameters:
            raise SqlProblem(
                f"Reusing lambda arguments in nested lambda is not allowed: {name}. Give it another name.",
                expression.position,
            )


def _finished(arguments: Sequence[_ArgumentTyping], resolved: Resolved[Overload]) -> tuple[Typed | typed.Lambda, ...]:
    finished: list[Typed | typed.Lambda] = []
    for argument, wanted in zip(arguments, resolved.arguments, strict=True):
        if argument.typed is None:
            assert argument.function is not None, "resolving a call types its lambdas"
            finished.append(argument.function)
        elif wanted is None or isinstance(wanted, LambdaTypes):
            finished.append(argument.typed)
        else:
            finished.append(converted(argument.typed, wanted))
    return tuple(finished)
