"""Functions that take a lambda and apply it to an array or a map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streams_sql.function_declaration import Group
from streams_sql.functions.registration import scalar


@scalar(
    "filter",
    "ARRAY<T>, (T) => BOOLEAN -> ARRAY<T>",
    group=Group.LAMBDA,
    doc="The elements of an array, or the entries of a map, for which a lambda is true.",
    parameters=("array: the array", "function: of an element"),
)
def filter_array(values: list[Any], is_kept: Callable[[Any], Any]) -> list[Any]:
    return [value for value in values if is_kept(value)]


@scalar(
    "filter",
    "MAP<K, V>, (K, V) => BOOLEAN -> MAP<K, V>",
    group=Group.LAMBDA,
    doc="The entries of a map for which a lambda is true.",
    parameters=("map: the map", "biFunction: of a key and its value"),
)
def filter_map(values: dict[Any, Any], is_kept: Callable[[Any, Any], Any]) -> dict[Any, Any]:
    return _without_nulls({key: value for key, value in values.items() if is_kept(key, value)})


@scalar(
    "reduce",
    "ARRAY<T>, S, (S, T) => S -> S",
    group=Group.LAMBDA,
    doc="One value from an array or a map: a lambda makes the next state from the state and an element, beginning with an initial one.",
    parameters=("list: the array", "initialState: the first state", "biFunction: of the state and an element"),
    takes_null=True,
)
def reduce_array(values: list[Any] | None, state: Any, step: Callable[[Any, Any], Any]) -> Any:
    if state is not None:
        for value in values or ():
            state = step(state, value)
    return state


@scalar(
    "reduce",
    "MAP<K, V>, S, (S, K, V) => S -> S",
    group=Group.LAMBDA,
    doc="One value from the entries of a map.",
    parameters=("map: the map", "initialState: the first state", "triFunction: of the state, a key and its value"),
    takes_null=True,
)
def reduce_map(values: dict[Any, Any] | None, state: Any, step: Callable[[Any, Any, Any], Any]) -> Any:
    if state is not None:
        for key, value in (values or {}).items():
            state = step(state, key, value)
    return state


@scalar(
    "transform",
    "ARRAY<T>, (T) => R -> ARRAY<R>",
    group=Group.LAMBDA,
    doc="An array or a map with each element changed by a lambda.",
    parameters=("array: the array", "function: of an element"),
)
def transform_array(values: list[Any], change: Callable[[Any], Any]) -> list[Any]:
    return [change(value) for value in values]


@scalar(
    "transform",
    "MAP<K, V>, (K, V) => R, (K, V) => T -> MAP<R, T>",
    group=Group.LAMBDA,
    doc="A map with the keys and the values changed by two lambdas.",
    parameters=(
        "map: the map",
        "biFunction1: what makes keys, of a key and its value",
        "biFunction2: what makes values, of a key and its value",
    ),
)
def transform_map(
    values: dict[Any, Any], change_key: Callable[[Any, Any], Any], change_value: Callable[[Any, Any], Any]
) -> dict[Any, Any]:
    changed = {change_key(key, value): change_value(key, value) for key, value in values.items()}
    if len(changed) < len(values):
        raise ValueError("TRANSFORM made the same key of two entries")
    return _without_nulls(changed)


def _without_nulls(made: dict[Any, Any]) -> dict[Any, Any]:
    """ksqlDB makes no map that has NULL among its values: the whole of it is NULL then."""
    if None in made.values():
        raise ValueError("A map that a lambda makes has no NULL among its values")
    return made
