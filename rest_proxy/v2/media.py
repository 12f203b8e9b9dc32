"""The content types of v2."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import orjson
from starlette.responses import Response

from barnabas.kernel.http.answers import JSON_TYPE
from barnabas.kernel.http.content_type import Offer, choose, parse_media_type
from barnabas.kernel.http.request import Request
from rest_proxy.formats.schema_choice import AVRO, BINARY, JSON, JSONSCHEMA, PROTOBUF
from rest_proxy.problems import not_acceptable, unsupported

V2: Final = "application/vnd.kafka.v2+json"
EMBEDDED_FORMATS: Final = (BINARY, JSON, AVRO, JSONSCHEMA, PROTOBUF)
EMBEDDED_TYPES: Final = {form: f"application/vnd.kafka.{form}.v2+json" for form in EMBEDDED_FORMATS}

HEADERS_KEPT_MAX: Final = 256
"""Clients send the same few headers again and again."""

_FORMAT_OF_TYPE: Final = {essence: form for form, essence in EMBEDDED_TYPES.items()}
_WEIGHTS: Final = {V2: 1.0, "application/vnd.kafka+json": 0.9, JSON_TYPE: 0.5}
ANSWER_TYPES: Final = tuple(_WEIGHTS)
_OFFERS: Final = tuple(
    Offer(media_type, weight) for text, weight in _WEIGHTS.items() if (media_type := parse_media_type(text)) is not None
)


def answer(request: Request, value: Any) -> Response:
    return Response(orjson.dumps(value), media_type=answer_type(request))


def answer_type(request: Request) -> str:
    """The type of the answer; a client that takes none of ours is refused."""
    chosen = _chosen(request.header(b"accept"))
    if chosen is None:
        raise not_acceptable(offer.media_type.essence for offer in _OFFERS)
    return chosen


def error_type(request: Request) -> str:
    """The type of an error: that of the API whose path was found."""
    if request.route is None or request.route.template.startswith("/v3/"):
        return JSON_TYPE
    return V2


def embedded_format(request: Request) -> str:
    """The format of the records in the body: base64 unless the header says otherwise. Its charset and the like do not count."""
    found = _format(request.header(b"content-type"))
    if found is None:
        raise unsupported(EMBEDDED_TYPES.values())
    return found


@lru_cache(HEADERS_KEPT_MAX)
def _chosen(accept: str) -> str | None:
    found = choose(accept, _OFFERS)
    return None if found is None else found.essence


@lru_cache(HEADERS_KEPT_MAX)
def _format(content_type: str) -> str | None:
    if not content_type:
        return BINARY
    media_type = parse_media_type(content_type)
    return None if media_type is None else _FORMAT_OF_TYPE.get(media_type.essence)
