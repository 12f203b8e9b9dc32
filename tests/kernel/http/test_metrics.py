"""The page of metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from starlette.responses import Response

from barnabas.kernel.http.metrics import BUCKETS_S, CONTENT_TYPE, RequestMetrics, RouteMetrics
from barnabas.kernel.http.request import Request
from tests.kernel.http.service import Service, route


async def fine(_request: Request) -> Response:
    return Response()


def page(service: Service) -> str:
    answer = service.ask("GET", "/metrics")
    assert answer.headers["content-type"] == CONTENT_TYPE
    return answer.body.decode()


def samples(text: str, name: str) -> dict[tuple[str, ...], float]:
    """Values of a name by those of its labels, in the order of their names."""
    found = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {tuple(value for _, value in sorted(s.labels.items())): s.value for s in found if s.name == name}


def test_requests_are_counted_by_route_and_status() -> None:
    with Service([route("GET", "/a/{b}", fine)]) as service:
        for path in ("/a/1", "/a/2", "/a", "/nope"):
            service.ask("GET", path)
        service.ask("PUT", "/a/1")
        service.ask("BREW", "/a/1")
        text = page(service)
    assert samples(text, "test_http_requests_total") == {
        ("GET", "/a/{b}", "200"): 2,
        ("GET", "none", "404"): 2,
        ("PUT", "none", "405"): 1,
        ("other", "none", "405"): 1,
    }
    buckets = samples(text, "test_http_request_seconds_bucket")
    assert buckets["+Inf", "GET", "/a/{b}"] == 2
    assert samples(text, "test_http_requests_in_flight") == {(): 1}
    assert re.search(r"^process_resident_memory_bytes [1-9]", text, re.MULTILINE)


def test_latencies_fall_into_buckets() -> None:
    metrics = RequestMetrics("test")
    route = metrics.of("GET", None)
    for seconds in (0.0, BUCKETS_S[0], 0.002, 100.0):
        route.count(200, seconds)
    requests, latency = Metric("r", "doc", "counter"), Metric("l", "doc", "histogram")
    route.add_to(requests, latency)
    counts = [sample.value for sample in latency.samples if sample.name == "l_bucket"]
    assert counts == [2, 2, *[3] * (len(BUCKETS_S) - 2), 4]
    assert [sample.value for sample in latency.samples if sample.name == "l_sum"] == [100.0025]


def test_a_service_adds_its_own() -> None:
    def more() -> Iterable[Metric]:
        own = Metric("own", "doc", "gauge")
        own.add_sample("own", {}, 7)
        return [own]

    with Service([], more=[more]) as service:
        assert samples(page(service), "own") == {(): 7}


def test_the_metrics_of_a_route_are_one() -> None:
    metrics = RequestMetrics("test")
    found = {metrics.of("GET", route("GET", "/a", fine)) for _ in range(3)}
    assert [type(each) for each in found] == [RouteMetrics]
