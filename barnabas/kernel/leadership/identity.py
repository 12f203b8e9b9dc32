"""Who an instance is, as it tells the others of its group. Confluent's and Karapace's instances read the same JSON."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any, Final

import orjson

_VERSION: Final = 1
_EVERY_INTERFACE: Final = ("", "0.0.0.0", "::")  # noqa: S104 - recognised here, not bound to


@dataclass(frozen=True, slots=True)
class Identity:
    """Where an instance is reached, whether it may lead, and whether it says that it leads already."""

    scheme: str
    host: str
    port: int
    eligible: bool = True
    leads: bool = False

    @classmethod
    def at(cls, listener: str, bound: tuple[str, int], host: str = "", port: int = 0) -> Identity:
        """The instance with a listener `http://HOST:PORT`, bound to an address; `host` and `port` are advertised instead, if given."""
        bound_host, bound_port = bound
        if bound_host in _EVERY_INTERFACE:
            bound_host = socket.gethostname()
        return cls(listener.partition("://")[0].lower(), host or bound_host, port or bound_port)

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.address}"

    def to_json(self) -> dict[str, Any]:
        return {
            "version": _VERSION,
            "host": self.host,
            "port": self.port,
            "master_eligibility": self.eligible,
            "scheme": self.scheme,
            "leader": self.leads,
        }

    def encode(self) -> bytes:
        return orjson.dumps(self.to_json())

    @classmethod
    def from_json(cls, members: Any) -> Identity:
        """ValueError when an instance cannot be reached by what it says of itself."""
        if not isinstance(members, dict):
            raise ValueError(f"a member of the group says {members!r}, which is not who it is")
        scheme, host, port = members.get("scheme") or "http", members.get("host"), members.get("port")
        if not isinstance(scheme, str) or not isinstance(host, str) or not isinstance(port, int):
            raise ValueError(f"a member of the group says that it is at {scheme!r} {host!r} {port!r}")
        return cls(scheme, host, port, bool(members.get("master_eligibility")), bool(members.get("leader")))
