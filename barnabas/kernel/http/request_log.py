"""The line that the log has for a request: for each, or for those that went wrong or took long."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from barnabas.kernel.line_budget import LineBudget
from barnabas.kernel.logging import fields
from barnabas.kernel.service_settings import ALL_REQUESTS, NO_REQUESTS, REQUEST_LOG_SLOW_DEFAULT_MS

if TYPE_CHECKING:
    from starlette.types import Scope

    from barnabas.kernel.http.metrics import RouteMetrics

SERVER_ERROR: Final = 500

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RequestLogRules:
    """What the operator wants to see: every request, problems, or nothing."""

    wants: str = NO_REQUESTS
    slow_ms: int = REQUEST_LOG_SLOW_DEFAULT_MS


class RequestLog:
    """`status` and `slow_s` say which requests concern it, so that all others cost two comparisons."""

    def __init__(self, rules: RequestLogRules, budget: LineBudget | None = None) -> None:
        self.tells_all = rules.wants == ALL_REQUESTS or logger.isEnabledFor(logging.DEBUG)
        silent = rules.wants == NO_REQUESTS and not self.tells_all
        self.status = 0 if self.tells_all else 1_000 if silent else SERVER_ERROR
        self.slow_s = float("inf") if silent else rules.slow_ms / 1000
        self._level = logging.INFO if rules.wants == ALL_REQUESTS else logging.DEBUG
        self._budget = budget or LineBudget()

    def tell(
        self, scope: Scope, request_id: str, route: RouteMetrics, status: int, seconds: float, *, waits: bool
    ) -> None:
        """`waits`: an answer that takes its time, since it streams or has none left to hear it."""
        is_slow = seconds >= self.slow_s and not waits
        is_problem = is_slow or status >= SERVER_ERROR
        if not self.tells_all and not (is_problem and self._budget.has_room()):
            return
        client = scope["client"][0] if scope["client"] else "-"
        path = scope["raw_path"].decode("ascii", "backslashreplace")
        logger.log(
            logging.WARNING if is_problem else self._level,
            "%s %s: %d after %.1f ms, for %s%s%s",
            scope["method"],
            path,
            status,
            1000 * seconds,
            client,
            "; slow" if is_slow else "",
            self._budget.left_out(),
            extra=fields(
                request_id=request_id,
                method=scope["method"],
                path=path,
                route=route.template,
                status=status,
                duration_ms=round(1000 * seconds, 3),
                client=client,
            ),
        )
