"""What is counted of requests, and the page that tells it to Prometheus."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from prometheus_client import ProcessCollector, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.responses import Response

from barnabas.kernel.build_info import build_info
from barnabas.kernel.http.operation import SERVICE_TAG, Operation, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import STRING

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS_S: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
BUCKET_LABELS: Final = (*map(str, BUCKETS_S), "+Inf")
NO_ROUTE: Final = "none"
"""The route of requests that match none: their paths are the clients' invention and would be labels without end."""
KNOWN_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_OPERATION: Final = Operation(
    "getMetrics", SERVICE_TAG, "Get metrics in the format of Prometheus", {200: content(STRING, "text/plain")}
)

Families: TypeAlias = Callable[[], Iterable[Metric]]


class RouteMetrics:
    """The requests of one route. Counting one costs a dictionary look-up and two additions."""

    __slots__ = ("_buckets", "_seconds", "method", "statuses", "template")

    def __init__(self, method: str, template: str) -> None:
        self.method = method
        self.template = template
        self.statuses: Counter[int] = Counter()
        self._buckets = [0] * (len(BUCKETS_S) + 1)
        self._seconds = 0.0

    def count(self, status: int, seconds: float) -> None:
        self.statuses[status] += 1
        self._buckets[bisect_left(BUCKETS_S, seconds)] += 1
        self._seconds += seconds

    def add_to(self, requests: Metric, latency: Metric) -> None:
        labels = {"method": self.method, "route": self.template}
        for status, count in sorted(self.statuses.items()):
            requests.add_sample(f"{requests.name}_total", {**labels, "status": str(status)}, count)
        for label, count in zip(BUCKET_LABELS, accumulate(self._buckets), strict=True):
            latency.add_sample(f"{latency.name}_bucket", {**labels, "le": label}, count)
        latency.add_sample(f"{latency.name}_count", labels, sum(self._buckets))
        latency.add_sample(f"{latency.name}_sum", labels, self._seconds)


class RequestMetrics:
    """The requests of a service, and the families that the service adds to its page. `prefix` begins each name."""

    def __init__(self, prefix: str, more: Sequence[Families] = ()) -> None:
        self._prefix = prefix
        self._more = more
        self._routes: dict[tuple[str, str], RouteMetrics] = {}
        self._process = ProcessCollector(registry=None)
        self.in_flight = 0

    def of(self, method: str, route: Route | None) -> RouteMetrics:
        key = (method if method in KNOWN_METHODS else "other", NO_ROUTE if route is None else route.template)
        found = self._routes.get(key)
        if found is None:
            found = self._routes[key] = RouteMetrics(*key)
        return found

    def route(self) -> Route:
        return Route("GET", "/metrics", self._page, _OPERATION)

    async def _page(self, _request: Request) -> Response:
        families = list(self.families())
        text = await asyncio.to_thread(generate_latest, _Families(families))
        return Response(text, media_type=CONTENT_TYPE)

    def families(self) -> Iterator[Metric]:
        requests = Metric(f"{self._prefix}_http_requests", "Requests that were answered.", "counter")
        latency = Metric(f"{self._prefix}_http_request_seconds", "Time from a request to its answer.", "histogram")
        for route in self._routes.values():
            route.add_to(requests, latency)
        in_flight = Metric(f"{self._prefix}_http_requests_in_flight", "Requests that wait for their answers.", "gauge")
        in_flight.add_sample(in_flight.name, {}, self.in_flight)
        yield from (build_info(), requests, latency, in_flight)
        for families in self._more:
            yield from families()
        yield from self._process.collect()


class _Families(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families
