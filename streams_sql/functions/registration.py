"""How modules declare their functions: decorators that keep what is declared until the library collects it.

A decorated function comes back unchanged. It must stand at the top of its module, since plans that name it are pickled. To declare a
name again adds overloads to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from streams_sql.function_declaration import (
    Accumulator,
    AggregateOverload,
    Group,
    NativeRule,
    Overload,
    ParameterDoc,
    ReturnRule,
)
from streams_sql.functions.signatures import parse_signature

Reference = TypeVar("Reference", bound=Callable[..., Any])
AccumulatorMaker = TypeVar("AccumulatorMaker", bound=Callable[..., Accumulator])


@dataclass(frozen=True, slots=True)
class Declared:
    """Overloads of a scalar or table function that one use of a decorator has declared."""

    name: str
    group: Group
    overloads: tuple[Overload, ...]


@dataclass(frozen=True, slots=True)
class DeclaredAggregate:
    name: str
    overloads: tuple[AggregateOverload, ...]


_DECLARED: Final[dict[str, list[Declared | DeclaredAggregate]]] = {}


def declared_in(module: str) -> Iterator[Declared | DeclaredAggregate]:
    """What the module of this name has declared, in its order."""
    yield from _DECLARED.get(module, ())


def scalar(
    name: str,
    *signatures: str,
    group: Group,
    doc: str,
    parameters: Sequence[str] = (),
    takes_null: bool = False,
    is_deterministic: bool = True,
    is_typed: bool = False,
    returns: ReturnRule | None = None,
    spark: str | None = None,
) -> Callable[[Reference], Reference]:
    """Declare the decorated function as the reference of all these signatures.

    `name` is spelt as ksqlDB does in its messages. `parameters` are `"name"` or `"name: what it is"`, one for each parameter of the
    longest signature.
    """

    def declare(reference: Reference) -> Reference:
        overloads = []
        for text in signatures:
            signature = parse_signature(text)
            overload = Overload(
                parameters=signature.parameters,
                result=signature.result,
                names=_names(parameters, len(signature.parameters)),
                description=doc,
                reference=reference,
                is_variadic=signature.is_variadic,
                takes_null=takes_null,
                is_deterministic=is_deterministic,
                is_typed=is_typed,
                returns=returns,
                spark=spark,
            )
            overloads.append(overload)
        _DECLARED.setdefault(reference.__module__, []).append(Declared(name, group, tuple(overloads)))
        return reference

    return declare


def table_function(
    name: str,
    *signatures: str,
    doc: str,
    parameters: Sequence[str] = (),
    takes_null: bool = False,
    returns: ReturnRule | None = None,
    spark: str | None = None,
) -> Callable[[Reference], Reference]:
    """Declare a function that gives rows: it returns a list, and its signatures tell the type of one row."""
    return scalar(
        name,
        *signatures,
        group=Group.TABLE,
        doc=doc,
        parameters=parameters,
        takes_null=takes_null,
        returns=returns,
        spark=spark,
    )


def aggregate(
    name: str,
    *signatures: str,
    doc: str,
    parameters: Sequence[str] = (),
    constants: int = 0,
    returns: ReturnRule | None = None,
    spark: str | NativeRule | None = None,
    limit_setting: str | None = None,
    is_typed: bool = False,
) -> Callable[[AccumulatorMaker], AccumulatorMaker]:
    """Declare what makes accumulators: a class, or a function that gives one. It is called with the constants, and before them with the
    type of the result where `is_typed`."""

    def declare(accumulator: AccumulatorMaker) -> AccumulatorMaker:
        overloads = []
        for text in signatures:
            signature = parse_signature(text)
            overload = AggregateOverload(
                parameters=signature.parameters,
                result=signature.result,
                names=_names(parameters, len(signature.parameters)),
                description=doc,
                accumulator=accumulator,
                constants=constants,
                is_variadic=signature.is_variadic,
                returns=returns,
                spark=spark,
                limit_setting=limit_setting,
                is_typed=is_typed,
            )
            overloads.append(overload)
        _DECLARED.setdefault(accumulator.__module__, []).append(DeclaredAggregate(name, tuple(overloads)))
        return accumulator

    return declare


def _names(texts: Sequence[str], count: int) -> tuple[ParameterDoc, ...]:
    names = []
    for text in texts[:count]:
        name, _, description = text.partition(": ")
        names.append(ParameterDoc(name, description))
    return tuple(names)
