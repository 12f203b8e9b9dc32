"""The error that becomes an answer."""

from __future__ import annotations

from collections.abc import Mapping


class HttpError(Exception):
    """An answer that is an error. `code` is the service's own number for it; without one it is the status."""

    def __init__(
        self, status: int, message: str, *, code: int | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = status if code is None else code
        self.message = message
        self.headers = dict(headers or {})
