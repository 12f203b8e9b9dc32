"""Answers to schemas that clients send again and again: serializers register what is registered already each time they start."""

from __future__ import annotations

from typing import Final, TypeAlias

from starlette.responses import Response

from barnabas.kernel.http.request import Request
from schema_registry.http.parameters import is_modern

ANSWERS_MAX_BYTES: Final = 8 * 1024 * 1024

Key: TypeAlias = tuple[bytes, bytes, str, str, bytes]


class KnownAnswers:
    """Answers that told of something registered, by the whole request. They hold until the registry changes."""

    def __init__(self) -> None:
        self._answers: dict[Key, tuple[bytes, str | None]] = {}
        self._bytes = 0

    def clear(self) -> None:
        self._answers.clear()
        self._bytes = 0

    @staticmethod
    async def key(request: Request) -> Key:
        """All that such an answer depends on."""
        headers = request.headers
        return (
            request.raw_path,
            request.scope["query_string"],
            headers.get("accept", ""),
            f"{headers.get('content-type', '')} {is_modern(request)}",
            await request.body(),
        )

    def get(self, key: Key) -> Response | None:
        found = self._answers.get(key)
        return None if found is None else Response(found[0], media_type=found[1])

    def put(self, key: Key, response: Response) -> None:
        size = sum(map(len, key)) + len(response.body)
        if self._bytes + size > ANSWERS_MAX_BYTES:
            self.clear()
        if size <= ANSWERS_MAX_BYTES:
            self._answers[key] = (bytes(response.body), response.media_type)
            self._bytes += size
