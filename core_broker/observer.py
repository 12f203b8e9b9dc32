"""Who looks at requests as they pass: the quotas of clients, and metrics. While there is neither, there is no observer."""

from __future__ import annotations

import types
from collections.abc import Coroutine, Generator
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from core_broker.metrics.requests import PRODUCE_KEY, ApiMetrics
from core_broker.quotas.client_quotas import PERCENT_PER_S, ClientQuotas

if TYPE_CHECKING:
    from core_broker.context import RequestContext

SAMPLE_EVERY: Final = 32
"""Of requests that come by the ten thousand in a second one in so many is timed: looking costs more than counting."""

ACKS_NONE: Final = 0
_US_PER_S: Final = 1_000_000


class Observation:
    """One request under observation: what it uses, and how long it takes on each part of its way."""

    __slots__ = (
        "_charged",
        "_observer",
        "_time_throttle_ms",
        "answered_s",
        "api",
        "arrived_s",
        "client_id",
        "exempt",
        "handler_s",
        "size_bytes",
        "started_s",
        "throttle_ms",
        "user",
        "written_s",
    )

    def __init__(
        self, observer: Observer, api: ApiMetrics, context: RequestContext, size_bytes: int, started_s: float
    ) -> None:
        self._observer = observer
        self.api = api
        self.user = context.principal.name
        self.client_id = context.client_id or ""
        self.size_bytes = size_bytes
        self.arrived_s = self.started_s = started_s
        self.handler_s = self.answered_s = self.written_s = 0.0
        self.exempt = False
        self.throttle_ms = 0
        """For how long the client must pause, as far as is known."""
        self._charged = False
        self._time_throttle_ms = 0

    def charge_time(self, spent_s: float) -> int:
        """Counts the time of the event loop that the request has cost; returns the pause that follows. The first call counts."""
        quotas = self._observer.quotas
        if not self._charged and not self.exempt:
            self._charged = True
            self._time_throttle_ms = quotas.request.record(
                self.user, self.client_id, spent_s * PERCENT_PER_S, quotas.clock_ms()
            )
        return self._time_throttle_ms

    # What the connection tells.

    def handled(self) -> None:
        """The handler has returned: with the answer, or with a promise of it."""
        self.handler_s += perf_counter() - self.started_s

    def answer(self, response: Any) -> int:
        """The answer's turn has come. The client is told of its pause in it; returns the pause."""
        self.written_s = perf_counter()
        told_ms = getattr(response, "throttle_time_ms", 0)
        throttle_ms = max(self.throttle_ms, self.charge_time(self.handler_s), told_ms)
        if throttle_ms > told_ms and hasattr(response, "throttle_time_ms"):
            response.throttle_time_ms = throttle_ms
        self.throttle_ms = throttle_ms
        return throttle_ms

    def end(self, response: Any) -> None:
        """The answer has been handed over, or there is none."""
        now_s = perf_counter()
        written_s = self.written_s or now_s
        if not self.exempt:
            quotas = self._observer.quotas
            percent = (now_s - written_s) * PERCENT_PER_S
            quotas.request.add(self.user, self.client_id, percent, quotas.clock_ms())
        if self._observer.counting:
            self._count(response, written_s, now_s)

    def _count(self, response: Any, written_s: float, now_s: float) -> None:
        api = self.api
        answered_s = self.answered_s or written_s
        api.total_us.add(int((now_s - self.arrived_s) * _US_PER_S))
        api.request_queue_us.add(int((self.started_s - self.arrived_s) * _US_PER_S))
        api.local_us.add(int(self.handler_s * _US_PER_S))
        api.remote_us.add(int((answered_s - self.started_s - self.handler_s) * _US_PER_S))
        api.response_queue_us.add(int((written_s - answered_s) * _US_PER_S))
        api.response_send_us.add(int((now_s - written_s) * _US_PER_S))
        api.throttle_us.add(self.throttle_ms * 1000)
        api.request_bytes.add(self.size_bytes)
        if response is not None:
            api.count_errors(response)

    # What the fetch handler asks.

    def fetch_max_bytes(self, limit: int) -> int:
        """How much may be read: more than a quota allows in all its time would never be sent."""
        burst = self._observer.quotas.fetch.burst(self.user, self.client_id)
        return limit if burst is None else min(limit, int(burst))

    def fetch_throttle_ms(self, size_bytes: int) -> int:
        """Counts an answer of this size. If the client must pause it gets an empty one instead, and nothing is counted."""
        quotas = self._observer.quotas
        now_ms = quotas.clock_ms()
        spent_s = self.handler_s or perf_counter() - self.started_s
        is_first = quotas.fetch.is_idle(self.user, self.client_id, now_ms)
        bandwidth_ms = quotas.fetch.record(self.user, self.client_id, size_bytes, now_ms)
        time_ms = self.charge_time(spent_s)
        if is_first and time_ms == 0:
            # One batch alone is more than the quota allows in all its time. It goes out, and the pause follows: else it never would.
            self.throttle_ms = bandwidth_ms
            return 0
        throttle_ms = max(bandwidth_ms, time_ms)
        if throttle_ms > 0:
            quotas.fetch.add(self.user, self.client_id, -size_bytes, now_ms)
        return throttle_ms


class Observer:
    """Belongs to the server. `counting` says that somebody reads metrics."""

    def __init__(self, quotas: ClientQuotas, *, counting: bool) -> None:
        self.quotas = quotas
        self.counting = counting
        self.apis: dict[int, ApiMetrics] = {}

    def begin(self, context: RequestContext, request: Any, size_bytes: int, started_s: float) -> Observation:
        """A request is about to be handled."""
        observation = Observation(self, self.api(context.api_key), context, size_bytes, started_s)
        if context.api_key == PRODUCE_KEY:
            quotas = self.quotas
            observation.exempt = request.acks == ACKS_NONE
            observation.throttle_ms = quotas.produce.record(
                observation.user, observation.client_id, size_bytes, quotas.clock_ms()
            )
        return observation

    def api(self, key: int) -> ApiMetrics:
        found = self.apis.get(key)
        if found is None:
            found = self.apis[key] = ApiMetrics(key)
        return found


@types.coroutine
def timed(handler: Coroutine[Any, Any, Any], observation: Observation) -> Generator[Any, Any, Any]:
    """Runs a handler that is a coroutine, and adds up the time of its steps; the time that it waits is not its own."""
    resume, value = handler.send, None
    while True:
        started_s = perf_counter()
        try:
            awaited = resume(value)
        except StopIteration as end:
            return end.value
        finally:
            observation.handler_s += perf_counter() - started_s
        try:
            resume, value = handler.send, (yield awaited)
        except BaseException as problem:  # noqa: BLE001 - a cancellation, most often; it is the handler's to deal with
            resume, value = handler.throw, problem
