"""Requests with SQL, read from the bodies of HTTP requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.schema import INTEGER, STRING, Schema, Shape, map_of, nullable, open_object
from streams_sql.engine.statements.request import SqlRequest
from streams_sql.http.problems import BAD_REQUEST

AFTER: Final = "commandSequenceNumber"

_KINDS: Final = {
    str: "a text",
    dict: "an object",
    list: "a list",
    bool: "a boolean",
    int: "a number",
    float: "a number",
}

_TEXTS: Final = map_of({"type": ["string", "number", "boolean", "null"]})
_OPTIONS: Final[dict[str, Schema]] = {
    "streamsProperties": _TEXTS,
    "sessionVariables": _TEXTS,
    AFTER: nullable(INTEGER),
}
STATEMENT: Final = Shape("Statement", open_object({"ksql": STRING}, _OPTIONS))
QUERY: Final = Shape("StreamedQuery", open_object({"sql": STRING}, {**_OPTIONS, "properties": _TEXTS}))


async def statement_request(request: Request) -> SqlRequest:
    """As /ksql and /query accept it."""
    return parse_statement_request(await json_object(request))


async def stream_request(request: Request) -> SqlRequest:
    """As /query-stream accepts it. Many clients send the properties under the name that the other paths have."""
    body = await json_object(request)
    properties = {**_texts(body, "streamsProperties"), **_texts(body, "properties")}
    return SqlRequest(text_member(body, "sql"), properties, _texts(body, "sessionVariables"), _after(body))


def parse_statement_request(body: Mapping[str, Any]) -> SqlRequest:
    properties, variables = _texts(body, "streamsProperties"), _texts(body, "sessionVariables")
    return SqlRequest(text_member(body, "ksql"), properties, variables, _after(body))


async def json_object(request: Request) -> Mapping[str, Any]:
    return parse_object(await request.body(), "the body of the request")


def parse_object(text: bytes | str, what: str) -> Mapping[str, Any]:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as problem:
        raise HttpError(BAD_REQUEST, f"{what} is not valid JSON: {problem}") from None
    if not isinstance(found, dict):
        raise HttpError(BAD_REQUEST, f"{what} must be a JSON object, and is {_kind(found)}")
    return found


def text_member(body: Mapping[str, Any], name: str) -> str:
    if name not in body:
        have = ", ".join(body) or "nothing"
        raise HttpError(BAD_REQUEST, f'the body of the request has no "{name}"; it has {have}')
    found = body[name]
    if not isinstance(found, str):
        raise HttpError(BAD_REQUEST, f'"{name}" must be a text, and is {_kind(found)}')
    return found


def _after(body: Mapping[str, Any]) -> int:
    found = body.get(AFTER)
    if found is None:
        return 0
    if type(found) is not int:
        raise HttpError(BAD_REQUEST, f'"{AFTER}" must be a number, and is {_kind(found)}')
    return found


def _texts(body: Mapping[str, Any], name: str) -> Mapping[str, str]:
    """Names with plain values; NULL is as good as nothing."""
    found = body.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise HttpError(BAD_REQUEST, f'"{name}" must be an object, and is {_kind(found)}')
    return {each: _text(name, each, value) for each, value in found.items() if value is not None}


def _text(member: str, name: str, value: Any) -> str:
    if isinstance(value, (dict, list)):
        raise HttpError(BAD_REQUEST, f'"{name}" in "{member}" must be a plain value, and is {_kind(value)}')
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "null")
