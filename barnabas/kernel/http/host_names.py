"""By which names a service may be called that listens on loopback alone.

A page from elsewhere may let its own name lead to this machine once it is loaded (DNS rebinding): for the browser it is then of the same
origin as the service, reads included. The name that it asks for gives it away. An address cannot be led elsewhere, so that any will do.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from barnabas.kernel.http.errors import HttpError

if TYPE_CHECKING:
    from barnabas.kernel.http.listeners import Listener

SETTING: Final = "allowed.host.names"
MISDIRECTED: Final = 421
SHOWN_MAX_CHARACTERS: Final = 200
"""Of a name, which is the client's to write."""
KEPT_MAX: Final = 256
"""`Host` headers that have been found good; others are looked at each time."""
ANY: Final = "*"
LOCALHOST: Final = "localhost"


class HostNames:
    """`names` are the names that are known beside localhost; None means that any will do."""

    def __init__(self, names: Iterable[str] | None = None) -> None:
        self._names = None if names is None else frozenset(map(_plain, names))
        self._good: set[bytes] = set()

    @classmethod
    def of(cls, listeners: Sequence[Listener], names: Sequence[str]) -> HostNames:
        """Others than browsers on this machine reach a service that listens elsewhere, and a browser does not take a certificate of ours
        for that of a page from elsewhere: there, no name is asked for."""
        is_exposed = all(is_loopback(each.host) for each in listeners) and any(
            each.scheme == "http" for each in listeners
        )
        return cls(names if is_exposed and ANY not in names else None)

    def accept(self, host: bytes | None) -> bool:
        """Whether a request with this header is meant for us. This is asked for every request: mostly it is one look into a set."""
        if host is None or self._names is None or host in self._good:
            return True
        if not self._is_own(host.decode("latin-1"), self._names):
            return False
        if len(self._good) < KEPT_MAX:
            self._good.add(host)
        return True

    def check(self, host: str | None) -> None:
        """HttpError for a request that is not meant for us."""
        if host is not None and not self.accept(host.encode("latin-1", "replace")):
            raise HttpError(
                MISDIRECTED,
                f"this service listens on loopback alone and is not called {host[:SHOWN_MAX_CHARACTERS]!r}; use localhost or an address,"
                f" or name the host in {SETTING}",
            )

    @staticmethod
    def _is_own(host: str, names: frozenset[str]) -> bool:
        name, colon, port = host.rpartition(":")
        name = _plain(name if colon and not port.endswith("]") else host)
        return name in ("", LOCALHOST) or name.endswith(f".{LOCALHOST}") or name in names or _is_address(name)


def is_loopback(host: str) -> bool:
    """Whether an address that is listened on can be reached from this machine alone."""
    if host.lower() == LOCALHOST:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _plain(name: str) -> str:
    return name.strip().rstrip(".").lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True
