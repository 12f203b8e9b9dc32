"""How addresses begin that clients are told."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import resolve
from rest_proxy.origins import Origins
from rest_proxy.settings import REST_CATALOGUE

ADVERTISED = {"advertised.listeners": "https://secure.example,http://plain.example:80,http://second.example"}
NAMED = {"host.name": "proxy.example"}
LISTENING = {"listeners": "http://127.0.0.1:7777"}


@pytest.mark.parametrize(
    ("scheme", "host", "settings", "origin"),
    [
        ("http", "asked.example:8082", {}, "http://asked.example:8082"),
        ("https", "asked.example", {}, "https://asked.example"),
        ("http", "", {}, "http://10.0.0.1:8082"),
        ("http", "asked.example:8082", ADVERTISED, "http://plain.example:80"),
        ("https", "asked.example:8082", ADVERTISED, "https://secure.example"),
        ("http", "asked.example:1", {**NAMED, **ADVERTISED}, "http://plain.example:80"),
        ("http", "asked.example", {**NAMED, **LISTENING}, "http://proxy.example"),
        ("http", "asked.example:1", {**NAMED, **LISTENING}, "http://proxy.example:7777"),
        ("https", "asked.example:1", {**NAMED, **LISTENING, "port": "9"}, "https://proxy.example:9"),
        ("http", "asked.example:1", {**NAMED, "listeners": "http://127.0.0.1:0"}, "http://proxy.example:1"),
    ],
)
def test_what_is_advertised_goes_before_the_name_and_that_before_what_was_asked(
    scheme: str, host: str, settings: dict[str, str], origin: str
) -> None:
    headers = [(b"host", host.encode())] if host else []
    request = Request({"type": "http", "scheme": scheme, "server": ("10.0.0.1", 8082), "headers": headers, "path": "/"})
    assert Origins(resolve(REST_CATALOGUE, settings, {})).of(request) == origin


def test_an_address_that_clients_could_not_use_is_refused() -> None:
    with pytest.raises(SettingError, match=r"advertised\.listeners='proxy:8082': expected an address such as https"):
        Origins(resolve(REST_CATALOGUE, {"advertised.listeners": "proxy:8082"}, {}))
