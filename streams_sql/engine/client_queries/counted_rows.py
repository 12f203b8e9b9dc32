"""The rows of a query that ends, on their way to who asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from streams_sql.engine.client_queries.results import RowBatch


class CountedRows:
    """Counts what passes, to know why the rows have ended."""

    def __init__(self, pages: AsyncGenerator[RowBatch, None], limit: int | None) -> None:
        self.count = 0
        self._pages = pages
        self._limit = limit

    async def batches(self) -> AsyncIterator[RowBatch]:
        async for batch in self._pages:
            self.count += len(batch.rows)
            yield batch

    def limit_reached(self) -> bool:
        return self._limit is not None and self.count >= self._limit

    async def close(self) -> None:
        await self._pages.aclose()
