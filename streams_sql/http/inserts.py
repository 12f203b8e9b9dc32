"""Rows that a client streams into a source: /inserts-stream."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import orjson
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import Operation, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import INTEGER, STRING, Shape, enum, list_of, open_object
from streams_sql.engine.failures import EngineError
from streams_sql.engine.statements.inserts import Inserter
from streams_sql.http.engine_provider import EngineProvider
from streams_sql.http.live_response import LiveResponse
from streams_sql.http.media import DELIMITED, JSON, KSQL_JSON, accepted
from streams_sql.http.operation import STATEMENT_ERRORS
from streams_sql.http.problems import BAD_REQUEST, BAD_STATEMENT, Problems, shape
from streams_sql.http.sql_request import parse_object, text_member
from streams_sql.problem import SqlProblem

if TYPE_CHECKING:
    from starlette.types import Receive

LINE_MAX_BYTES: Final = 1024 * 1024
LINES_AT_ONCE_MAX: Final = 200
ROWS_UNDER_WAY_MAX: Final = 1_000
"""Rows of one client that wait for their acks; then no more of them are read."""

_Sent: TypeAlias = "asyncio.Future[None] | HttpError"
"""What becomes of a row."""

_ACK: Final = Shape(
    "InsertAck",
    open_object({"status": enum("ok", "error"), "seq": INTEGER}, {"error_code": INTEGER, "message": STRING}),
)
_INSERT: Final = Operation(
    "insertRows",
    "Inserts",
    "Insert rows into a source: the first line names it, each that follows is a row",
    {
        200: {
            **content({**STRING, "description": "An ack a line.", "contentSchema": _ACK}, DELIMITED),
            **content(list_of(_ACK), JSON, KSQL_JSON),
        },
        **STATEMENT_ERRORS,
    },
    body=content(
        {**STRING, "description": "JSON objects, one a line."},
        DELIMITED,
        example='{"target": "readings"}\n{"celsius": 21}',
    ),
)


class InsertPages:
    """Streams end when `stopping` is set: their clients may keep them open for ever."""

    def __init__(self, engine: EngineProvider, problems: Problems, stopping: asyncio.Event) -> None:
        self._engine = engine
        self._problems = problems
        self._stopping = stopping

    def routes(self) -> Iterator[Route]:
        yield Route("POST", "/inserts-stream", self.insert, _INSERT)

    async def insert(self, request: Request) -> Response:
        """The first line says where the rows go; each that follows is one."""
        media_type = accepted(request, (DELIMITED, JSON, KSQL_JSON))
        lines = Lines(request.receive)
        target = text_member(parse_object(await lines.next() or b"", "the first line"), "target")
        try:
            inserter = self._engine().inserter(target)
        except SqlProblem as problem:
            raise HttpError(BAD_REQUEST, problem.message, code=BAD_STATEMENT) from None
        return InsertResponse(inserter, lines, media_type, self._problems, self._stopping)


class Lines:
    """The lines of a body as they come, without empty ones."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._waiting: deque[bytes] = deque()
        self._rest = b""
        self._is_over = False

    async def next(self) -> bytes | None:
        """None after the last. HttpError for a line without end, ClientDisconnect."""
        while not self._waiting:
            if self._is_over:
                last, self._rest = self._rest.strip(), b""
                return last or None
            await self._read()
        return self._waiting.popleft()

    async def some(self, most: int) -> list[bytes]:
        """Those that are there, at least one; none after the last."""
        first = await self.next()
        if first is None:
            return []
        return [first, *(self._waiting.popleft() for _ in range(min(most - 1, len(self._waiting))))]

    async def _read(self) -> None:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        *lines, self._rest = (self._rest + message.get("body", b"")).split(b"\n")
        self._waiting.extend(filter(bytes.strip, lines))
        if len(self._rest) > LINE_MAX_BYTES:
            raise HttpError(BAD_REQUEST, f"a line is longer than the {LINE_MAX_BYTES} bytes allowed")
        self._is_over = not message.get("more_body", False)


class InsertResponse(LiveResponse):
    """An ack for each row, in order, as soon as it is in the topic. A row that does not fit is reported and passed over; what ends the stream
    is a line that is no row at all, or a topic that cannot be written to."""

    def __init__(
        self, inserter: Inserter, lines: Lines, media_type: str, problems: Problems, stopping: asyncio.Event
    ) -> None:
        super().__init__(media_type)
        self._inserter = inserter
        self._lines = lines
        self._problems = problems
        self._stopping = stopping
        self._is_array = media_type != DELIMITED

    async def watch(self, _receive: Receive) -> None:
        """That the client has gone shows where its rows come from."""
        await self._stopping.wait()

    async def pieces(self) -> AsyncGenerator[bytes]:
        """Each ack is a piece of its own: there are clients that take what comes at once for one."""
        if self._is_array:
            yield b"["
        async for place, ack in self._acks():
            text = orjson.dumps(ack)
            yield (b"," + text if place else text) if self._is_array else text + b"\n"
        if self._is_array:
            yield b"]"

    async def _acks(self) -> AsyncIterator[tuple[int, dict[str, Any]]]:
        sent: asyncio.Queue[_Sent | None] = asyncio.Queue(ROWS_UNDER_WAY_MAX)
        sending = asyncio.create_task(self._send_rows(sent))
        try:
            place = 0
            while (row := await sent.get()) is not None:
                ack, is_last = await self._ack(place, row)
                yield place, ack
                if is_last:
                    return
                place += 1
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def _send_rows(self, sent: asyncio.Queue[_Sent | None]) -> None:
        """Puts what becomes of each row, and None at the end."""
        try:
            while lines := await self._lines.some(LINES_AT_ONCE_MAX):
                rows, problem = _parsed(lines)
                for row in await self._inserter.insert(rows):
                    await sent.put(row)
                if problem is not None:
                    await sent.put(problem)
        except ClientDisconnect:
            pass
        except HttpError as problem:
            await sent.put(problem)
        await sent.put(None)

    async def _ack(self, place: int, row: _Sent) -> tuple[dict[str, Any], bool]:
        """With whether nothing comes behind it."""
        try:
            if isinstance(row, HttpError):
                raise row
            await row
        except SqlProblem as problem:
            return self._rejection(place, problem), False
        except (HttpError, EngineError) as problem:
            return self._rejection(place, problem), True
        return {"status": "ok", "seq": place}, False

    def _rejection(self, place: int, problem: Exception) -> dict[str, Any]:
        error = problem if isinstance(problem, HttpError) else self._problems.translate(problem)
        assert error is not None, "failures of the engine have codes"
        return {**shape(error), "status": "error", "seq": place}


def _parsed(lines: list[bytes]) -> tuple[list[Mapping[str, Any]], HttpError | None]:
    """Rows up to the first line that is none, and what is wrong with that one."""
    rows: list[Mapping[str, Any]] = []
    for line in lines:
        try:
            rows.append(parse_object(line, "a line"))
        except HttpError as problem:
            return rows, problem
    return rows, None
