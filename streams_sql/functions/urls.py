"""URLs and their parts. Parts come decoded; what is no URL is an error."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote_plus, unquote, unquote_plus

from streams_sql.function_declaration import Group
from streams_sql.functions.registration import scalar

_PARTS: Final = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL
)
_AUTHORITY: Final = re.compile(r"(?:[^@]*@)?([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{0,9}))?")
_NOT_ALLOWED: Final = re.compile(r'[\x00-\x20"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})')
_BAD_PERCENT: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_URL: Final = ("input: the URL",)


@dataclass(frozen=True, slots=True)
class _Url:
    protocol: str | None
    host: str | None
    port: int | None
    path: str | None
    query: str | None
    fragment: str | None


def _parsed(text: str) -> _Url:
    match = _PARTS.fullmatch(text)
    if match is None or _NOT_ALLOWED.search(text):
        raise ValueError(f"URL input has invalid syntax: {text[:80]!r}")
    protocol, authority, path, query, fragment = match.groups()
    server = _AUTHORITY.fullmatch(authority or "")
    # What has a protocol and no slash, such as mailto:somebody, has no parts but these.
    is_opaque = protocol is not None and authority is None and not path.startswith("/")
    return _Url(
        protocol,
        server and server[1],
        int(server[2]) if server and server[2] else None,
        None if is_opaque else unquote(path),
        None if is_opaque or query is None else unquote(query),
        None if fragment is None else unquote(fragment),
    )


@scalar(
    "url_decode_param",
    "STRING -> STRING",
    group=Group.URL,
    doc="Decodes a value of application/x-www-form-urlencoded.",
    parameters=("input: the value",),
)
def url_decode_param(text: str) -> str:
    if _BAD_PERCENT.search(text):
        raise ValueError(f"Two hexadecimal digits must follow each % in {text[:80]!r}")
    return unquote_plus(text)


@scalar(
    "url_encode_param",
    "STRING -> STRING",
    group=Group.URL,
    doc="Encodes a value as application/x-www-form-urlencoded.",
    parameters=("input: the value",),
)
def url_encode_param(text: str) -> str:
    return quote_plus(text, safe="*-_.").replace("~", "%7E")


@scalar("url_extract_fragment", "STRING -> STRING", group=Group.URL, doc="The fragment of a URL.", parameters=_URL)
def url_extract_fragment(text: str) -> str | None:
    return _parsed(text).fragment


@scalar("url_extract_host", "STRING -> STRING", group=Group.URL, doc="The host name of a URL.", parameters=_URL)
def url_extract_host(text: str) -> str | None:
    return _parsed(text).host


@scalar(
    "url_extract_parameter",
    "STRING, STRING -> STRING",
    group=Group.URL,
    doc="The parameter of a name in the query of a URL.",
    parameters=(*_URL, "paramToFind: its name"),
)
def url_extract_parameter(text: str, name: str) -> str | None:
    for parameter in (_parsed(text).query or "").split("&"):
        key, equals, value = parameter.partition("=")
        if key == name and (equals or key):
            return value
    return None


@scalar("url_extract_path", "STRING -> STRING", group=Group.URL, doc="The path of a URL.", parameters=_URL)
def url_extract_path(text: str) -> str | None:
    return _parsed(text).path


@scalar(
    "url_extract_port", "STRING -> INTEGER", group=Group.URL, doc="The port of a URL, if it has one.", parameters=_URL
)
def url_extract_port(text: str) -> int | None:
    return _parsed(text).port


@scalar("url_extract_protocol", "STRING -> STRING", group=Group.URL, doc="The protocol of a URL.", parameters=_URL)
def url_extract_protocol(text: str) -> str | None:
    return _parsed(text).protocol


@scalar(
    "url_extract_query", "STRING -> STRING", group=Group.URL, doc="The query of a URL, if it has one.", parameters=_URL
)
def url_extract_query(text: str) -> str | None:
    return _parsed(text).query
