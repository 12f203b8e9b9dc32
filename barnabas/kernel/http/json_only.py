"""Paths whose requests and responses are JSON and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.kernel.http.answers import JSON_TYPE
from barnabas.kernel.http.content_type import MediaType, Offer, choose, parse_media_type
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Handler

if TYPE_CHECKING:
    from starlette.responses import Response

WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
NOT_ACCEPTABLE: Final = 406
UNSUPPORTED_MEDIA_TYPE: Final = 415

_OFFERS: Final = (Offer(MediaType("application", "json", {})),)


def json_only(handler: Handler) -> Handler:
    """Reject clients that accept or send something else before anything happens. A body without a type is taken for JSON."""

    async def handle(request: Request) -> Response:
        if choose(request.headers.get("accept", ""), _OFFERS) is None:
            raise HttpError(NOT_ACCEPTABLE, f"HTTP 406 Not Acceptable: accept {JSON_TYPE}")
        if request.method in WITH_BODY and await request.body():
            sent = parse_media_type(request.headers.get("content-type") or JSON_TYPE)
            if sent is None or sent.essence != JSON_TYPE:
                raise HttpError(UNSUPPORTED_MEDIA_TYPE, f"HTTP 415 Unsupported Media Type: send {JSON_TYPE}")
        return await handler(request)

    return handle
