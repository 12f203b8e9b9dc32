"""Addresses of listeners."""

from __future__ import annotations

import errno
import socket

import pytest

from barnabas.kernel.http.listeners import Listener, parse_listeners
from barnabas.kernel.setting_errors import SettingError


@pytest.mark.parametrize(
    ("url", "listener"),
    [
        ("http://127.0.0.1:8081", Listener("http", "127.0.0.1", 8081)),
        (" http://localhost:0/ ", Listener("http", "localhost", 0)),
        ("HTTP://:8081", Listener("http", "", 8081)),
        ("http://[::1]:8081", Listener("http", "::1", 8081)),
        ("https://example.org:443", Listener("https", "example.org", 443)),
    ],
)
def test_an_address_is_read(url: str, listener: Listener) -> None:
    assert parse_listeners("listeners", [url], tls=True) == [listener]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "at least one"),
        ("127.0.0.1:8081", "expected http://HOST:PORT"),
        ("http://127.0.0.1", "expected http://HOST:PORT"),
        ("http://127.0.0.1:8081/path", "expected http://HOST:PORT"),
        ("http://::1:8081", "expected http://HOST:PORT"),
        ("http://user@host:8081", "expected http://HOST:PORT"),
        ("ftp://127.0.0.1:21", "expected http://HOST:PORT"),
        ("http://127.0.0.1:65536", "65536 is not between 0 and 65535"),
        ("https://127.0.0.1:8081", "ssl.certificate and ssl.key"),
    ],
)
def test_what_is_no_address_is_refused(url: str, reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        parse_listeners("listeners", [url], tls=False)


def test_the_address_of_another_program_is_an_os_error_that_says_so() -> None:
    with Listener("http", "127.0.0.1", 0).bind() as first:
        port = first.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}: another program") as problem:
            Listener("http", "127.0.0.1", port).bind()
    assert problem.value.errno == errno.EADDRINUSE


def test_no_host_is_every_interface() -> None:
    with Listener("http", "", 0).bind() as bound:
        port = bound.getsockname()[1]
        hosts = ["127.0.0.1", "::1"] if socket.has_dualstack_ipv6() else ["127.0.0.1"]
        for host in hosts:
            socket.create_connection((host, port)).close()
