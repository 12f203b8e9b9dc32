"""Functions as ksqlDB's clients read them."""

from __future__ import annotations

from typing import Any, Final

from barnabas.kernel.http.schema import BOOLEAN, STRING, enum, list_of, open_object
from streams_sql.function_declaration import AggregateFunction, AggregateOverload, Function, Overload
from streams_sql.http.entity import entity

AUTHOR: Final = "Barnabas"
INTERNAL: Final = "internal"
"""The place of functions that come with the server."""

_TYPES: Final = enum("AGGREGATE", "TABLE", "SCALAR")
_ARGUMENT: Final = open_object({"name": STRING, "type": STRING, "description": STRING, "isVariadic": BOOLEAN})
_OVERLOAD: Final = open_object({"arguments": list_of(_ARGUMENT), "returnType": STRING, "description": STRING})
FUNCTION_ENTITIES: Final = (
    entity(
        "function_names",
        {"functions": list_of(open_object({"name": STRING, "type": _TYPES, "category": STRING}))},
    ),
    entity(
        "describe_function",
        {
            "name": STRING,
            "description": STRING,
            "author": STRING,
            "version": STRING,
            "path": STRING,
            "functions": list_of(_OVERLOAD),
            "type": _TYPES,
        },
    ),
)


def listed_function(function: Function | AggregateFunction) -> dict[str, Any]:
    return {"name": function.name, "type": _kind(function), "category": function.group.value.upper()}


def described_function(function: Function | AggregateFunction) -> dict[str, Any]:
    return {
        "name": function.name,
        "description": function.description,
        "author": "" if function.origin else AUTHOR,
        "version": "",
        "path": function.origin or INTERNAL,
        "functions": [_overload(each) for each in function.overloads],
        "type": _kind(function),
    }


def _kind(function: Function | AggregateFunction) -> str:
    if isinstance(function, AggregateFunction):
        return "AGGREGATE"
    return "TABLE" if function.is_table else "SCALAR"


def _overload(overload: Overload | AggregateOverload) -> dict[str, Any]:
    last = len(overload.parameters) - 1
    return {
        "arguments": [
            {
                "name": named.name,
                "type": str(parameter),
                "description": named.description,
                "isVariadic": overload.is_variadic and place == last,
            }
            for place, (parameter, named) in enumerate(zip(overload.parameters, overload.names, strict=True))
        ],
        "returnType": str(overload.result),
        "description": overload.description,
    }
