"""Put the types and functions that statements have created into a statement that was read without them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias, TypeVar

from streams_sql.function_declaration import AggregateFunction, Function
from streams_sql.language.expressions import CustomType, FunctionCall, Literal
from streams_sql.problem import Position
from streams_sql.sql_types import SqlType

CreatedFunctions: TypeAlias = Mapping[str, Function | AggregateFunction]

PartT = TypeVar("PartT")


def bound(statement: PartT, types: Mapping[str, SqlType], functions: CreatedFunctions) -> PartT:
    """Return the statement with every name of a created type replaced by the type, and every call with the function it calls."""
    if not types and not functions:
        return statement
    result: PartT = _Binding(types, functions).bound(statement)
    return result


class _Binding:
    """A query that WITH has named is one object wherever it is used, and stays one."""

    def __init__(self, types: Mapping[str, SqlType], functions: CreatedFunctions) -> None:
        self._types = types
        self._functions = functions
        self._bound: dict[int, Any] = {}

    def bound(self, part: Any) -> Any:
        if isinstance(part, tuple):
            found = tuple(map(self.bound, part))
            return part if all(new is old for new, old in zip(found, part, strict=True)) else found
        if isinstance(part, CustomType):
            return self._types.get(part.name) or replace(part, made=tuple(self._types))
        if not is_dataclass(part) or isinstance(part, Literal | Position):
            return part
        if id(part) not in self._bound:
            self._bound[id(part)] = self._with_bound_fields(part)
        return self._bound[id(part)]

    def _with_bound_fields(self, part: Any) -> Any:
        found = {field.name: self.bound(getattr(part, field.name)) for field in fields(part)}
        if isinstance(part, FunctionCall) and not part.is_star:
            found["made"] = self._functions.get(part.name.upper())
        is_same = all(value is getattr(part, name) for name, value in found.items())
        return part if is_same else replace(part, **found)
