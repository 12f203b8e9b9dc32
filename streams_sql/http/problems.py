"""The one place from failures to HTTP statuses and ksqlDB's codes."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.schema import INTEGER, STRING, Shape, enum, list_of, open_object
from barnabas.kernel.leadership.forwarding import ForwardingError
from streams_sql.engine.failures import (
    AssertionFailed,
    Busy,
    ConnectRefused,
    EngineError,
    NeedsQueryEndpoint,
    NotCaughtUp,
    Starting,
    StatementFailed,
    TooManyPushQueries,
    Unavailable,
    UnknownQuery,
)
from streams_sql.formats.registered import RegistryNotConfigured
from streams_sql.http.shapes import ENTITY, Shapes
from streams_sql.language.masking import has_secrets, masked
from streams_sql.problem import SqlProblem, shown

BAD_REQUEST: Final = HTTPStatus.BAD_REQUEST
NOT_ACCEPTABLE: Final = HTTPStatus.NOT_ACCEPTABLE

CODES_PER_STATUS: Final = 100
"""A code is its status with two digits more."""
BAD_STATEMENT: Final = 40001
QUERY_ENDPOINT: Final = 40002
PUSH_QUERIES_EXCEEDED: Final = 40003
ASSERTION_FAILED: Final = 41700
REGISTRY_NOT_CONFIGURED: Final = 42801
NOT_CAUGHT_UP: Final = 50301
NOT_READY: Final = 50302
RETRY_AFTER_S: Final = "2"

ERROR: Final = Shape(
    "Error",
    open_object(
        {"@type": enum("generic_error", "statement_error"), "error_code": INTEGER, "message": STRING},
        {"statementText": STRING, "entities": list_of(ENTITY)},
    ),
)


class StatementError(HttpError):
    """A statement that failed, and what those before it in the same request have answered."""

    def __init__(self, failed: StatementFailed, entities: list[dict[str, Any]]) -> None:
        code = _code(failed.problem)
        super().__init__(code // CODES_PER_STATUS, error_text(failed.text, failed.problem), code=code)
        self.members = {"statementText": masked(failed.text), "entities": entities}


class Problems:
    """`shapes` are for the results of the statements before the one that failed."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes

    def translate(self, problem: Exception) -> HttpError | None:
        match problem:
            case StatementFailed(problem=AssertionFailed() | ConnectRefused() as refused):
                code = _code(refused)
                return HttpError(code // CODES_PER_STATUS, refused.message, code=code)
            case StatementFailed():
                return StatementError(problem, self._shapes.entities(problem.done))
            case SqlProblem():
                return HttpError(BAD_REQUEST, problem.message)
            case UnknownQuery():
                return HttpError(BAD_REQUEST, str(problem))
            case TooManyPushQueries():
                return HttpError(BAD_REQUEST, str(problem), code=PUSH_QUERIES_EXCEEDED)
            case Busy():
                return _later(HTTPStatus.TOO_MANY_REQUESTS, problem)
            case NotCaughtUp():
                return _later(HTTPStatus.SERVICE_UNAVAILABLE, problem, NOT_CAUGHT_UP)
            case Starting():
                return _later(HTTPStatus.SERVICE_UNAVAILABLE, problem, NOT_READY)
            case Unavailable() | ForwardingError():
                return _later(HTTPStatus.SERVICE_UNAVAILABLE, problem)
            case EngineError():
                return HttpError(HTTPStatus.INTERNAL_SERVER_ERROR, str(problem))
        return None


def _code(problem: SqlProblem) -> int:
    match problem:
        case NeedsQueryEndpoint():
            return QUERY_ENDPOINT
        case RegistryNotConfigured():
            return REGISTRY_NOT_CONFIGURED
        case AssertionFailed():
            return ASSERTION_FAILED
        case ConnectRefused(status=status):
            return status * CODES_PER_STATUS
    return BAD_STATEMENT


def _later(status: int, problem: Exception, code: int | None = None) -> HttpError:
    """The client may try again."""
    return HttpError(status, str(problem), code=code, headers={"retry-after": RETRY_AFTER_S})


def shape(error: HttpError) -> Mapping[str, Any]:
    """The body of an error. The kernel's own errors have their statuses as codes."""
    code = error.code if error.code >= CODES_PER_STATUS * BAD_REQUEST else error.code * CODES_PER_STATUS
    common = {"error_code": code, "message": error.message}
    if isinstance(error, StatementError):
        return {"@type": "statement_error", **common, **error.members}
    return {"@type": "generic_error", **common}


def error_text(text: str, problem: SqlProblem) -> str:
    """The message, with the place in the statement and the line with a caret below it."""
    position = problem.position
    place = "" if position is None else f"line {position.line}:{position.column}: "
    return place + (problem.message if has_secrets(text) else shown(text, problem))
