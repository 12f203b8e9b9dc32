"""What the log tells of requests: those that failed through no fault of the client, slow ones, and on demand every one.

For every request, set `request.log=all`, or the level of this logger to DEBUG; both can be done while the broker runs, with `kafka-configs`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from barnabas.kernel.line_budget import LineBudget
from barnabas.kernel.logging import fields
from barnabas.kernel.service_settings import ALL_REQUESTS, NO_REQUESTS
from barnabas.wire import apis
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.metrics.requests import ErrorFinder, error_finder

if TYPE_CHECKING:
    from core_broker.connection import Connection
    from core_broker.context import RequestContext
    from core_broker.dispatch import Call

logger = logging.getLogger(__name__)

TROUBLE: Final = frozenset(
    {
        ErrorCode.UNKNOWN_SERVER_ERROR,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.LOG_DIR_NOT_FOUND,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    }
)
"""Errors that are the broker's, or its disk's. All others are answers to what a client has asked, and nothing for an operator."""

_FETCH_KEY: Final = 1
_JOIN_GROUP_KEY: Final = 11
_SYNC_GROUP_KEY: Final = 14
_MS_PER_S: Final = 1000


class RequestLog:
    """`tell_after_s` is how long a request takes that concerns it: one comparison is all that others cost."""

    def __init__(self) -> None:
        self.tell_after_s = math.inf
        self._wants = NO_REQUESTS
        self._slow_s = math.inf
        self._budget = LineBudget()

    def configure(self, wants: str, slow_ms: int) -> None:
        self._wants = wants
        self._slow_s = math.inf if wants == NO_REQUESTS else slow_ms / _MS_PER_S
        self.follow_level()

    def follow_level(self) -> None:
        """To be called whenever the level of a logger may have changed."""
        self.tell_after_s = 0.0 if self._tells_all() else self._slow_s

    def tell(self, connection: Connection, call: Call, response: Any, seconds: float) -> None:
        """A request that took at least `tell_after_s` has been answered."""
        is_slow = seconds - _wanted_wait_s(call) >= self._slow_s
        if not self._tells_all() and not (is_slow and self._budget.has_room()):
            return
        errors = _error_names(() if response is None else _errors(call.key, response))
        logger.log(
            logging.WARNING if is_slow else logging.INFO if self._wants == ALL_REQUESTS else logging.DEBUG,
            "%s from %s: %s after %.1f ms%s%s",
            call,
            connection,
            ", ".join(errors) or "no error",
            seconds * _MS_PER_S,
            "; slow" if is_slow else "",
            self._budget.left_out() if is_slow else "",
            extra=fields(**_of(call), **_at(connection), duration_ms=round(seconds * _MS_PER_S, 3), errors=errors),
        )

    def tell_trouble(self, connection: Connection, call: Call, response: Any, seconds: float) -> None:
        """An answer that is none of the hot ones has an error of ours in it."""
        codes = [code for code in _errors(call.key, response) if code in TROUBLE]
        if self._wants == NO_REQUESTS or not self._budget.has_room():
            return
        errors = _error_names(codes)
        logger.warning(
            "%s from %s failed: %s%s",
            call,
            connection,
            ", ".join(errors),
            self._budget.left_out(),
            extra=fields(**_of(call), **_at(connection), duration_ms=round(seconds * _MS_PER_S, 3), errors=errors),
        )

    def tell_failure(self, context: RequestContext, error: KafkaError, waited_ms: int | None = None) -> None:
        """Part of a produce or fetch has failed through no fault of the client."""
        if self._wants == NO_REQUESTS or not self._budget.has_room():
            return
        name = apis.API_NAMES[context.api_key]
        logger.warning(
            "%s v%d from %s:%d on listener %s (client id %r, correlation id %d) failed: %s: %s%s",
            name,
            context.version,
            context.host,
            context.port,
            context.listener.name,
            context.client_id,
            context.correlation_id,
            error.code.name,
            error.message,
            self._budget.left_out(),
            extra=fields(
                api=name,
                api_version=context.version,
                client_id=context.client_id,
                correlation_id=context.correlation_id,
                connection=f"{context.host}:{context.port}",
                listener=context.listener.name,
                principal=str(context.principal),
                duration_ms=waited_ms,
                errors=[error.code.name],
            ),
        )

    def _tells_all(self) -> bool:
        return self._wants == ALL_REQUESTS or logger.isEnabledFor(logging.DEBUG)


def request_fields(call: Call, connection: Connection) -> dict[str, dict[str, object]]:
    """What a line about a request that could not be answered tells programs."""
    return fields(**_of(call), **_at(connection))


def _of(call: Call) -> dict[str, object]:
    return {
        "api": call.endpoint.name,
        "api_version": call.version,
        "client_id": call.client_id,
        "correlation_id": call.correlation_id,
    }


def _at(connection: Connection) -> dict[str, object]:
    return {
        "connection": f"{connection.host}:{connection.port}",
        "listener": connection.listener.name,
        "principal": str(connection.principal),
    }


def _wanted_wait_s(call: Call) -> float:
    """How long the client itself, or the group that it is in, lets the request wait."""
    if call.key == _FETCH_KEY:
        wait_ms: float = call.request.max_wait_ms
    elif call.key == _JOIN_GROUP_KEY:
        wait_ms = max(call.request.rebalance_timeout_ms, call.request.session_timeout_ms)
    else:
        wait_ms = math.inf if call.key == _SYNC_GROUP_KEY else 0.0
    return wait_ms / _MS_PER_S


def _errors(key: int, response: Any) -> list[int]:
    find = _finder(key)
    return [] if find is None else [code for code in find(response) if code]


@cache
def _finder(key: int) -> ErrorFinder | None:
    return error_finder(apis.response_class(key))


def _error_names(codes: Iterable[int]) -> list[str]:
    """Each once: an answer may have the same error for hundreds of partitions."""
    return sorted({ErrorCode(code).name for code in codes})
