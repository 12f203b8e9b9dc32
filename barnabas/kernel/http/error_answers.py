"""The one place where an exception becomes a status and a body, which is `{"error_code": …, "message": …}` unless a service has its own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from barnabas.kernel.http.answers import JSON_TYPE, json_answer
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request

if TYPE_CHECKING:
    from starlette.responses import Response

logger = logging.getLogger(__name__)

INTERNAL_ERROR: Final = 500

Translate: TypeAlias = Callable[[Exception], HttpError | None]
"""How a service names its own exceptions; None for those that it does not know."""
ChooseType: TypeAlias = Callable[[Request], str]
"""The content type of an error, by what the client accepts."""
Shape: TypeAlias = Callable[[HttpError], Mapping[str, Any]]
"""The body of an error."""


def translate_nothing(_problem: Exception) -> None:
    return None


def always_json(_request: Request) -> str:
    return JSON_TYPE


def code_and_message(error: HttpError) -> Mapping[str, Any]:
    return {"error_code": error.code, "message": error.message}


class ErrorAnswers:
    """Turns exceptions into answers. What the service does not know is logged with its traceback, and told without it."""

    def __init__(
        self,
        translate: Translate = translate_nothing,
        choose_type: ChooseType = always_json,
        shape: Shape = code_and_message,
    ) -> None:
        self._translate = translate
        self._choose_type = choose_type
        self._shape = shape

    def answer(self, request: Request, problem: Exception) -> Response:
        error = problem if isinstance(problem, HttpError) else self._translate(problem)
        if error is None:
            logger.error("a request has failed: %s %r", request.method, request.raw_path, exc_info=problem)
            error = HttpError(INTERNAL_ERROR, f"Internal server error; the log tells more of request {request.id}")
        return json_answer(
            self._shape(error), error.status, media_type=self._choose_type(request), headers=error.headers
        )
