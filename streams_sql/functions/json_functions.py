"""Functions on texts that hold JSON."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import orjson

from streams_sql.evaluation.time_texts import date_text, time_text, timestamp_text
from streams_sql.function_declaration import Group
from streams_sql.functions.json_texts import (
    MISSING,
    JsonProblem,
    after_blanks,
    parse,
    parse_at,
    text_of_value,
    well_formed,
)
from streams_sql.functions.registration import scalar
from streams_sql.sql_types import BYTES, DATE, TIME, TIMESTAMP, Array, Map, SqlType, Struct

PATHS_CACHED: Final = 1000
_ARRAY_INDEX_DIGITS_MAX: Final = 10


# -- EXTRACTJSONFIELD -----------------------------------------------------------------------------


@lru_cache(PATHS_CACHED)
def path_steps(path: str) -> tuple[str, ...]:
    """The names and places of `$.name[0]["other name"]`."""
    if not path.startswith("$"):
        raise _invalid_path(path)
    steps = []
    position = 1
    while position < len(path):
        if path[position] == ".":
            step, position = _word(path, position + 1, ":@_")
        elif path.startswith('["', position):
            step, position = _quoted(path, position + 2)
            position = _closing(path, position)
        elif path[position] == "[":
            step, position = _word(path, position + 1, "_")
            position = _closing(path, position)
        else:
            raise _invalid_path(path)
        steps.append(step)
    return tuple(steps)


def _invalid_path(path: str) -> ValueError:
    return ValueError(f"Invalid JSON path: '{path[:80]}'")


def _word(path: str, start: int, others: str) -> tuple[str, int]:
    end = start
    while end < len(path) and (path[end].isalnum() or path[end] in others):
        end += 1
    if end == start:
        raise _invalid_path(path)
    return path[start:end], end


def _quoted(path: str, position: int) -> tuple[str, int]:
    """The text until the closing quote. A backslash stands before a quote or another one."""
    characters = []
    while position < len(path) and path[position] != '"':
        if path[position] == "\\":
            position += 1
            if path[position : position + 1] not in ('"', "\\"):
                raise _invalid_path(path)
        characters.append(path[position])
        position += 1
    if position >= len(path):
        raise _invalid_path(path)
    return "".join(characters), position + 1


def _closing(path: str, position: int) -> int:
    if not path.startswith("]", position):
        raise _invalid_path(path)
    return position + 1


@scalar(
    "extractjsonfield",
    "STRING, STRING -> STRING",
    group=Group.JSON,
    doc="The value at a JSONPath as a text, or NULL if there is none.",
    parameters=("input: a text with JSON", "path: such as $.name or $.list[0]"),
)
def extract_json_field(text: str, path: str) -> str | None:
    steps = path_steps(path)
    value = _fast_value(text, steps)
    if value is MISSING:
        value = _value_at(parse(text), steps)
    if value is MISSING:
        return None
    return _text_or_json(value)


def _fast_value(text: str, steps: Sequence[str]) -> Any:
    """orjson is several times as fast, but loses the digits of numbers: what it says of words and small integers can be trusted."""
    try:
        value = _value_at(orjson.loads(text), steps)
    except (orjson.JSONDecodeError, RecursionError):
        return MISSING
    return value if isinstance(value, str | bool | int) else MISSING


def _value_at(value: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        if isinstance(value, list):
            index = int(step) if step.isdecimal() and len(step) <= _ARRAY_INDEX_DIGITS_MAX else len(value)
            value = value[index] if index < len(value) else MISSING
        else:
            value = value.get(step, MISSING) if isinstance(value, dict) else MISSING
    return value


def _text_or_json(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return well_formed(value) if isinstance(value, str) else text_of_value(value)


# -- arrays ---------------------------------------------------------------------------------------


@scalar(
    "JSON_ARRAY_CONTAINS",
    "STRING, T -> BOOLEAN",
    group=Group.JSON,
    doc="Whether a JSON array has a value among its elements. Values of different types are never equal.",
    parameters=("jsonArray", "val"),
    takes_null=True,
)
def json_array_contains(text: str | None, value: Any) -> bool | None:
    if text is None:
        return None
    try:
        return _contains(text, value)
    except JsonProblem:
        return False


def _contains(text: str, value: Any) -> bool:
    """Looks at element after element, so that what follows the one that is found does not matter."""
    position = after_blanks(text, 0)
    if not text.startswith("[", position):
        return False
    position = after_blanks(text, position + 1)
    while not text.startswith("]", position):
        element, position = parse_at(text, position)
        if _is_same(element, value):
            return True
        position = after_blanks(text, position)
        if text.startswith(",", position):
            position = after_blanks(text, position + 1)
        elif not text.startswith("]", position):
            return False
    return False


def _is_same(element: Any, value: Any) -> bool:
    if isinstance(element, Decimal):
        return type(value) is float and float(element) == value
    return type(element) is type(value) and not isinstance(value, list | dict) and bool(element == value)


@scalar(
    "JSON_ARRAY_LENGTH",
    "STRING -> INTEGER",
    group=Group.JSON,
    doc="The number of elements of a JSON array, or NULL if it is none.",
    parameters=("jsonArray",),
)
def json_array_length(text: str) -> int | None:
    value = parse(text)
    return len(value) if isinstance(value, list) else None


@scalar(
    "JSON_ITEMS",
    "STRING -> ARRAY<STRING>",
    group=Group.JSON,
    doc="The elements of a JSON array as texts with JSON.",
    parameters=("jsonItems",),
)
def json_items(text: str) -> list[str]:
    value = parse(text)
    if not isinstance(value, list):
        raise JsonProblem(f"Invalid JSON format:{text[:80]}")
    return [text_of_value(element) for element in value]


@scalar(
    "JSON_CONCAT",
    "STRING... -> STRING",
    group=Group.JSON,
    doc="Joins JSON objects, a later value of a name instead of an earlier one, or else arrays. Other values are arrays of one element.",
    parameters=("jsonStrings",),
)
def json_concat(*texts: str) -> str | None:
    values = [parse(text) for text in texts]
    if not values or any(value is MISSING for value in values):
        return None
    if all(isinstance(value, dict) for value in values):
        joined: Any = {name: part for value in values for name, part in value.items()}
    elif len(values) == 1:
        joined = values[0]
    else:
        joined = [part for value in values for part in (value if isinstance(value, list) else [value])]
    return text_of_value(joined, is_plain=True)


# -- objects --------------------------------------------------------------------------------------


@scalar(
    "JSON_KEYS",
    "STRING -> ARRAY<STRING>",
    group=Group.JSON,
    doc="The names of a JSON object, or NULL if it is none.",
    parameters=("jsonObj",),
)
def json_keys(text: str) -> list[str] | None:
    value = parse(text)
    return [well_formed(name) for name in value] if isinstance(value, dict) else None


@scalar(
    "JSON_RECORDS",
    "STRING -> MAP<STRING, STRING>",
    group=Group.JSON,
    doc="The names of a JSON object and their values as texts, or NULL if it is none.",
    parameters=("jsonObj",),
)
def json_records(text: str) -> dict[str, str] | None:
    value = parse(text)
    if not isinstance(value, dict):
        return None
    return {well_formed(name): _text_or_json(part) for name, part in value.items()}


# -- any value ------------------------------------------------------------------------------------


@scalar(
    "IS_JSON_STRING",
    "STRING -> BOOLEAN",
    group=Group.JSON,
    doc="Whether a text holds JSON.",
    parameters=("input",),
    takes_null=True,
)
def is_json_string(text: str | None) -> bool:
    if text is None:
        return False
    try:
        return parse(text) is not MISSING
    except JsonProblem:
        return False


@scalar(
    "TO_JSON_STRING",
    "T -> STRING",
    group=Group.JSON,
    doc="Any value as a text with JSON. Fields and keys are in the order of their names.",
    parameters=("input",),
    takes_null=True,
    is_typed=True,
)
def to_json_string(types: Sequence[SqlType | None], result: SqlType) -> Callable[[Any], str]:
    prepare = _preparation(types[0])
    return lambda value: text_of_value(prepare(value), is_plain=True)


_TEXTS: Final[dict[SqlType, Callable[[Any], str]]] = {
    DATE: date_text,
    TIME: time_text,
    TIMESTAMP: timestamp_text,
    BYTES: lambda value: base64.b64encode(value).decode(),
}


def _preparation(type_: SqlType | None) -> Callable[[Any], Any]:
    """What makes values of that type ready to be written as JSON."""
    match type_:
        case Array(element):
            part = _preparation(element)
            return lambda value: None if value is None else [part(each) for each in value]
        case Map(_, element):
            part = _preparation(element)
            return lambda value: (
                None if value is None else {str(key): part(value[key]) for key in sorted(value, key=str)}
            )
        case Struct(fields):
            parts = {field.name: _preparation(field.type) for field in sorted(fields, key=lambda field: field.name)}
            return lambda value: (
                None if value is None else {name: make(value.get(name)) for name, make in parts.items()}
            )
    text = _TEXTS.get(type_) if type_ is not None else None
    return (lambda value: value) if text is None else (lambda value: None if value is None else text(value))
