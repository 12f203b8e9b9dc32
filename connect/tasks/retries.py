"""Trying again while the other side is away."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Final, TypeVar

from connect.errors import Retry
from connect.tasks.messages import RetryState, RunningState
from connect.tasks.settings import FOR_EVER, MS_PER_S, ErrorSettings
from connect.tasks.task_metrics import TaskMetrics

logger = logging.getLogger(__name__)

FIRST_DELAY_S: Final = 0.3

T = TypeVar("T")


class Retries:
    """Makes a call again for as long as it raises Retry, with longer and longer pauses; an outage is no reason to give a record up.

    `rest` passes the time, and may raise to give up; the loop of a task sets its own. With `errors.retry.timeout` the last Retry comes out when the time is over.
    """

    def __init__(
        self,
        settings: ErrorSettings,
        rest: Callable[[float], None],
        tell: Callable[[object], None],
        metrics: TaskMetrics,
    ) -> None:
        self._settings = settings
        self.rest = rest
        self._tell = tell
        self._metrics = metrics

    def call(self, operation: Callable[[], T]) -> T:
        try:
            return operation()
        except Retry as retry:
            reason = retry
        started_at = monotonic()
        attempt = 0
        while True:
            self._rest_after(reason, attempt, started_at)
            attempt += 1
            try:
                result = operation()
            except Retry as retry:
                reason = retry
            else:
                self._tell(RunningState())
                return result

    def _rest_after(self, retry: Retry, attempt: int, started_at: float) -> None:
        limit_ms = self._settings.retry_timeout_ms
        if limit_ms != FOR_EVER and (monotonic() - started_at) * MS_PER_S >= limit_ms:
            raise retry
        longest_s = self._settings.retry_delay_max_ms / MS_PER_S
        # The exponent is bounded, since a float is.
        delay_s = min(FIRST_DELAY_S * 2 ** min(attempt, 30), longest_s) if retry.after_s is None else retry.after_s
        self._metrics.retries += 1
        logger.warning("attempt %d failed, the next follows in %.1f s: %s", attempt + 1, delay_s, retry)
        self._tell(RetryState(str(retry), attempt + 1))
        self.rest(delay_s)
