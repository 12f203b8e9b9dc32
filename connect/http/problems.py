"""The one place from failures to HTTP statuses."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.kafka_log.failures import StoreFailure, Superseded
from barnabas.kernel.leadership.forwarding import ForwardingError
from connect.cluster import failures
from connect.cluster.failures import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Forbidden,
    NotFound,
    Unauthorised,
    WorkerError,
)
from connect.errors import ConnectError
from connect.plugins.catalogue import UnknownPlugin

BAD_REQUEST: Final = 400
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
CONFLICT: Final = 409
INTERNAL_ERROR: Final = 500
UNAVAILABLE: Final = 503

_STATUSES: Final[tuple[tuple[type[Exception], int], ...]] = (
    (NotFound, NOT_FOUND),
    (AlreadyExists, CONFLICT),
    (Conflict, CONFLICT),
    (Superseded, CONFLICT),
    (BadRequest, BAD_REQUEST),
    (Forbidden, FORBIDDEN),
    (Unauthorised, FORBIDDEN),
    (StoreFailure, INTERNAL_ERROR),
    (WorkerError, INTERNAL_ERROR),
    (UnknownPlugin, BAD_REQUEST),
    (ConnectError, BAD_REQUEST),
)


def translate(problem: Exception) -> HttpError | None:
    if isinstance(problem, ForwardingError):
        return HttpError(CONFLICT, f"{failures.CONFLICT}: {problem}")
    for kind, status in _STATUSES:
        if isinstance(problem, kind):
            return HttpError(status, str(problem))
    return None
