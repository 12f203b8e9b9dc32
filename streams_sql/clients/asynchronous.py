"""The client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx

from streams_sql.clients.async_insert_stream import AsyncInsertStream
from streams_sql.clients.failures import Refused, ServerUnreachable
from streams_sql.clients.frames import arrow_table, pandas_frame
from streams_sql.clients.protocol import (
    ANSWER_TIMEOUT_S,
    CALL_PROBLEMS,
    CLOSE_TIMEOUT_S,
    DEFAULT_URL,
    JSON,
    OK,
    ROWS_HEADERS,
    LineCutter,
    Session,
    Settings,
    answer,
    broken_off,
    unreachable,
)
from streams_sql.clients.rows import RowReader, as_dict

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import pyarrow as pa  # type: ignore[import-untyped]


class AsyncClient:
    """As Client; calls are awaited, and rows are read with `async for`.

    async with AsyncClient("http://127.0.0.1:8088") as client:
        await client.execute("SHOW STREAMS;")
        async with await client.stream("SELECT * FROM s EMIT CHANGES;") as rows:
            async for row in rows:
                row.k, row.v
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        properties: Settings | None = None,
        variables: Settings | None = None,
        timeout_s: float = ANSWER_TIMEOUT_S,
    ) -> None:
        self._session = Session(url, properties, variables, timeout_s)
        self._http = httpx.AsyncClient(timeout=self._session.timeout(), verify=self._session.verifies)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    @property
    def url(self) -> str:
        return self._session.url

    @property
    def properties(self) -> dict[str, str]:
        return self._session.properties

    @property
    def variables(self) -> dict[str, str]:
        return self._session.variables

    async def execute(self, sql: str) -> list[dict[str, Any]]:
        """Run statements that are no queries."""
        body = self._session.statement_body(sql)
        found: list[dict[str, Any]] = answer(await self._call("POST", "/ksql", json=body, headers={"accept": JSON}))
        self._session.heed(found)
        return found

    async def query(self, sql: str) -> AsyncRows:
        """The rows of a query that ends by itself."""
        return await self._rows(sql, is_endless=False)

    async def stream(self, sql: str) -> AsyncRows:
        """The rows of a push query as they come, until they are closed."""
        return await self._rows(sql, is_endless=True)

    async def insert(self, target: str, rows: Iterable[Mapping[str, Any]]) -> int:
        """Write rows to a stream or a table; returns how many. RowsRefused."""
        async with self.insert_stream(target) as stream:
            for row in rows:
                await stream.send(row)
        return stream.written

    def insert_stream(self, target: str) -> AsyncInsertStream:
        """Write rows as they come to be: `async with client.insert_stream("s") as stream: await stream.send({"k": "a", "v": 1})`."""
        return AsyncInsertStream(self.url, target)

    async def info(self) -> dict[str, Any]:
        found = answer(await self._call("GET", "/info"))
        told: dict[str, Any] = found["KsqlServerInfo"]
        return told

    async def end_query(self, query_id: str) -> None:
        """End a push query that runs on the server."""
        response = await self._call("POST", "/close-query", json={"queryId": query_id}, timeout=CLOSE_TIMEOUT_S)
        if response.status_code != OK:
            answer(response)

    async def _rows(self, sql: str, *, is_endless: bool) -> AsyncRows:
        request = self._http.build_request(
            "POST",
            f"{self.url}/query-stream",
            json=self._session.query_body(sql),
            headers=ROWS_HEADERS,
            timeout=self._session.timeout(is_endless=is_endless),
        )
        try:
            response = await self._http.send(request, stream=True)
            if response.status_code != OK:
                await response.aread()
                answer(response)
        except CALL_PROBLEMS as problem:
            raise unreachable(self.url, problem) from None
        lines = _Lines(response)
        remaining = aiter(lines)
        return AsyncRows(self, lines, remaining, RowReader(await anext(remaining, b"")))

    async def _call(self, method: str, path: str, **content: Any) -> httpx.Response:
        try:
            return await self._http.request(method, f"{self.url}{path}", **content)
        except CALL_PROBLEMS as problem:
            raise unreachable(self.url, problem) from None


class AsyncRows:
    """Rows as named tuples, to be read once; see Rows."""

    def __init__(self, client: AsyncClient, lines: _Lines, remaining: AsyncIterator[bytes], reader: RowReader) -> None:
        self._client = client
        self._lines = lines
        self._remaining = remaining
        self._reader = reader
        self.columns = reader.columns
        self.types = reader.types
        self.query_id = reader.query_id
        self.notes = reader.notes

    async def __aenter__(self) -> AsyncRows:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for line in self._remaining:
            if self._reader.is_row(line):
                yield self._reader.row(line)

    @property
    def figures(self) -> Mapping[str, int] | None:
        """What the query has read for its rows; see Rows."""
        return self._reader.figures

    async def dicts(self) -> AsyncIterator[dict[str, Any]]:
        async for row in self:
            yield as_dict(self.columns, row)

    async def close(self) -> None:
        """End the query, if it has not ended. Another task that waits for a row gets no more."""
        if not self._lines.is_over and self.query_id:
            with suppress(Refused, ServerUnreachable):
                await self._client.end_query(self.query_id)
        await self._lines.close()

    async def to_arrow(self) -> pa.Table:
        """All rows of a query that ends."""
        return arrow_table(self.columns, self.types, [row async for row in self])

    async def to_pandas(self) -> pd.DataFrame:
        return pandas_frame(await self.to_arrow())


class _Lines:
    """The lines of an answer, to be read once by one task; another one may close them."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._is_read = False
        self._closed = asyncio.Event()
        self.is_over = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        cutter = LineCutter()
        pieces = self._response.aiter_bytes()
        while (piece := await self._next(pieces)) is not None:
            for line in cutter.cut(piece):
                yield line

    async def _next(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        if self._closed.is_set():
            return None
        self._is_read = True
        try:
            piece = await anext(pieces, None)
            self.is_over = piece is None
        except httpx.HTTPError as problem:
            self.is_over = True
            if self._closed.is_set():
                return None
            raise broken_off(str(self._response.request.url.copy_with(path="/")), problem) from None
        finally:
            self._is_read = False
            if self._closed.is_set():
                await self._response.aclose()
        return piece

    async def close(self) -> None:
        self._closed.set()
        if not self._is_read:
            await self._response.aclose()
