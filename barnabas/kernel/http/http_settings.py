"""Settings that every HTTP service has, and what they come to. Where a service listens and how large a body may be is its own to say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from barnabas.kernel.http.application import Policy, RequestLimits
from barnabas.kernel.http.cross_origin import CrossOrigin
from barnabas.kernel.http.extra_headers import parse_extra_headers
from barnabas.kernel.http.host_names import SETTING as HOST_NAMES
from barnabas.kernel.http.host_names import HostNames
from barnabas.kernel.http.listeners import Listener, parse_listeners
from barnabas.kernel.http.request_log import RequestLogRules
from barnabas.kernel.http.server import Server
from barnabas.kernel.http.tls import TlsFiles

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from barnabas.kernel.http.request import BodyLimits
    from barnabas.kernel.settings import Settings

REQUESTS_MAX: Final = 1_000
"""Requests under way at once, where a service does not say otherwise."""


_ADVERTISED: Final = ("host.name", "rest.advertised.host.name", "advertised.listeners", "ksql.advertised.listener")
"""Settings by which services say how others reach them; each has some."""


def policy(settings: Settings, body: BodyLimits, in_flight_max: int = REQUESTS_MAX) -> Policy:
    """What the operator decides for every route alike."""
    return Policy(
        limits=RequestLimits(in_flight_max, settings.integer("request.timeout.ms") / 1000, body),
        cross_origin=CrossOrigin(
            _words(settings.text("access.control.allow.origin")),
            _words(settings.text("access.control.allow.methods")),
            _words(settings.text("access.control.allow.headers")),
        ),
        host_names=HostNames.of(_listeners(settings), _names(settings)),
        extra_headers=parse_extra_headers(
            "response.http.headers.config", settings.text("response.http.headers.config")
        ),
        authorize_options=not settings.boolean("access.control.skip.options"),
        compresses=settings.boolean("compression.enable"),
        request_log=RequestLogRules(settings.text("request.log"), settings.integer("request.log.slow.ms")),
    )


def server(application: ASGIApp, settings: Settings, *, websockets: bool = False) -> Server:
    """The server of an application, at the listeners of the settings."""
    certificate, key = settings.text("ssl.certificate"), settings.text("ssl.key")
    tls = None
    if certificate or key:
        tls = TlsFiles(Path(certificate), Path(key), settings.text_or_none("ssl.key.password"))
    return Server(application, _listeners(settings), tls, websockets=websockets)


def _listeners(settings: Settings) -> list[Listener]:
    has_certificate = bool(settings.text("ssl.certificate") or settings.text("ssl.key"))
    return parse_listeners("listeners", settings.items_of("listeners"), tls=has_certificate)


def _names(settings: Settings) -> list[str]:
    """Names that the operator calls the service by, and pages that may do everything here anyway."""
    names = list(settings.items_of(HOST_NAMES))
    for setting in _ADVERTISED:
        if setting in settings:
            given = settings[setting]
            names += given if isinstance(given, tuple) else [str(given)]
    names += _words(settings.text("access.control.allow.origin"))
    return [urlsplit(name).hostname or "" if "://" in name else name for name in names if name]


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
