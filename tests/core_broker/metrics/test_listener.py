"""The web server of metrics: one page, small requests, nothing else."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.kernel.setting_errors import SettingError
from core_broker.configs.broker import BROKER_CATALOGUE
from core_broker.configs.metrics_address import MetricsAddress
from core_broker.metrics.listener import CONNECTIONS_MAX, CONTENT_TYPE, REQUEST_MAX_BYTES
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.core_broker.metrics.scrape import ask, port_of, scrape
from tests.waiting import wait_for

DEADLINE_S = 90


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostedBroker]:
    with HostedBroker(tmp_path_factory.mktemp("page") / "log", {"metrics.listener": "http://:0"}) as running:
        yield running


def raw(hosted: HostedBroker, request: bytes) -> bytes:
    """What comes back until the server hangs up."""
    with socket.create_connection(("127.0.0.1", port_of(hosted)), timeout=DEADLINE_S) as wire:
        wire.sendall(request)
        wire.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while piece := wire.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass
        return answer


def test_get_and_head(hosted: HostedBroker) -> None:
    got, body = ask(port_of(hosted))
    assert (got.status, got.headers["Content-Type"]) == (200, CONTENT_TYPE)
    assert int(got.headers["Content-Length"]) == len(body)
    head, nothing = ask(port_of(hosted), "HEAD")
    assert (head.status, nothing) == (200, b"")
    assert int(head.headers["Content-Length"]) > 1000
    assert ask(port_of(hosted), path="/metrics?name=x")[0].status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/metricsx", 404),
        ("GET", "/../metrics", 404),
        ("GET", "/metrics/", 404),
        ("POST", "/metrics", 405),
        ("DELETE", "/metrics", 405),
        ("OPTIONS", "/metrics", 405),
    ],
)
def test_what_is_not_the_page(hosted: HostedBroker, method: str, path: str, status: int) -> None:
    answer, body = ask(port_of(hosted), method, path)
    assert answer.status == status
    assert body
    assert answer.headers["Allow"] == ("GET, HEAD" if status == 405 else None)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET /metrics\r\n\r\n", b"400"),
        (b"GET /metrics HTTP/2.0\r\n\r\n", b"400"),
        (b"GET  /metrics HTTP/1.1\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"400"),
        (b"GET /metrics HTTP/1.1\r\nX: " + b"x" * (2 * REQUEST_MAX_BYTES) + b"\r\n\r\n", b"431"),
        (b"x" * (2 * REQUEST_MAX_BYTES), b"431"),
        (b"GET /metrics HTTP/1.0\r\n\r\n", b"200"),
    ],
)
def test_hostile_requests(hosted: HostedBroker, request_: bytes, status: bytes) -> None:
    answer = raw(hosted, request_)
    assert answer.startswith(b"HTTP/1.1 " + status), answer[:80]
    assert ask(port_of(hosted))[0].status == 200


def test_who_says_half_a_word_gets_nothing(hosted: HostedBroker) -> None:
    assert raw(hosted, b"GET /met") == b""
    assert raw(hosted, b"") == b""


def test_connections_are_bounded(hosted: HostedBroker) -> None:
    silent = [
        socket.create_connection(("127.0.0.1", port_of(hosted)), timeout=DEADLINE_S) for _ in range(CONNECTIONS_MAX)
    ]
    try:
        assert ask(port_of(hosted))[0].status == 503
    finally:
        for wire in silent:
            wire.close()
    wait_for(lambda: ask(port_of(hosted))[0].status == 200, "there is room again")


def test_no_host_means_this_machine_only(hosted: HostedBroker) -> None:
    assert hosted.broker.metrics is not None
    assert hosted.broker.metrics.host == "127.0.0.1"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:9404", ("127.0.0.1", 9404)),
        ("http://localhost:1/", ("localhost", 1)),
        ("http://[::1]:9404/metrics", ("::1", 9404)),
        ("http://:0", ("127.0.0.1", 0)),
        ("https://127.0.0.1:9404", None),
        ("127.0.0.1:9404", None),
        ("http://127.0.0.1", None),
        ("http://127.0.0.1:99999", None),
        ("http://127.0.0.1:9404/other", None),
        ("http://user@host:9404", None),
    ],
)
def test_addresses(url: str, address: tuple[str, int] | None) -> None:
    assert MetricsAddress.parse(url) == address
    setting = BROKER_CATALOGUE["metrics.listener"]
    if address is None:
        with pytest.raises(SettingError, match=r"http://127\.0\.0\.1:9404"):
            setting.parse(url)
    else:
        assert setting.parse(url) == url


def test_a_port_in_use_is_an_error_at_the_start(hosted: HostedBroker, tmp_path: Path) -> None:
    taken = f"http://127.0.0.1:{port_of(hosted)}"
    with pytest.raises(OSError, match=r"cannot listen on 127\.0\.0\.1"):
        HostedBroker(tmp_path / "log", {"metrics.listener": taken})


def test_the_broker_stops_while_somebody_hangs_on(tmp_path: Path) -> None:
    with HostedBroker(tmp_path / "log", {"metrics.listener": "http://127.0.0.1:0"}) as own:
        hanging = socket.create_connection(("127.0.0.1", port_of(own)), timeout=DEADLINE_S)
        scrape(own)
        own.stop()
        assert hanging.recv(1) == b""
        hanging.close()
