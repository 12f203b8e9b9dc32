"""Maps."""

from __future__ import annotations

from typing import Any, Final

from streams_sql.function_declaration import Group
from streams_sql.functions.registration import scalar

_ENTRY_TYPES: Final = ("INTEGER", "BIGINT", "DOUBLE", "BOOLEAN", "STRING")
_ENTRIES: Final = tuple(
    f"MAP<STRING, {type_}>, BOOLEAN -> ARRAY<STRUCT<K STRING, V {type_}>>" for type_ in _ENTRY_TYPES
)


@scalar(
    "AS_MAP",
    "ARRAY<STRING>, ARRAY<T> -> MAP<STRING, T>",
    group=Group.MAP,
    doc="A map from an array of keys and one of values.",
    parameters=("keys", "values"),
)
def as_map(keys: list[str], values: list[Any]) -> dict[str, Any]:
    return {key: values[index] if index < len(values) else None for index, key in enumerate(keys)}


@scalar(
    "ENTRIES",
    *_ENTRIES,
    group=Group.MAP,
    doc="The entries of a map as an array of structs with the fields K and V.",
    parameters=("map: the map", "sorted: whether they are sorted by their keys"),
)
def entries(values: dict[str, Any], is_sorted: bool) -> list[dict[str, Any]]:
    keys = sorted(values) if is_sorted else values
    return [{"K": key, "V": values[key]} for key in keys]


@scalar(
    "map_keys",
    "MAP<STRING, T> -> ARRAY<STRING>",
    group=Group.MAP,
    doc="The keys of a map.",
    parameters=("input: the map",),
    spark="map_keys({0})",
)
def map_keys(values: dict[str, Any]) -> list[str]:
    return list(values)


@scalar(
    "map_union",
    "MAP<STRING, T>, MAP<STRING, T> -> MAP<STRING, T>",
    group=Group.MAP,
    doc="The entries of both maps; the second one's stays where both have a key. NULL is taken as an empty one, unless both are.",
    parameters=("map1: the first map", "map2: the second map"),
    takes_null=True,
)
def map_union(left: dict[str, Any] | None, right: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if left is None and right is None else {**(left or {}), **(right or {})}


@scalar(
    "map_values",
    "MAP<STRING, T> -> ARRAY<T>",
    group=Group.MAP,
    doc="The values of a map.",
    parameters=("input: the map",),
    spark="map_values({0})",
)
def map_values(values: dict[str, Any]) -> list[Any]:
    return list(values.values())
