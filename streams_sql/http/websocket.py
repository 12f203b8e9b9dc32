"""Queries over a websocket: /ws/query. First the columns, then a text for each row; the last text says why it ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

import orjson

from barnabas.kernel.http.errors import HttpError
from streams_sql.engine.client_queries.printing import PrintLines
from streams_sql.engine.client_queries.results import Result
from streams_sql.engine.statements.request import SqlRequest
from streams_sql.http.engine_provider import EngineProvider
from streams_sql.http.problems import BAD_REQUEST, NOT_CAUGHT_UP, Problems
from streams_sql.http.row_forms import StreamedRows
from streams_sql.http.schema_shapes import query_fields
from streams_sql.http.sql_request import parse_object, parse_statement_request

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

PATH: Final = "/ws/query"
VERSION: Final = "1"
DONE: Final = "done"
NORMAL: Final = 1000
REFUSED: Final = 1003
FAILED: Final = 1011
TRY_AGAIN_LATER: Final = 1013
REASON_MAX_BYTES: Final = 123
"""Of a closing frame, whose form has no room for more."""
CUT: Final = "..."
INTERNAL_ERROR: Final = 500

_logger = logging.getLogger(__name__)


class QuerySocket:
    """The ASGI application for websockets."""

    def __init__(self, engine: EngineProvider, problems: Problems) -> None:
        self._engine = engine
        self._problems = problems

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        if scope["path"] != PATH:
            await send({"type": "websocket.close"})
            return
        await send({"type": "websocket.accept"})
        serving = asyncio.ensure_future(self._serve(scope, send))
        watching = asyncio.ensure_future(_gone(receive))
        await asyncio.wait((serving, watching), return_when=asyncio.FIRST_COMPLETED)
        is_over = serving.done()
        serving.cancel()
        watching.cancel()
        await asyncio.gather(serving, watching, return_exceptions=True)
        if is_over:
            # While a task waits for what the client sends, the server does not send the closing frame.
            await _close(send, *serving.result())

    async def _serve(self, scope: Scope, send: Send) -> tuple[int, str]:
        """Returns the code of the closing frame, and its words."""
        try:
            async with aclosing(self._texts(_sql_request(scope))) as texts:
                async for text in texts:
                    await send({"type": "websocket.send", "text": text.decode()})
        except Exception as problem:  # noqa: BLE001 - every failure ends with words for the client
            return self._words(problem)
        return NORMAL, DONE

    async def _texts(self, sql: SqlRequest) -> AsyncGenerator[bytes]:
        engine = self._engine()
        if sql.command_sequence_number:
            await engine.reach(sql.command_sequence_number)
        result = await engine.query(sql)
        try:
            if isinstance(result, PrintLines):
                async for line in result:
                    yield orjson.dumps(line)
                return
            yield orjson.dumps(_fields(result))
            form = StreamedRows(result)
            async for batch in result.batches:
                for row in form.kept_objects(batch):
                    yield row
        finally:
            await result.close()

    def _words(self, problem: Exception) -> tuple[int, str]:
        """The code of the closing frame, and the message."""
        error = problem if isinstance(problem, HttpError) else self._problems.translate(problem)
        if error is None:
            _logger.error("a query over a websocket failed", exc_info=problem)
            return FAILED, "Internal server error; the log tells more"
        if error.code == NOT_CAUGHT_UP:
            return TRY_AGAIN_LATER, error.message
        return REFUSED if error.status < INTERNAL_ERROR else FAILED, error.message


def _sql_request(scope: Scope) -> SqlRequest:
    parameters = parse_qs(scope["query_string"].decode("latin-1"))
    version = parameters.get("version", [VERSION])[0]
    if version != VERSION:
        raise HttpError(BAD_REQUEST, f"Received invalid api version: {version}")
    texts = parameters.get("request")
    if texts is None:
        raise HttpError(BAD_REQUEST, "Error parsing request: missing request parameter")
    return parse_statement_request(parse_object(texts[0], "the request"))


def _fields(result: Result) -> list[dict[str, Any]]:
    keys = frozenset(column.name for column, is_key in zip(result.columns, result.keys, strict=True) if is_key)
    return query_fields(result.columns, keys)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "websocket.disconnect":
        pass


async def _close(send: Send, code: int, message: str) -> None:
    """The message as a whole in a text, and as much of it as fits in the closing frame."""
    await send({"type": "websocket.send", "text": orjson.dumps({"error": message}).decode()})
    reason = message
    if len(message.encode()) > REASON_MAX_BYTES:
        reason = message.encode()[: REASON_MAX_BYTES - len(CUT)].decode("utf-8", "ignore") + CUT
    await send({"type": "websocket.close", "code": code, "reason": reason})
