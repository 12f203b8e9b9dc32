"""How much memory the bodies of all requests under way may take together."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http.errors import HttpError

SERVICE_UNAVAILABLE: Final = 503
RETRY_AFTER_S: Final = "1"


class BodyBudget:
    """Many bodies, each within its limit, could fill the memory together."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self.taken_bytes = 0

    def take(self, size: int) -> None:
        if self.taken_bytes + size > self._max_bytes:
            raise HttpError(
                SERVICE_UNAVAILABLE,
                f"the bodies of all requests under way would be larger than {self._max_bytes} bytes; try again later",
                headers={"retry-after": RETRY_AFTER_S},
            )
        self.taken_bytes += size

    def give_back(self, size: int) -> None:
        self.taken_bytes -= size
