"""Answers as they go out, kept until something changes. A POST whose handling changed something is not kept: it cleared the cache itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from barnabas.kernel.http.metrics import RouteMetrics

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import Message, Scope

CACHE_MAX_BYTES: Final = 32 * 1024 * 1024
ENTRY_BYTES: Final = 1024
"""What an entry costs beside its texts: the objects of the key, of the headers and of the messages, rounded up."""

VARY_ALWAYS: Final = frozenset({b"accept", b"accept-encoding", b"content-encoding", b"content-type", b"origin"})

Key: TypeAlias = tuple[bytes | tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """All that a hit needs, made ready: headers without the request id, and the message of the body."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: Message
    metrics: RouteMetrics


class AnswerCache:
    """Bounded by bytes; the oldest answers make room. `vary` names the request headers on which answers depend, in lower case."""

    def __init__(self, vary: Iterable[str] = (), max_bytes: int = CACHE_MAX_BYTES) -> None:
        self._vary = VARY_ALWAYS | {name.encode() for name in vary}
        self._max_bytes = max_bytes
        self._answers: dict[Key, tuple[CachedAnswer, int]] = {}
        self.size_bytes = 0
        self.generation = 0
        """Changes with each `clear`: what was computed before one must not be kept after it."""

    def key(self, scope: Scope) -> Key:
        """Everything that an answer depends on, as the client wrote it."""
        vary = self._vary
        return (
            scope["raw_path"],
            scope["query_string"],
            *[header for header in scope["headers"] if header[0] in vary],
        )

    def get(self, key: Key) -> CachedAnswer | None:
        found = self._answers.get(key)
        return None if found is None else found[0]

    def put(self, key: Key, generation: int, response: Response, metrics: RouteMetrics) -> None:
        """Keeps an answer, unless the cache was cleared since `generation`, when its making began."""
        body = bytes(response.body)
        size = ENTRY_BYTES + len(body) + sum(len(part) for part in _texts(key))
        if generation != self.generation or size > self._max_bytes or key in self._answers:
            return
        while self.size_bytes + size > self._max_bytes:
            oldest = next(iter(self._answers))
            self.size_bytes -= self._answers.pop(oldest)[1]
        message = {"type": "http.response.body", "body": body}
        answer = CachedAnswer(response.status_code, list(response.raw_headers), message, metrics)
        self._answers[key] = (answer, size)
        self.size_bytes += size

    def clear(self) -> None:
        """To be called whenever an answer may have become another."""
        self._answers.clear()
        self.size_bytes = 0
        self.generation += 1


def _texts(key: Key) -> Iterable[bytes]:
    for part in key:
        yield from part if isinstance(part, tuple) else (part,)
