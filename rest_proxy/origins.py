"""How clients reach this service: the beginning of every address that they are told."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings

_LISTENERS: Final = "listeners"
_ADVERTISED: Final = "advertised.listeners"
_SCHEMES: Final = ("http", "https")


class Origins:
    """Confluent's rule. The scheme is the request's; an advertised listener of that scheme goes before `host.name`, and that before
    the host that the client asked. Where the client named no port, `host.name` has none either."""

    def __init__(self, settings: Settings) -> None:
        self._advertised = _advertised(settings)
        self._host_name = settings.text("host.name")
        self._port = settings.integer("port")
        # Of two listeners with one scheme the last is told.
        self._ports = {url.scheme: url.port for url in map(urlsplit, settings.items_of(_LISTENERS)) if url.port}

    def of(self, request: Request) -> str:
        scheme = request.scope["scheme"]
        return f"{scheme}://{self._authority(scheme, request)}"

    def _authority(self, scheme: str, request: Request) -> str:
        advertised = self._advertised.get(scheme)
        if advertised is not None:
            return advertised
        if not self._host_name:
            return request.headers.get("host") or ":".join(map(str, request.scope["server"]))
        asked = request.url.port
        if asked is None:
            return self._host_name
        return f"{self._host_name}:{self._ports.get(scheme) or self._port or asked}"


def _advertised(settings: Settings) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in settings.items_of(_ADVERTISED):
        url = urlsplit(text)
        if url.scheme not in _SCHEMES or not url.netloc:
            place = settings.source(_ADVERTISED).place
            raise SettingError(_ADVERTISED, repr(text), "expected an address such as https://proxy.example:8082", place)
        found.setdefault(url.scheme, url.netloc)
    return found
