"""The settings of the HTTP sink."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from connect.api.settings import Importance, setting
from connect.errors import Problem

NONE: Final = "none"
STATIC: Final = "static"

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSinkSettings:
    url: str = setting("http.url", "Where records are sent to.", importance=Importance.HIGH)
    method: str = setting("http.method", "How they are sent.", "post", choices=("post", "put", "patch"), any_case=True)
    authorization_type: str = setting(
        "http.authorization.type",
        "Whether requests have a header Authorization.",
        NONE,
        choices=(NONE, STATIC),
        any_case=True,
    )
    authorization: str | None = setting(
        "http.headers.authorization", "That header, for the type static.", None, secret=True
    )
    content_type: str = setting("http.headers.content.type", "What the body is said to be.", "application/json")
    additional: tuple[str, ...] = setting("http.headers.additional", "Further headers, each as name:value.", ())
    batching: bool = setting("batching.enabled", "Whether a request has many records, as a list, or one.", False)
    batch_max_size: int = setting("batch.max.size", "Records in one request, at most.", 500, minimum=1)
    timeout_s: int = setting("http.timeout", "When a request that is not answered has failed.", 30, unit="s", minimum=1)

    @property
    def shown_url(self) -> str:
        """The address without what may be a secret in it: a user, a query."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @property
    def headers(self) -> list[tuple[str, str]]:
        given = [header.partition(":") for header in self.additional]
        found = [("Content-Type", self.content_type), *[(name.strip(), value.strip()) for name, _, value in given]]
        if self.authorization_type.lower() == STATIC and self.authorization:
            found.append(("Authorization", self.authorization))
        return found

    def problems(self) -> Iterator[Problem]:
        if not _is_address(self.url):
            yield Problem("http.url", "expected an address that begins with http:// or https:// and names a host")
        if self.authorization_type.lower() == STATIC and not self.authorization:
            yield Problem("http.headers.authorization", "http.authorization.type=static needs it")
        for name, text in (
            ("headers.authorization", self.authorization or ""),
            ("headers.content.type", self.content_type),
        ):
            if not _HEADER_VALUE.fullmatch(text):
                yield Problem(f"http.{name}", "a header has printable ASCII characters alone")
        for header in self.additional:
            name, colon, value = header.partition(":")
            if not colon or not _HEADER_NAME.fullmatch(name.strip()) or not _HEADER_VALUE.fullmatch(value):
                yield Problem("http.headers.additional", f"{name!r}: expected a name, a colon and a value in ASCII")


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
