"""The content types that the registry speaks."""

from __future__ import annotations

from typing import Any, Final

import orjson
from starlette.responses import Response

from barnabas.kernel.http.content_type import Offer, choose, parse_media_type
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request

V1: Final = "application/vnd.schemaregistry.v1+json"
_NEWEST: Final = "application/vnd.schemaregistry+json"
_JSON: Final = "application/json"
_WEIGHTS: Final = {V1: 1.0, _NEWEST: 0.9, _JSON: 0.5}
ANSWER_TYPES: Final = tuple(_WEIGHTS)
BODY_TYPES: Final = (*ANSWER_TYPES, "application/octet-stream")
_OFFERS: Final = tuple(
    Offer(media_type, weight) for text, weight in _WEIGHTS.items() if (media_type := parse_media_type(text)) is not None
)

NOT_ACCEPTABLE: Final = 406
UNSUPPORTED_MEDIA_TYPE: Final = 415


def answer_type(request: Request) -> str:
    """The type of the answer; a client that takes none of ours is refused."""
    chosen = choose(request.headers.get("accept", ""), _OFFERS)
    if chosen is None:
        raise HttpError(NOT_ACCEPTABLE, "HTTP 406 Not Acceptable")
    return chosen.essence


def error_type(request: Request) -> str:
    """The type of an error, which is told to every client."""
    chosen = choose(request.headers.get("accept", ""), _OFFERS)
    return V1 if chosen is None else chosen.essence


def check_body_type(request: Request) -> None:
    text = request.headers.get("content-type", "")
    media_type = parse_media_type(text)
    if text.strip() and (media_type is None or media_type.essence not in BODY_TYPES):
        raise HttpError(UNSUPPORTED_MEDIA_TYPE, f"HTTP 415 Unsupported Media Type: send {V1} or {_JSON}")


def answer(request: Request, value: Any) -> Response:
    return Response(orjson.dumps(value), media_type=answer_type(request))


def text_answer(request: Request, text: str) -> Response:
    return Response(text, media_type=answer_type(request))
