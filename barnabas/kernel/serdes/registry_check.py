"""Whether a registry answers, for those who need one."""

from __future__ import annotations

import asyncio
from typing import Final

from barnabas.kernel.serdes.registry_transport import RegistryClientError, RegistryTransport

TIMEOUT_MS: Final = 2_000


class RegistryCheck:
    """Asks on connections of its own: those that work is done on may wait for an answer for long."""

    def __init__(self, urls: str, user_info: str | None = None) -> None:
        self._transport = RegistryTransport(urls, user_info, TIMEOUT_MS)

    async def problem(self) -> str | None:
        """Why the registry cannot be used; None if it can."""
        try:
            await asyncio.to_thread(self._transport.call, "GET", "/")
        except RegistryClientError as failure:
            return failure.message
        return None

    async def close(self) -> None:
        await asyncio.to_thread(self._transport.close)
