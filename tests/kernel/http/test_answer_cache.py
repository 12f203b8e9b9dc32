"""The cache of answers, by itself and in front of a service."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

import pytest
from starlette.responses import Response

from barnabas.kernel.http.answer_cache import ENTRY_BYTES, AnswerCache
from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.application import Policy
from barnabas.kernel.http.cross_origin import CrossOrigin
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.metrics import RouteMetrics
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from tests.kernel.http.service import Service, route

METRICS = RouteMetrics("GET", "/")


def key(cache: AnswerCache, path: str) -> tuple[bytes | tuple[bytes, bytes], ...]:
    return cache.key({"raw_path": path.encode(), "query_string": b"", "headers": []})


def test_the_oldest_answers_make_room() -> None:
    cache = AnswerCache(max_bytes=3 * (ENTRY_BYTES + 102))
    for number in range(5):
        cache.put(key(cache, f"/{number}"), cache.generation, Response(b"x" * 100), METRICS)
    kept = [number for number in range(5) if cache.get(key(cache, f"/{number}")) is not None]
    assert kept == [2, 3, 4]
    assert cache.size_bytes == 3 * (ENTRY_BYTES + 102)


def test_an_answer_that_is_larger_than_the_cache_is_not_kept() -> None:
    cache = AnswerCache(max_bytes=ENTRY_BYTES + 100)
    cache.put(key(cache, "/"), cache.generation, Response(b"x" * 100), METRICS)
    assert cache.get(key(cache, "/")) is None
    assert cache.size_bytes == 0


def test_the_same_answer_counts_once() -> None:
    cache = AnswerCache()
    for _ in range(2):
        cache.put(key(cache, "/"), cache.generation, Response(b"x"), METRICS)
    assert cache.size_bytes == ENTRY_BYTES + 2


class Numbers:
    """Answers with a number that is another one each time a handler runs."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.cache = AnswerCache(vary=["x-variant"])
        self.allow = True
        self.entered, self.go_on = asyncio.Event(), asyncio.Event()

    async def number(self, request: Request) -> Response:
        if request.flag("fail"):
            raise HttpError(404, f"none at {next(self._numbers)}")
        return json_answer({"number": next(self._numbers), "padding": "x" * 2000})

    async def slow(self, _request: Request) -> Response:
        answer = json_answer({"number": next(self._numbers)})
        self.entered.set()
        await self.go_on.wait()
        return answer

    async def clear(self) -> None:
        self.cache.clear()

    async def clear_while_slow_runs(self) -> None:
        await self.entered.wait()
        self.cache.clear()
        self.go_on.set()

    async def authorize(self, _request: Request) -> None:
        if not self.allow:
            raise HttpError(403, "not you")

    def routes(self) -> list[Route]:
        return [
            route("GET", "/cached/{id}", self.number, cached=True),
            route("GET", "/fresh/{id}", self.number),
            route("GET", "/slow", self.slow, cached=True),
        ]


@pytest.fixture
def numbers() -> Numbers:
    return Numbers()


@pytest.fixture
def service(numbers: Numbers) -> Iterator[Service]:
    policy = Policy(cross_origin=CrossOrigin(origins=["http://a", "http://b"]))
    with Service(numbers.routes(), cache=numbers.cache, policy=policy) as running:
        yield running


def test_an_answer_is_made_once_until_the_cache_is_cleared(service: Service, numbers: Numbers) -> None:
    asked = [service.ask("GET", "/cached/1").json["number"] for _ in range(3)]
    service.call(numbers.clear())
    asked.append(service.ask("GET", "/cached/1").json["number"])
    assert asked == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/cached/2", {}),
        ("/cached/1?x=1", {}),
        ("/cached/1", {"X_Variant": "true"}),
        ("/cached/1", {"Accept": "application/json"}),
        ("/cached/1", {"Accept_Encoding": "gzip"}),
        ("/cached/1", {"Origin": "http://a"}),
    ],
)
def test_what_an_answer_depends_on_is_part_of_its_key(service: Service, path: str, headers: dict[str, str]) -> None:
    first = service.ask("GET", "/cached/1")
    assert first.json["number"] == 1
    once, again = (service.ask("GET", path, None, **headers) for _ in range(2))
    assert once.body == again.body != first.body


def test_a_hit_carries_what_every_answer_carries(service: Service) -> None:
    headers = {"X_Request_ID": "mine", "Accept_Encoding": "gzip", "Origin": "http://b"}
    miss, hit = (service.ask("GET", "/cached/1", None, **headers) for _ in range(2))
    assert (hit.status, hit.headers, hit.body) == (
        miss.status,
        {**miss.headers, "date": hit.headers["date"]},
        miss.body,
    )
    assert hit.headers["x-request-id"] == "mine"
    assert hit.headers["content-encoding"] == "gzip"
    assert hit.headers["access-control-allow-origin"] == "http://b"
    others = {service.ask("GET", "/cached/1").headers["x-request-id"] for _ in range(3)}
    assert len(others - {"mine"}) == 3


def test_hits_are_counted_like_any_request(service: Service) -> None:
    for _ in range(5):
        service.ask("GET", "/cached/1")
    page = service.ask("GET", "/metrics").body
    assert b'test_http_requests_total{method="GET",route="/cached/{id}",status="200"} 5.0' in page


@pytest.mark.parametrize("path", ["/fresh/1", "/cached/1?fail=True"])
def test_errors_and_other_routes_are_not_kept(service: Service, path: str) -> None:
    assert service.ask("GET", path).body != service.ask("GET", path).body


def test_head_has_no_body_hit_or_miss(service: Service) -> None:
    body = service.ask("GET", "/cached/1").body
    head = service.ask("HEAD", "/cached/1")
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(body)))


def test_an_answer_that_was_begun_before_a_clear_is_not_kept(service: Service, numbers: Numbers) -> None:
    clearing = asyncio.run_coroutine_threadsafe(numbers.clear_while_slow_runs(), service.loop)
    assert service.ask("GET", "/slow").json == {"number": 1}
    clearing.result()
    assert service.ask("GET", "/slow").json == {"number": 2}


def test_no_cached_answer_passes_by_the_authorizer(numbers: Numbers) -> None:
    with Service(numbers.routes(), cache=numbers.cache, policy=Policy(authorizer=numbers.authorize)) as service:
        assert service.ask("GET", "/cached/1").status == 200
        numbers.allow = False
        assert service.ask("GET", "/cached/1").json == {"error_code": 403, "message": "not you"}
