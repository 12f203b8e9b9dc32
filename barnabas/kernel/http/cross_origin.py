"""CORS: what pages from elsewhere may ask of us, as the `access.control.*` settings say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request

PREFLIGHT_MAX_AGE_S: Final = 1800
"""How long a browser may remember the answer to its question."""
DEFAULT_METHODS: Final = ("GET", "POST", "HEAD")
DEFAULT_HEADERS: Final = ("X-Requested-With", "Content-Type", "Accept", "Origin")
ANY: Final = "*"
FORBIDDEN: Final = 403
SHOWN_MAX_CHARACTERS: Final = 200
"""Of an origin, which is the client's to write."""


@dataclass(frozen=True, slots=True)
class CrossOrigin:
    """No origin at all means that the headers of CORS are never sent."""

    origins: Sequence[str] = ()
    methods: Sequence[str] = DEFAULT_METHODS
    headers: Sequence[str] = DEFAULT_HEADERS

    def preflight(self, request: Request) -> Response | None:
        """The answer to a browser that asks before it sends; None if this is no such question."""
        if not self.origins or request.method != "OPTIONS" or "access-control-request-method" not in request.headers:
            return None
        response = Response()
        if self._allowed(request.headers.get("origin")) is not None:
            response.headers["access-control-allow-methods"] = ",".join(self.methods)
            response.headers["access-control-allow-headers"] = ",".join(self.headers)
            response.headers["access-control-max-age"] = str(PREFLIGHT_MAX_AGE_S)
        return response

    def check(self, request: Request, *, reads: bool) -> None:
        """Refuses what a page from elsewhere would do.

        A browser sends it without asking first, if it looks like a form, and lets the page see a websocket: so whoever shows a page to
        somebody on this machine would reach a service that listens on loopback alone. Other clients than browsers name no origin.
        """
        origin = request.headers.get("origin")
        if reads or origin is None or self._allowed(origin) is not None:
            return
        if origin.partition("://")[2] != request.headers.get("host"):
            raise HttpError(
                FORBIDDEN,
                f"a page of {origin[:SHOWN_MAX_CHARACTERS]} may not do this here; access.control.allow.origin names those that may",
            )

    def mark(self, request: Request, response: Response) -> None:
        """Says in the answer whether the page may read it."""
        if not self.origins:
            return
        if ANY not in self.origins:
            response.headers.add_vary_header("Origin")
        allowed = self._allowed(request.headers.get("origin"))
        if allowed is not None:
            response.headers["access-control-allow-origin"] = allowed

    def _allowed(self, origin: str | None) -> str | None:
        if origin is None:
            return None
        if ANY in self.origins:
            return ANY
        return origin if origin in self.origins else None
