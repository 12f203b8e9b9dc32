"""The rows of a query on their way to the client."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

from starlette.responses import Response

from barnabas.kernel.http.answers import JsonAnswer
from barnabas.kernel.http.errors import HttpError
from streams_sql.engine.client_queries.results import Result, ResultKind
from streams_sql.http.live_response import LiveResponse
from streams_sql.http.problems import Problems, shape
from streams_sql.http.row_forms import RowForm

WHOLE_MAX_BYTES: Final = 256 * 1024
"""A pull query's answer that is not larger goes out at once, and a failure on the way to it has a status of its own."""
INTERNAL_ERROR: Final = 500

_logger = logging.getLogger(__name__)


async def result_response(result: Result, form: RowForm, media_type: str, problems: Problems) -> Response:
    """What a client is answered; from then on the answer sees to the result's end."""
    if result.kind is ResultKind.PUSH:
        return ResultResponse(result, form, media_type, problems, form.head())
    parts, size_bytes = [form.head()], 0
    try:
        async for batch in result.batches:
            part = form.rows(batch)
            parts.append(part)
            size_bytes += len(part)
            if size_bytes > WHOLE_MAX_BYTES:
                return ResultResponse(result, form, media_type, problems, b"".join(parts))
    except BaseException:
        await result.close()
        raise
    parts.append(form.end())
    await result.close()
    return JsonAnswer(b"".join(parts), media_type=media_type)


class ResultResponse(LiveResponse):
    """`begun` has been encoded already."""

    def __init__(self, result: Result, form: RowForm, media_type: str, problems: Problems, begun: bytes) -> None:
        super().__init__(media_type)
        self._result = result
        self._form = form
        self._problems = problems
        self._begun = begun

    async def pieces(self) -> AsyncGenerator[bytes]:
        yield self._begun
        in_frames = self._result.kind is ResultKind.PUSH
        try:
            async for batch in self._result.batches:
                for frame in self._form.frames(batch) if in_frames else (self._form.rows(batch),):
                    yield frame
        except Exception as problem:  # noqa: BLE001 - the head is out: the client gets it in the response itself
            yield self._form.error(self._error(problem))
        else:
            yield self._form.end()

    async def end(self) -> None:
        await self._result.close()

    def _error(self, problem: Exception) -> Mapping[str, Any]:
        error = self._problems.translate(problem)
        if error is None:
            _logger.error("query %s failed", self._result.query_id, exc_info=problem)
            error = HttpError(INTERNAL_ERROR, "Internal server error; the log tells more")
        return shape(error)
