"""The request that is being served: its id stands in every line that is logged on its behalf, and goes along to other services."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

HEADER: Final = "X-Request-ID"


class CurrentRequest:
    """`id` is None once the request is over: what it has started may live on, and must not be taken for it."""

    __slots__ = ("id",)

    def __init__(self, request_id: str) -> None:
        self.id: str | None = request_id

    def end(self) -> None:
        self.id = None


_current: Final[ContextVar[CurrentRequest | None]] = ContextVar("request", default=None)


def begin(request_id: str) -> CurrentRequest:
    """From now on this task, and what it starts, works for that request."""
    current = CurrentRequest(request_id)
    _current.set(current)
    return current


def request_id() -> str | None:
    """The id of the request that the running task works for, if there is one."""
    current = _current.get()
    return None if current is None else current.id


def headers() -> dict[str, str]:
    """What a call to another service carries."""
    known = request_id()
    return {} if known is None else {HEADER: known}
