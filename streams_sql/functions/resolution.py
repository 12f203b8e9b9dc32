"""Which overload a call means, by ksqlDB's rules.

An overload that takes the arguments as they are comes before one that needs them widened. Among several, one without variable arguments
comes before one with them, then the longer one, then the one with fewer parameters of any type. Two of the same rank make the call
ambiguous. NULL fits everywhere.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from streams_sql.function_declaration import (
    AggregateFunction,
    AggregateOverload,
    AnyDecimal,
    AnyStruct,
    AnyType,
    ArrayOf,
    Function,
    IntervalUnit,
    LambdaOf,
    MapOf,
    Overload,
    Pattern,
)
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import (
    BIGINT,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Base,
    Decimal,
    Map,
    SqlType,
    Struct,
)

# Below this similarity (0 to 1) a suggestion misleads more than it helps.
SUGGESTION_SIMILARITY: Final = 0.6
INTEGER_AS_DECIMAL: Final = Decimal(10, 0)
BIGINT_AS_DECIMAL: Final = Decimal(19, 0)
_NUMBER_RANKS: Final = {INTEGER: 0, BIGINT: 1, DOUBLE: 3}
_DECIMAL_RANK: Final = 2
_WORD: Final = re.compile("[A-Z]+")
# Types as ksqlDB has them in signatures.
_SIGNATURE_WORDS: Final = {"STRING": "VARCHAR", "INTEGER": "INT"}


@dataclass(frozen=True, slots=True)
class LambdaArgument:
    """A lambda in a call: its text for messages, how many parameters it has, and what type its body has when these have types."""

    text: str
    parameters: int
    body: Callable[[Sequence[SqlType]], SqlType | None]


@dataclass(frozen=True, slots=True)
class UnitArgument:
    """A word such as DAYS in a call."""

    word: str


Argument: TypeAlias = SqlType | LambdaArgument | UnitArgument | None
"""The type of an argument (None for NULL alone), or what has no type."""

AnyOverload = TypeVar("AnyOverload", Overload, AggregateOverload)
Bindings: TypeAlias = dict[str, SqlType]


@dataclass(frozen=True, slots=True)
class LambdaTypes:
    parameters: tuple[SqlType, ...]
    result: SqlType | None


@dataclass(frozen=True, slots=True)
class Resolved(Generic[AnyOverload]):
    """`arguments` has what each argument must be: a type to cast to where it differs (None: NULL as it is, or no type at all), or the
    types of a lambda."""

    overload: AnyOverload
    arguments: tuple[SqlType | LambdaTypes | None, ...]
    result: SqlType


def resolve(function: Function, arguments: Sequence[Argument]) -> Resolved[Overload]:
    """Choose the overload of a scalar or table function."""
    overload = _choose(function.spelling, function.overloads, arguments, False)
    if overload is None:
        overload = _choose(function.spelling, function.overloads, arguments, True)
    if overload is None:
        raise _no_match(function.spelling, function.overloads, arguments)
    return _resolved(function.spelling, function.overloads, overload, arguments)


def resolve_aggregate(function: AggregateFunction, arguments: Sequence[Argument]) -> Resolved[AggregateOverload]:
    """Choose the overload of an aggregate: its arguments are never widened."""
    overload = _choose(function.spelling, function.overloads, arguments, False)
    if overload is None:
        raise _no_match(function.spelling, function.overloads, arguments)
    return _resolved(function.spelling, function.overloads, overload, arguments)


def unknown_function(name: str, names: Sequence[str]) -> SqlProblem:
    nearest = difflib.get_close_matches(name.upper(), names, 1, SUGGESTION_SIMILARITY)
    hint = f" Did you mean {nearest[0]}?" if nearest else " SHOW FUNCTIONS lists those that there are."
    return SqlProblem(f"Can't find any functions with the name '{name}'.{hint}")


def _choose(
    name: str, overloads: Sequence[AnyOverload], arguments: Sequence[Argument], may_widen: bool
) -> AnyOverload | None:
    fitting = [overload for overload in overloads if _fits(overload, arguments, may_widen)]
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    fitting.sort(key=_rank)
    if _rank(fitting[-1]) == _rank(fitting[-2]):
        raise SqlProblem(
            f"Function '{name}' cannot be resolved due to ambiguous method parameters {_shown(arguments)}.\n"
            "Use CAST() to explicitly cast your parameters to one of the supported function calls.\n"
            f"Valid function calls are:\n{_alternatives(name, overloads)}\n"
            "For detailed information on a function run: DESCRIBE FUNCTION <Function-Name>;"
        )
    return fitting[-1]


def _rank(overload: Overload | AggregateOverload) -> tuple[bool, int, int]:
    generics = sum(_has_letters(parameter) for parameter in overload.parameters)
    return not overload.is_variadic, len(overload.parameters), -generics


def _fits(overload: Overload | AggregateOverload, arguments: Sequence[Argument], may_widen: bool) -> bool:
    parameters = _parameters_for(overload, len(arguments))
    if parameters is None:
        return False
    bindings: Bindings = {}
    return all(
        _accepts(parameter, argument, bindings, may_widen)
        for parameter, argument in zip(parameters, arguments, strict=True)
    )


def _parameters_for(overload: Overload | AggregateOverload, count: int) -> tuple[Pattern, ...] | None:
    """One parameter for each argument, or None if their numbers cannot agree."""
    parameters = overload.parameters
    if overload.is_variadic and count >= len(parameters) - 1:
        return parameters[:-1] + parameters[-1:] * (count - len(parameters) + 1)
    return parameters if len(parameters) == count else None


def _accepts(parameter: Pattern, argument: Argument, bindings: Bindings, may_widen: bool) -> bool:
    if argument is None:
        return True
    if isinstance(argument, LambdaArgument):
        return isinstance(parameter, LambdaOf) and len(parameter.parameters) == argument.parameters
    if isinstance(argument, UnitArgument) or isinstance(parameter, IntervalUnit | LambdaOf):
        return isinstance(argument, UnitArgument) and isinstance(parameter, IntervalUnit)
    return _matches(parameter, argument, bindings, may_widen and not _has_letters(parameter))


def _matches(parameter: Pattern, argument: SqlType, bindings: Bindings, may_widen: bool) -> bool:
    match parameter, argument:
        case AnyType(letter), _:
            return bindings.setdefault(letter, argument) == argument
        case ArrayOf(element), Array(found):
            return _matches(element, found, bindings, may_widen)
        case MapOf(key, value), Map(found_key, found_value):
            is_key = _matches(key, found_key, bindings, may_widen)
            return is_key and _matches(value, found_value, bindings, may_widen)
        case (AnyStruct(), Struct()) | (AnyDecimal(), Decimal()):
            return True
    return parameter == argument or (may_widen and _widens(argument, parameter))


def _widens(found: SqlType, wanted: Pattern) -> bool:
    """Whether every value of the one type can stand for one of the other: numbers widen, and texts are read as times or bytes."""
    if found == STRING:
        return wanted in (TIME, DATE, TIMESTAMP, BYTES)
    found_rank, wanted_rank = _number_rank(found), _number_rank(wanted)
    return found_rank is not None and wanted_rank is not None and found_rank <= wanted_rank


def _number_rank(type_: Pattern) -> int | None:
    if isinstance(type_, Decimal | AnyDecimal):
        return _DECIMAL_RANK
    return _NUMBER_RANKS.get(type_) if isinstance(type_, Base) else None


def _resolved(
    name: str, overloads: Sequence[AnyOverload], overload: AnyOverload, arguments: Sequence[Argument]
) -> Resolved[AnyOverload]:
    parameters = _parameters_for(overload, len(arguments)) or ()
    bindings: Bindings = {}
    for parameter, argument in zip(parameters, arguments, strict=True):
        _accepts(parameter, argument, bindings, True)
    casts: list[SqlType | LambdaTypes | None] = []
    for parameter, argument in zip(parameters, arguments, strict=True):
        if isinstance(argument, LambdaArgument):
            types = _lambda_types(parameter, argument, bindings)
            if types is None:
                raise _no_match(name, overloads, arguments)
            casts.append(types)
        else:
            casts.append(None if isinstance(argument, UnitArgument) else _bound(parameter, bindings, argument))
    result = _result(overload, casts, bindings)
    if result is None:
        raise _no_match(name, overloads, arguments)
    return Resolved(overload, tuple(casts), result)


def _lambda_types(parameter: Pattern, argument: LambdaArgument, bindings: Bindings) -> LambdaTypes | None:
    """The types of a lambda's parameters and of its body, which may bind letters in turn; None if they do not fit."""
    if not isinstance(parameter, LambdaOf):
        return None
    types = []
    for pattern in parameter.parameters:
        bound = _bound(pattern, bindings, None)
        if bound is None:
            return None
        types.append(bound)
    result = argument.body(types)
    if result is not None and not _matches(parameter.result, result, bindings, False):
        return None
    return LambdaTypes(tuple(types), result)


def _result(
    overload: Overload | AggregateOverload, casts: Sequence[SqlType | LambdaTypes | None], bindings: Bindings
) -> SqlType | None:
    if overload.returns is not None:
        return overload.returns([cast.result if isinstance(cast, LambdaTypes) else cast for cast in casts])
    return _bound(overload.result, bindings, None)


def _bound(pattern: Pattern, bindings: Mapping[str, SqlType], argument: SqlType | None) -> SqlType | None:
    """The type that a parameter has in a call: its letters replaced, its decimals and structs those of the argument."""
    match pattern:
        case AnyType(letter):
            return bindings.get(letter)
        case AnyDecimal():
            return _decimal(argument)
        case AnyStruct():
            return argument
        case ArrayOf(element):
            bound = _bound(element, bindings, argument.element if isinstance(argument, Array) else None)
            return None if bound is None else Array(bound)
        case MapOf(key, value):
            found = argument if isinstance(argument, Map) else None
            bound_key = _bound(key, bindings, found and found.key)
            bound_value = _bound(value, bindings, found and found.value)
            return None if bound_key is None or bound_value is None else Map(bound_key, bound_value)
        case LambdaOf() | IntervalUnit():
            return None
    return pattern


def _decimal(argument: SqlType | None) -> SqlType | None:
    if argument == INTEGER:
        return INTEGER_AS_DECIMAL
    return BIGINT_AS_DECIMAL if argument == BIGINT else argument


def _has_letters(pattern: Pattern) -> bool:
    match pattern:
        case AnyType():
            return True
        case ArrayOf(element):
            return _has_letters(element)
        case MapOf(key, value):
            return _has_letters(key) or _has_letters(value)
        case LambdaOf(parameters, result):
            return any(map(_has_letters, parameters)) or _has_letters(result)
    return False


def _no_match(
    name: str, overloads: Sequence[Overload | AggregateOverload], arguments: Sequence[Argument]
) -> SqlProblem:
    return SqlProblem(
        f"Function '{name}' does not accept parameters {_shown(arguments)}.\n"
        f"Valid alternatives are:\n{_alternatives(name, overloads)}\n"
        "For detailed information on a function run: DESCRIBE FUNCTION <Function-Name>;"
    )


def _shown(arguments: Sequence[Argument]) -> str:
    return f"({', '.join(_shown_argument(argument) for argument in arguments)})"


def _shown_argument(argument: Argument) -> str:
    match argument:
        case None:
            return "null"
        case LambdaArgument(text):
            return f"LAMBDA {text}"
        case UnitArgument(word):
            return word
    return str(argument).replace("`", "")


def _alternatives(name: str, overloads: Sequence[Overload | AggregateOverload]) -> str:
    return "\n".join(signature_text(name, overload) for overload in overloads)


def signature_text(name: str, overload: Overload | AggregateOverload) -> str:
    """An overload as messages and DESCRIBE FUNCTION show it: `name(STRING left, INTEGER... others)`."""
    shown = []
    last = len(overload.parameters) - 1
    for index, parameter in enumerate(overload.parameters):
        dots = "..." if overload.is_variadic and index == last else ""
        label = f" {overload.names[index].name}" if index < len(overload.names) else ""
        shown.append(f"{type_text(parameter)}{dots}{label}")
    return f"{name}({', '.join(shown)})"


def type_text(pattern: Pattern) -> str:
    """A type as signatures show it: VARCHAR and INT instead of STRING and INTEGER."""
    return _WORD.sub(lambda word: _SIGNATURE_WORDS.get(word.group(), word.group()), str(pattern))
