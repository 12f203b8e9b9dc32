"""What CREATE FUNCTION declares, as functions that statements can call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from streams_sql.function_declaration import (
    AggregateFunction,
    AggregateOverload,
    Function,
    Group,
    Overload,
    ParameterDoc,
)
from streams_sql.functions.python.code import PythonCode
from streams_sql.functions.python.functions import PythonAggregate, PythonScalar, PythonTable
from streams_sql.language.function_statements import CreateFunction, FunctionKind
from streams_sql.sql_types import SqlType

MadeFunction: TypeAlias = Function | AggregateFunction
_DOCS: Final[Mapping[FunctionKind, str]] = {
    FunctionKind.SCALAR: "A function of a user's, in Python.",
    FunctionKind.AGGREGATE: "An aggregate of a user's, in Python.",
    FunctionKind.TABLE: "A table function of a user's, in Python.",
}


def made_function(statement: CreateFunction, types: tuple[SqlType, ...], result: SqlType) -> MadeFunction:
    """`types` are those of the parameters. The code is not looked at: that is done when somebody declares it, and when it is called."""
    code = PythonCode(*statement.place) if statement.place else PythonCode("", statement.name, statement.source)
    name, doc = statement.name, _DOCS[statement.kind]
    common: dict[str, Any] = {
        "parameters": types,
        "result": result,
        "names": tuple(ParameterDoc(parameter.name) for parameter in statement.parameters),
        "description": doc,
    }
    if statement.kind is FunctionKind.AGGREGATE:
        aggregate = AggregateOverload(**common, accumulator=PythonAggregate(code, types, result))
        return AggregateFunction(name, doc, (aggregate,), name, origin=str(code))
    is_table = statement.kind is FunctionKind.TABLE
    reference = (PythonTable if is_table else PythonScalar)(code, types, result)
    overload = Overload(
        **common, reference=reference, takes_null=not statement.is_strict, is_deterministic=False, is_typed=True
    )
    return Function(name, Group.TABLE if is_table else Group.OWN, doc, (overload,), name, is_table, origin=str(code))


def python_of(function: MadeFunction) -> PythonScalar | PythonTable | PythonAggregate | None:
    """The Python behind a function; None for one of the library."""
    (first, *_) = function.overloads
    found = first.accumulator if isinstance(first, AggregateOverload) else first.reference
    return found if isinstance(found, PythonScalar | PythonTable | PythonAggregate) else None
