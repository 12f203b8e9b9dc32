"""The content types that clients send and accept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from barnabas.kernel.http.content_type import Offer, choose, parse_media_type
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from streams_sql.http.problems import NOT_ACCEPTABLE

KSQL_JSON: Final = "application/vnd.ksql.v1+json"
JSON: Final = "application/json"
DELIMITED: Final = "application/vnd.ksqlapi.delimited.v1"

ARROW: Final = "application/vnd.apache.arrow.stream"

OBJECTS: Final = (KSQL_JSON, JSON)
"""What statements and pages are answered with, the preferred first."""

HEADERS_KEPT_MAX: Final = 256


def accepted(request: Request, offers: Sequence[str]) -> str:
    """The one of these types that suits the client best, 406 when none does. Of equals it is one that the client names, and of those the
    first: many clients name what they want and then say that anything will do."""
    return _accepted(request.header(b"accept"), tuple(offers))


@lru_cache(HEADERS_KEPT_MAX)
def _accepted(header: str, offers: tuple[str, ...]) -> str:
    named = header.lower()
    ordered = sorted(offers, key=lambda offer: offer not in named)
    chosen = choose(header, [Offer(found) for text in ordered if (found := parse_media_type(text)) is not None])
    if chosen is None:
        raise HttpError(NOT_ACCEPTABLE, f"Accept: {header} takes none of what there is here: {', '.join(offers)}")
    return chosen.essence
