"""The HTTP sink against a real service: what it sends, what it waits for, what it rejects."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from typing import Any

import pytest

from connect.api.record import Record
from connect.api.settings import read
from connect.connectors.http.settings import HttpSinkSettings
from connect.connectors.http.sink import ANSWER_READ_BYTES, ANSWER_SHOWN_CHARACTERS, RETRY_AFTER_MAX_S, HttpSink
from connect.errors import ConnectError, InvalidSettings, Retry
from tests.connect.connectors.http.service import Answer, Request, Service

Make = Callable[..., HttpSink]


@pytest.fixture
def sink(service: Service) -> Iterator[Make]:
    made: list[HttpSink] = []

    def make(**settings: str) -> HttpSink:
        config = {"http.url": service.url, **{name.replace("_", "."): text for name, text in settings.items()}}
        made.append(HttpSink(read(HttpSinkSettings, config)))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def records(*values: Any) -> list[Record]:
    return [Record("t", value) for value in values]


def rejected(sink: HttpSink, *values: Any) -> list[int]:
    return [each.place for each in sink.write(records(*values))]


def refuse(*bad: Any) -> Callable[[Request], Answer]:
    def judge(request: Request) -> Answer:
        rows = request.content if isinstance(request.content, list) else [request.content]
        return Answer(400, "no") if any(row in bad for row in rows) else Answer(200)

    return judge


def test_a_request_has_one_record_and_the_headers(service: Service, sink: Make) -> None:
    made = sink(
        http_method="PUT", http_headers_additional="X-Team: shop, X-Trace:on", http_headers_content_type="text/plain",
        http_authorization_type="static", http_headers_authorization="Bearer b",
    )  # fmt: skip
    assert rejected(made, {"a": 1, "price": Decimal("1.50")}, "text") == []
    assert [(request.method, request.content) for request in service.requests] == [
        ("PUT", {"a": 1, "price": "1.50"}), ("PUT", "text")
    ]  # fmt: skip
    told = service.requests[0].headers
    names = ("Content-Type", "X-Team", "X-Trace", "Authorization")
    assert [told[name] for name in names] == ["text/plain", "shop", "on", "Bearer b"]


def test_without_the_type_static_there_is_no_authorization(service: Service, sink: Make) -> None:
    sink(http_headers_authorization="Bearer b").write(records(1))
    assert "Authorization" not in service.requests[0].headers


def test_lists_have_the_size_that_was_asked_for(service: Service, sink: Make) -> None:
    sink(batching_enabled="true", batch_max_size="3").write(records(*range(8)))
    assert [request.content for request in service.requests] == [[0, 1, 2], [3, 4, 5], [6, 7]]


@pytest.mark.parametrize("batching", ["true", "false"])
@pytest.mark.parametrize("bad", [(), (0,), (9,), (3, 4), (0, 5, 9), tuple(range(10))], ids=str)
def test_refused_rows_are_found_and_the_others_written(
    service: Service, sink: Make, batching: str, bad: tuple[int, ...]
) -> None:
    service.judge = refuse(*bad)
    assert rejected(sink(batching_enabled=batching), *range(10)) == list(bad)
    assert service.taken == [number for number in range(10) if number not in bad]


def test_one_bad_row_costs_few_requests(service: Service, sink: Make) -> None:
    service.judge = refuse(77)
    assert rejected(sink(batching_enabled="true"), *range(256)) == [77]
    assert len(service.requests) == 17


def test_a_value_that_json_cannot_hold_is_rejected_alone(service: Service, sink: Make) -> None:
    service.judge = refuse(3)
    assert rejected(sink(batching_enabled="true"), 1, 2**70, 2, 3) == [1, 3]
    assert service.taken == [1, 2]


@pytest.mark.parametrize("status", [500, 503, 408, 429, 401, 403, 404])
def test_what_may_be_otherwise_later_is_tried_again(service: Service, sink: Make, status: int) -> None:
    service.judge = lambda _request: Answer(status, "not now")
    with pytest.raises(Retry, match=rf"/rows answered {status}: not now$"):
        sink().write(records(1))


def in_an_hour() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "86400"}, RETRY_AFTER_MAX_S),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": in_an_hour()}, RETRY_AFTER_MAX_S),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_the_service_says_how_long_to_wait(
    service: Service, sink: Make, header: dict[str, str], wait_s: float | None
) -> None:
    service.judge = lambda _request: Answer(503, headers=header)
    with pytest.raises(Retry) as retry:
        sink().write(records(1))
    assert retry.value.after_s == wait_s


def test_a_service_that_is_away_is_waited_for(service: Service, sink: Make) -> None:
    made = sink(batching_enabled="true")
    with service.away(), pytest.raises(Retry, match="cannot be reached"):
        made.write(records(1, 2))
    made.write(records(1, 2))
    assert service.taken == [1, 2]


def test_records_do_not_follow_a_redirection(service: Service, sink: Make) -> None:
    service.judge = lambda _request: Answer(302, headers={"Location": "/elsewhere"})
    with pytest.raises(ConnectError, match=r"answered 302: .*set http\.url to where it leads"):
        sink().write(records(1))


def test_of_a_long_answer_a_little_is_read_and_less_is_shown(service: Service, sink: Make) -> None:
    service.judge = lambda _request: Answer(422, "x" * ANSWER_READ_BYTES * 4)
    ((_, error),) = sink().write(records(1))
    assert str(error).count("x") == ANSWER_SHOWN_CHARACTERS


@pytest.mark.parametrize("status", [500, 422, 302])
def test_secrets_of_the_address_are_in_no_message(
    service: Service, sink: Make, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    service.judge = lambda _request: Answer(status)
    url = service.url.replace("http://", "http://user:pass-word@") + "?token=pass-word"
    made = sink(http_url=url, http_authorization_type="static", http_headers_authorization="pass-word")
    try:
        told = repr(made.write(records(1)))
    except ConnectError as error:
        told = f"{error!r} {error.__cause__!r}"
    assert f"{service.url} " in told
    assert "pass-word" not in told + caplog.text


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"http.url": "ftp://host"}, "http.url"),
        ({"http.url": "http://"}, "http.url"),
        ({"http.url": "http://["}, "http.url"),
        ({"http.url": "http://host:port"}, "http.url"),
        ({"http.authorization.type": "static"}, "http.headers.authorization"),
        ({"http.headers.authorization": "a\nb"}, "http.headers.authorization"),
        ({"http.headers.content.type": "é"}, "http.headers.content.type"),
        ({"http.headers.additional": "no colon"}, "http.headers.additional"),
        ({"http.headers.additional": "bad name: x"}, "http.headers.additional"),
        ({"http.headers.additional": "X: a\r\nY"}, "http.headers.additional"),
    ],
)
def test_what_cannot_be_sent_is_named(settings: dict[str, str], name: str) -> None:
    with pytest.raises(InvalidSettings) as invalid:
        read(HttpSinkSettings, {"http.url": "http://host", **settings})
    assert [problem.name for problem in invalid.value.problems] == [name]
