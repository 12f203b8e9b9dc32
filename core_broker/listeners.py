"""Where the broker listens, and what it tells clients of each listener to connect to."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings
from core_broker.context import Listener

_address = re.compile(
    r"(?P<name>[A-Za-z0-9_.-]+)://(?:\[(?P<six>[0-9a-fA-F:.%]+)\]|(?P<host>[^\s:/\[\]]*)):(?P<port>-?\d+)"
)

PORT_MAX = 65535
ALL_INTERFACES = ("", "0.0.0.0", "::")  # noqa: S104 - nobody can connect to these, so they are never advertised


@dataclass(frozen=True, slots=True)
class Address:
    """`NAME://HOST:PORT`. No host means every interface; port 0 means any free one."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class ListenerPlan:
    """A listener before its socket is bound."""

    listen: Address
    advertise: Address | None

    def bound(self, host: str, port: int) -> Listener:
        """The listener once its port is known."""
        told_host = self.advertise.host if self.advertise is not None else host
        told_port = self.advertise.port if self.advertise is not None and self.advertise.port else port
        if told_host in ALL_INTERFACES:
            told_host = socket.gethostname()
        return Listener(self.listen.name, host, port, told_host, told_port)


def plan(settings: Settings) -> list[ListenerPlan]:
    """The listeners to open: all but the controllers', which one node has no use for."""
    controller_names = {name.upper() for name in _items(settings, "controller.listener.names")}
    protocols = _protocols(settings.text("listener.security.protocol.map"))
    advertised = {address.name: address for address in _addresses(settings, "advertised.listeners")}
    plans = []
    for address in _addresses(settings, "listeners"):
        if address.name in controller_names:
            continue
        protocol = protocols.get(address.name)
        if protocol != "PLAINTEXT":
            raise SettingError(
                "listeners",
                address.name,
                f"its security protocol is {protocol or 'not in listener.security.protocol.map'}, and only PLAINTEXT is served",
            )
        plans.append(ListenerPlan(address, advertised.pop(address.name, None)))
    unknown = [name for name in advertised if name not in controller_names]
    if unknown:
        raise SettingError("advertised.listeners", unknown[0], "there is no listener of this name in listeners")
    if not plans:
        raise SettingError("listeners", ",".join(_items(settings, "listeners")), "none of them is for clients")
    return plans


def parse_address(name: str, text: str) -> Address:
    match = _address.fullmatch(text.strip())
    if match is None:
        raise SettingError(name, text, "expected NAME://HOST:PORT, for instance PLAINTEXT://127.0.0.1:9092")
    port = int(match["port"])
    if not 0 <= port <= PORT_MAX:
        raise SettingError(name, text, f"the port {port} is not between 0 and {PORT_MAX}")
    return Address(match["name"].upper(), match["six"] or match["host"] or "", port)


def _addresses(settings: Settings, name: str) -> list[Address]:
    addresses = [parse_address(name, text) for text in _items(settings, name)]
    twice = _first_repeated([address.name for address in addresses])
    if twice is not None:
        raise SettingError(name, twice, "this listener is named twice")
    return addresses


def _items(settings: Settings, name: str) -> tuple[str, ...]:
    return () if settings[name] is None else settings.items_of(name)


def _protocols(text: str) -> dict[str, str]:
    pairs = (entry.partition(":") for entry in text.split(",") if entry.strip())
    return {name.strip().upper(): protocol.strip().upper() for name, _, protocol in pairs}


def _first_repeated(names: Sequence[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
