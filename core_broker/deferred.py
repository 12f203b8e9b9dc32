"""An answer that comes later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

Response = TypeVar("Response")


class Close:
    """In place of an answer: the connection ends, because the client has asked not to be told in another way (acks=0)."""


CLOSE = Close()


class Waiter(Protocol):
    """Who waits for the answer: a connection's request."""

    def released(self) -> None: ...

    def resolved(self, response: object) -> None: ...


class Deferred(Generic[Response]):
    """What a handler returns when it must wait: for the disk, or for data to arrive.

    A future would do the same at several times the cost: this one calls back at once, in the same turn of the event loop.
    Until `release` or `resolve` is called the connection does not look at its next request. After `release` it does, and the
    answers still go out in the order of the requests.
    """

    __slots__ = ("_released", "_resolved", "_response", "_waiter", "abandon")

    def __init__(self) -> None:
        self._released = False
        self._resolved = False
        self._response: Response | Close | None = None
        self._waiter: Waiter | None = None
        self.abandon: Callable[[], None] | None = None
        """Called when the client has gone away and nobody waits for the answer any more."""

    def release(self) -> None:
        """The request's bytes are no longer needed, and the next request cannot overtake this one any more."""
        if not self._released:
            self._released = True
            if self._waiter is not None:
                self._waiter.released()

    def resolve(self, response: Response | Close | None) -> None:
        """Gives the answer; None means that the client expects none."""
        assert not self._resolved, "a request is answered once"
        self._resolved = True
        self._response = response
        # Who waits, and who made this, know each other through it; without the loop they are freed at once.
        waiter, self._waiter, self.abandon = self._waiter, None, None
        if waiter is not None:
            waiter.resolved(response)

    def subscribe(self, waiter: Waiter) -> None:
        """Registers who waits, and tells at once what has already happened."""
        if self._resolved:
            waiter.resolved(self._response)
            return
        self._waiter = waiter
        if self._released:
            waiter.released()
