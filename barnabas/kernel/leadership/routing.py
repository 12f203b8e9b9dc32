"""Which instance does a request that only the leader may do: this one, or the one that it is forwarded to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, Protocol

from barnabas.kernel.leadership.forwarding import Unreachable

if TYPE_CHECKING:
    from starlette.responses import Response

    from barnabas.kernel.http.request import Request
    from barnabas.kernel.leadership.forwarding import Forwarder

RETRY_S: Final = 0.2
TAKEOVER_S: Final = 5.0
"""From the end of a crashed leader's session until the next one is ready."""


class LedGroup(Protocol):
    """Instances of a service, of which one leads."""

    @property
    def is_leader(self) -> bool:
        """Whether this instance leads, and is ready to."""

    @property
    def leader_url(self) -> str | None:
        """The address of the leader, if it is another instance and known."""

    async def settle(self, timeout_s: float) -> bool:
        """Wait until it is known who leads. False if it is not in time."""


def settle_s(session_timeout_ms: int) -> float:
    """How long a request waits for a leader: long enough for the one that follows a crashed one."""
    return session_timeout_ms / 1000 + TAKEOVER_S


async def lead_or_forward(
    request: Request,
    act: Callable[[], Awaitable[Response]],
    group: LedGroup,
    forwarder: Forwarder,
    settle_s: float,
    on_forwarded: Callable[[Response], Awaitable[None]],
) -> Response:
    """Call `act` if this instance leads, else forward the request to the leader. ForwardingError.

    Between two leaders, and until the group notices that one has crashed, a request waits for up to `settle_s`. `on_forwarded` gets the
    leader's response and returns when this instance has read what the leader has written.
    """
    deadline_s = time.monotonic() + settle_s
    while True:
        await group.settle(max(0.0, deadline_s - time.monotonic()))
        if group.is_leader:
            return await act()
        try:
            response = await forwarder.forward(request, group.leader_url)
        except Unreachable:
            if time.monotonic() >= deadline_s:
                raise
            await asyncio.sleep(RETRY_S)
        else:
            await on_forwarded(response)
            return response
