"""Headers that the operator adds."""

from __future__ import annotations

import pytest
from starlette.datastructures import MutableHeaders

from barnabas.kernel.http.extra_headers import parse_extra_headers
from barnabas.kernel.setting_errors import SettingError

SETTING = "response.http.headers.config"


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        ("", [("x", "1")]),
        ("set X-Frame-Options: DENY", [("x", "1"), ("x-frame-options", "DENY")]),
        ("set X: 2", [("x", "2")]),
        ("add X: 2, add X: 3", [("x", "1"), ("x", "2"), ("x", "3")]),
        ('set X: 2, "add Cache-Control: no-cache, no-store"', [("x", "2"), ("cache-control", "no-cache, no-store")]),
    ],
)
def test_headers_are_set_and_added(text: str, headers: list[tuple[str, str]]) -> None:
    found = MutableHeaders({"x": "1"})
    for extra in parse_extra_headers(SETTING, text):
        extra.put(found)
    assert found.items() == headers


@pytest.mark.parametrize("text", ["X: 1", "set X", "remove X: 1", "set X Y: 1", "set X: a\x07", "set : 1"])
def test_what_is_no_header_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match=SETTING):
        parse_extra_headers(SETTING, text)
