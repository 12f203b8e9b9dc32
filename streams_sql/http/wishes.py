"""What clients ask for: the bodies of their requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.schema import INTEGER, STRING, Schema, Shape, map_of, nullable, open_object
from streams_sql.http.problems import BAD_REQUEST
from streams_sql.language.splitting import COMMENT

AFTER: Final = "commandSequenceNumber"

_PRINT: Final = re.compile(rf"(?:\s++|(?>{COMMENT}))*+PRINT\b", re.IGNORECASE | re.DOTALL)
"""Behind any comments. Nothing that was passed over is tried another way, so that the time does not depend on what stands there."""
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


@dataclass(frozen=True, slots=True)
class Wish:
    """SQL, and what holds for it. `after` is the position of a change that the client has made, maybe through another server, and must
    see."""

    text: str
    properties: Mapping[str, str]
    variables: Mapping[str, str]
    after: int = 0

    @property
    def is_print(self) -> bool:
        return _PRINT.match(self.text) is not None


async def statement_wish(request: Request) -> Wish:
    """As /ksql and /query take it."""
    return parse_statement_wish(await json_object(request))


async def stream_wish(request: Request) -> Wish:
    """As /query-stream takes it. Many clients send the properties under the name that the other paths have."""
    body = await json_object(request)
    properties = {**_texts(body, "streamsProperties"), **_texts(body, "properties")}
    return Wish(text_member(body, "sql"), properties, _texts(body, "sessionVariables"), _after(body))


def parse_statement_wish(body: Mapping[str, Any]) -> Wish:
    return Wish(
        text_member(body, "ksql"), _texts(body, "streamsProperties"), _texts(body, "sessionVariables"), _after(body)
    )


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
