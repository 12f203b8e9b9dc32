"""All functions by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Final

from streams_sql.function_declaration import AggregateFunction, Function, Group
from streams_sql.functions import (
    aggregates,
    arrays,
    byte_strings,
    dates,
    distinct_counts,
    json_functions,
    lambdas,
    maps,
    masks,
    mathematics,
    nulls,
    ordered_aggregates,
    others,
    rankings,
    real_numbers,
    regular_expressions,
    statistical,
    strings,
    tables,
    urls,
)
from streams_sql.functions.registration import Declared, DeclaredAggregate, declared_in

_MODULES: Final = (
    real_numbers,
    mathematics,
    strings,
    byte_strings,
    masks,
    nulls,
    others,
    regular_expressions,
    urls,
    arrays,
    maps,
    lambdas,
    aggregates,
    dates,
    distinct_counts,
    json_functions,
    ordered_aggregates,
    rankings,
    statistical,
    tables,
)


@dataclass(frozen=True, slots=True)
class Library:
    """Functions by name in upper case."""

    scalars: Mapping[str, Function]
    tables: Mapping[str, Function]
    aggregates: Mapping[str, AggregateFunction]

    def find(self, name: str) -> Function | AggregateFunction | None:
        name = name.upper()
        return self.scalars.get(name) or self.tables.get(name) or self.aggregates.get(name)

    def names(self) -> list[str]:
        return sorted({*self.scalars, *self.tables, *self.aggregates})


def _collect(modules: Iterable[ModuleType]) -> Library:
    scalars: dict[str, Function] = {}
    tables: dict[str, Function] = {}
    aggregates: dict[str, AggregateFunction] = {}
    for module in modules:
        for declared in declared_in(module.__name__):
            if isinstance(declared, DeclaredAggregate):
                _add_aggregate(aggregates, declared)
            else:
                _add(tables if declared.group is Group.TABLE else scalars, declared)
    return Library(scalars, tables, aggregates)


def _add(functions: dict[str, Function], declared: Declared) -> None:
    key = declared.name.upper()
    known = functions.get(key)
    if known is None:
        description = declared.overloads[0].description
        is_table = declared.group is Group.TABLE
        functions[key] = Function(key, declared.group, description, declared.overloads, declared.name, is_table)
    else:
        functions[key] = replace(known, overloads=known.overloads + declared.overloads)


def _add_aggregate(functions: dict[str, AggregateFunction], declared: DeclaredAggregate) -> None:
    key = declared.name.upper()
    known = functions.get(key)
    if known is None:
        functions[key] = AggregateFunction(key, declared.overloads[0].description, declared.overloads, declared.name)
    else:
        functions[key] = replace(known, overloads=known.overloads + declared.overloads)


LIBRARY: Final = _collect(_MODULES)
