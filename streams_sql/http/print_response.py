"""The lines of PRINT on their way to the client."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from streams_sql.engine.client_queries.printing import PrintLines
from streams_sql.engine.failures import EngineError, Stopping
from streams_sql.http.live_response import LiveResponse
from streams_sql.http.row_forms import BrokenOff


class PrintResponse(LiveResponse):
    """Lines as they are, whatever the client accepts: they are for people."""

    def __init__(self, lines: PrintLines) -> None:
        super().__init__("text/plain; charset=utf-8")
        self._lines = lines

    async def pieces(self) -> AsyncGenerator[bytes]:
        try:
            async for line in self._lines:
                yield line.encode("utf-8", "replace") + b"\n"
        except EngineError as problem:
            yield f"{problem}\n".encode()
            if isinstance(problem, Stopping):
                # Lines for people have no other way to show programs that more would have come.
                raise BrokenOff(str(problem)) from None

    async def end(self) -> None:
        await self._lines.close()
