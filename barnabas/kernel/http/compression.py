"""Answers in gzip, for clients that take it."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING, Final

from barnabas.kernel.http.content_type import parse_weighted
from barnabas.kernel.http.request import Request

if TYPE_CHECKING:
    from starlette.responses import Response

ANSWER_MIN_BYTES: Final = 1024
"""Below this the headers are most of an answer, and it fits into one packet anyway."""
INLINE_MAX_BYTES: Final = 64 * 1024
"""More than this is compressed in another thread: it would hold up every other request."""
LEVEL: Final = 5
"""Nearly as small as zlib's default, in two thirds of the time."""


async def compress(request: Request, response: Response) -> None:
    """Compresses an answer where that is worth it. Answers that are streamed are left as they are."""
    body = getattr(response, "body", None)
    if body is None or len(body) < ANSWER_MIN_BYTES or "content-encoding" in response.headers:
        return
    response.headers.add_vary_header("Accept-Encoding")
    if not accepts_gzip(request.header(b"accept-encoding")):
        return
    if len(body) <= INLINE_MAX_BYTES:
        packed = _packed(body)
    else:
        packed = await asyncio.to_thread(_packed, body)
    response.body = packed
    response.headers["content-encoding"] = "gzip"
    response.headers["content-length"] = str(len(packed))


def accepts_gzip(accept_encoding: str) -> bool:
    weights = {name: weight for name, _, weight in parse_weighted(accept_encoding)}
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0))) > 0.0


def _packed(body: bytes | memoryview) -> bytes:
    # Without a time of its own, so that the same answer has the same bytes.
    return gzip.compress(body, LEVEL, mtime=0)
