"""Where a service listens: `http://HOST:PORT`, several separated by commas."""

from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from barnabas.kernel.setting_errors import SettingError

PORT_MAX: Final = 65_535
BACKLOG: Final = 1024
"""Connections that wait to be accepted."""

_URL: Final = re.compile(
    r"(?P<scheme>(?i:https?))://(?:\[(?P<six>[0-9A-Fa-f:.%]+)\]|(?P<host>[^\s:/\[\]@?#]*)):(?P<port>[0-9]{1,5})/?"
)


@dataclass(frozen=True, slots=True)
class Listener:
    """No host means every interface; port 0 means any free one."""

    scheme: str
    host: str
    port: int

    def bind(self) -> socket.socket:
        """A listening socket. The address of another program is an OSError that says so."""
        both = self.host == "" and socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both or ":" in self.host else socket.AF_INET
        try:
            bound = socket.create_server((self.host, self.port), family=family, backlog=BACKLOG, dualstack_ipv6=both)
        except OSError as problem:
            if problem.errno is None:
                raise
            in_use = problem.errno == errno.EADDRINUSE
            reason = "another program listens there already" if in_use else os.strerror(problem.errno)
            raise OSError(problem.errno, f"cannot listen on {self.host}:{self.port}: {reason}") from None
        # Accepted connections inherit it: small answers go out at once.
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return bound


def parse_listeners(setting: str, urls: Iterable[str], *, tls: bool) -> list[Listener]:
    """The listeners of a setting. `tls` says whether there is a certificate, without which no https is served."""
    listeners = [_parse(setting, url.strip(), tls=tls) for url in urls if url.strip()]
    if not listeners:
        raise SettingError(setting, "", "expected at least one address, such as http://127.0.0.1:8080")
    return listeners


def _parse(setting: str, url: str, *, tls: bool) -> Listener:
    match = _URL.fullmatch(url)
    if match is None:
        raise SettingError(setting, url, "expected http://HOST:PORT, such as http://127.0.0.1:8080")
    port = int(match["port"])
    if port > PORT_MAX:
        raise SettingError(setting, url, f"the port {port} is not between 0 and {PORT_MAX}")
    scheme = match["scheme"].lower()
    if scheme == "https" and not tls:
        raise SettingError(
            setting, url, "https needs a certificate and its key: ssl.certificate and ssl.key, PEM files"
        )
    return Listener(scheme, match["six"] or match["host"] or "", port)
