"""What clients send, checked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.schema import NAME, OBJECT, Shape, closed_object, enum, list_of, map_of, nullable
from connect.api.source import SourceOffset
from connect.http.problems import BAD_REQUEST
from connect.storage.status import TargetState

_INITIAL_STATES: Final = {
    "RUNNING": TargetState.STARTED, "PAUSED": TargetState.PAUSED, "STOPPED": TargetState.STOPPED,
}  # fmt: skip
_TEXT: Final = {"type": ["string", "number", "boolean"]}
CONFIG: Final = Shape("Config", map_of(_TEXT))
SOME_SETTINGS: Final = Shape("ConfigChanges", map_of(nullable(_TEXT)))
EXAMPLE: Final = {"connector.class": "FileStreamSource", "file": "/tmp/lines.txt", "topic": "lines"}  # noqa: S108 - an example
CREATION: Final = Shape(
    "NewConnector", closed_object({"name": NAME, "config": CONFIG}, {"initial_state": enum(*_INITIAL_STATES)})
)
_OFFSET: Final = Shape("Offset", closed_object({"partition": OBJECT, "offset": nullable(OBJECT)}))
OFFSETS: Final = Shape("Offsets", closed_object({"offsets": list_of(_OFFSET)}))
NULL_VALUE: Final = "Null value can not be supplied as the configuration value."
NO_OFFSETS: Final = "Partitions / offsets need to be provided for an alter offsets request"


@dataclass(frozen=True, slots=True)
class Creation:
    name: str
    config: dict[str, str] = field(repr=False)
    initial_state: TargetState | None


async def json_object(request: Request) -> dict[str, Any]:
    body = await request.body()
    if not body:
        raise HttpError(BAD_REQUEST, "the body must be a JSON object, and there is none")
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise HttpError(BAD_REQUEST, f"the body is no valid JSON: {error}") from None
    if not isinstance(parsed, dict):
        raise HttpError(BAD_REQUEST, f"the body must be a JSON object, not {type(parsed).__name__}")
    return parsed


async def creation(request: Request) -> Creation:
    """The body of `POST /connectors`."""
    body = await _settings_object(request)
    _require_known(body, CREATION.members)
    config = body.get("config")
    if not isinstance(config, dict):
        raise HttpError(BAD_REQUEST, "config must be an object of settings")
    given = body.get("name")
    name = "" if given is None else _text("name", given).strip()
    if not name:
        raise HttpError(BAD_REQUEST, "name must be given: the connector is addressed by it")
    state = body.get("initial_state")
    initial = None if state is None else _INITIAL_STATES.get(str(state).upper())
    if state is not None and initial is None:
        raise HttpError(BAD_REQUEST, f"initial_state {state!r}: expected one of {', '.join(_INITIAL_STATES)}")
    return Creation(name, named(texts(config), name), initial)


async def config(request: Request, name: str) -> dict[str, str]:
    """The body of `PUT /connectors/{name}/config`."""
    return named(texts(await _settings_object(request)), name)


async def some_settings(request: Request) -> dict[str, str | None]:
    """Settings of which each may be null."""
    body = await _settings_object(request)
    return {name: None if value is None else _text(name, value) for name, value in body.items()}


async def config_changes(request: Request, name: str) -> dict[str, str | None]:
    """The body of a PATCH, in which null removes a setting. The connector's name cannot be changed."""
    changes = await some_settings(request)
    if "name" in changes:
        _require_name(changes["name"], name)
    return changes


async def offsets(request: Request) -> list[SourceOffset]:
    body = await json_object(request)
    _require_known(body, OFFSETS.members)
    given = body.get("offsets")
    if not given or not isinstance(given, list):
        raise HttpError(BAD_REQUEST, NO_OFFSETS)
    return [_offset(each) for each in given]


def texts(values: dict[str, Any]) -> dict[str, str]:
    """Settings are texts; numbers and booleans stay as they were written."""
    return {name: _text(name, value) for name, value in values.items()}


def named(settings: dict[str, str], name: str) -> dict[str, str]:
    """The settings with the connector's name among them, which must not be another."""
    if "name" in settings:
        _require_name(settings["name"], name)
    return {**settings, "name": name}


async def _settings_object(request: Request) -> dict[str, Any]:
    """A JSON object in which numbers are texts: 1.10 is not 1.1, and a setting is told as it was given."""
    await json_object(request)
    try:
        parsed: dict[str, Any] = json.loads(await request.body(), parse_int=str, parse_float=str)
    except RecursionError:
        raise HttpError(BAD_REQUEST, "the body is nested too deeply: settings are texts") from None
    return parsed


def _require_name(given: str | None, name: str) -> None:
    if given != name:
        raise HttpError(
            BAD_REQUEST, f"Connector name configuration ({given}) doesn't match connector name in the URL ({name})"
        )


def _require_known(body: dict[str, Any], known: frozenset[str]) -> None:
    unknown = body.keys() - known
    if unknown:
        raise HttpError(BAD_REQUEST, f"Unrecognized field {min(unknown)!r}: there are {', '.join(sorted(known))}")


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        raise HttpError(BAD_REQUEST, f"{name}: {NULL_VALUE}")
    raise HttpError(BAD_REQUEST, f"{name} must be text, a number or a boolean, not {type(value).__name__}")


def _offset(given: Any) -> SourceOffset:
    partition = given.get("partition") if isinstance(given, dict) else None
    offset = given.get("offset") if isinstance(given, dict) else None
    if not isinstance(partition, dict) or not (offset is None or isinstance(offset, dict)):
        raise HttpError(
            BAD_REQUEST, "each of the offsets must be an object with a partition and an offset, which are objects"
        )
    _require_known(given, _OFFSET.members)
    return SourceOffset(partition, offset)
