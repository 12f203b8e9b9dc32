"""One request: Starlette's, with a body that is bounded, and what the router and the server know about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson
from starlette.requests import ClientDisconnect
from starlette.requests import Request as StarletteRequest

from barnabas.kernel.http.body_budget import BodyBudget
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.inflation import Inflation
from barnabas.kernel.http.principal import ANONYMOUS, Principal

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

    from barnabas.kernel.http.router import Route

BAD_REQUEST: Final = 400
CONTENT_TOO_LARGE: Final = 413

MIB: Final = 1024 * 1024
LENGTH_MAX_DIGITS: Final = 18
"""Of a length that anybody means."""


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """How much of a body is taken."""

    max_bytes: int = 16 * MIB
    total_max_bytes: int = 256 * MIB
    """For the bodies of all requests under way together."""
    discarded_max_bytes: int = 64 * MIB
    """Of a body that is too large so much is read and dropped: a client that writes it whole before it reads sees the answer."""


class Request(StarletteRequest):
    """What a handler is given. `path_params` are the decoded segments of the path, by the names in the route."""

    def __init__(self, scope: Scope, receive: Receive, request_id: str, limits: BodyLimits, budget: BodyBudget) -> None:
        super().__init__(scope, receive)
        self.id = request_id
        self.principal: Principal = ANONYMOUS
        self.route: Route | None = None
        self._limits = limits
        self._budget = budget
        self._taken_bytes = 0
        self._fields: dict[bytes, bytes] | None = None
        self.waits = False
        """Whether its answer takes its time by the client's own wish: it streams, or waits for what is to come."""
        self.awaits_body = False
        """Whether it is the client that lets us wait."""

    @property
    def raw_path(self) -> bytes:
        """The path as it was sent, percent-encoding and all, without the query."""
        raw: bytes = self.scope["raw_path"]
        return raw

    def header(self, name: bytes, default: str = "") -> str:
        """The first value of a header, whose name is in lower case. `headers` knows more, and takes longer to say it."""
        if self._fields is None:
            self._fields = dict(reversed(self.scope["headers"]))
        value = self._fields.get(name)
        return default if value is None else value.decode("latin-1")

    def path_value(self, name: str) -> str:
        value: str = self.path_params[name]
        return value

    def query_value(self, name: str, default: str = "") -> str:
        """The first value of a query parameter; `query_values` has all."""
        values = self.query_params.getlist(name)
        return values[0] if values else default

    def query_values(self, name: str) -> list[str]:
        return self.query_params.getlist(name)

    def flag(self, name: str) -> bool:
        """A boolean of the query; `True` counts as `true`, since Python's clients write it so. Anything else is false."""
        return self.query_value(name).lower() == "true"

    async def body(self) -> bytes:
        """The whole body, inflated; too much of it is a 413."""
        if not hasattr(self, "_body"):
            self.awaits_body = True
            self._body = await self._read()
            self.awaits_body = False
        return self._body

    async def json(self) -> Any:
        """The body as JSON; malformed JSON is a 400."""
        try:
            return orjson.loads(await self.body())
        except orjson.JSONDecodeError as problem:
            raise HttpError(BAD_REQUEST, f"the body is not valid JSON: {problem}") from None

    def release(self) -> None:
        """Called when the request is over: the memory of its body is free again."""
        self._budget.give_back(self._taken_bytes)
        self._taken_bytes = 0

    async def _read(self) -> bytes:
        inflation = Inflation.of(self.header(b"content-encoding"), self._limits.max_bytes)
        parts: list[bytes] = []
        # The server sees to it that no more comes than was said. That nothing follows the last byte it would tell in a message of its
        # own, which is as dear as the one before.
        awaited_bytes = content_length(self.scope["headers"])
        more = awaited_bytes != 0
        while more:
            chunk, more = await self._next()
            if awaited_bytes is not None:
                awaited_bytes -= len(chunk)
                more = more and awaited_bytes > 0
            part = chunk if inflation is None else inflation.add(chunk)
            if self._taken_bytes + len(part) > self._limits.max_bytes:
                await self._discard(more)
                raise self._too_large()
            self._budget.take(len(part))
            self._taken_bytes += len(part)
            parts.append(part)
        if inflation is not None:
            inflation.end()
        return b"".join(parts)

    async def _discard(self, more: bool) -> None:
        discarded = 0
        while more and discarded < self._limits.discarded_max_bytes:
            chunk, more = await self._next()
            discarded += len(chunk)

    async def _next(self) -> tuple[bytes, bool]:
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        return message.get("body", b""), message.get("more_body", False)

    def _too_large(self) -> HttpError:
        return HttpError(
            CONTENT_TOO_LARGE, f"the body of the request is larger than the {self._limits.max_bytes} bytes allowed"
        )


def content_length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """What a request says of the size of its body; None when it does not, or sends it in chunks: then the body ends where it ends."""
    found = None
    for name, value in headers:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length" and value.isdigit() and len(value) <= LENGTH_MAX_DIGITS:
            found = int(value)
    return found
