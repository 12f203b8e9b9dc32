"""The addresses at which services will listen, checked before anything is started."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from barnabas.kernel.settings import Settings
from barnabas.running_platform import RunningPlatform
from barnabas.service_commands import own
from barnabas.services import BROKER, SERVICES, Resolved

_METRICS: Final = "metrics.listener"


@dataclass(frozen=True, slots=True)
class ListenerAddress:
    """`setting` is what names it, in the name that means this service alone; no host means every interface, port 0 any free one."""

    service: str
    setting: str
    url: str
    host: str
    port: int

    @property
    def address(self) -> str:
        host = self.host or "127.0.0.1"
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    def obstacle(self) -> OSError | None:
        """Why no program can listen there now, if so."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
            except OSError as error:
                return error
        return None

    def holder(self, running: Mapping[Path, RunningPlatform]) -> Path | None:
        """The data directory of the platform that listens there, among those that run."""
        return next((folder for folder, platform in running.items() if platform.holds(self.address)), None)


def listeners_of(resolved: Mapping[str, Resolved]) -> Iterator[ListenerAddress]:
    """Those of the services whose settings are given by name. A broker opens no listener for controllers, since one node has no use for it."""
    for name, one in resolved.items():
        settings, service = one.settings, SERVICES[name]
        passed_over = _of_controllers(settings) if service is BROKER else ()
        listeners = [("listeners", listener) for listener in settings.items_of("listeners")]
        if service is BROKER and (metrics := settings.text_or_none(_METRICS)) is not None:
            listeners.append((_METRICS, metrics))
        for setting, listener in listeners:
            scheme, _, rest = listener.strip().partition("://")
            host, _, port = rest.rstrip("/").rpartition(":")
            # The service itself reports what is no address.
            if port.isdigit() and scheme.upper() not in passed_over:
                yield ListenerAddress(name, own(service, setting), listener, host.strip("[]"), int(port))


def _of_controllers(settings: Settings) -> list[str]:
    names = () if settings["controller.listener.names"] is None else settings.items_of("controller.listener.names")
    return [name.strip().upper() for name in names]


def obstacles(resolved: Mapping[str, Resolved], running: Mapping[Path, RunningPlatform]) -> list[str]:
    """Of each address where a service could not listen: which, why, and the setting that names another one."""
    found: list[str] = []
    taken: dict[tuple[str, int], ListenerAddress] = {}
    for listener in listeners_of(resolved):
        obstacle = listener.obstacle() if listener.port else None
        if listener.port and (earlier := taken.setdefault((listener.host, listener.port), listener)) is not listener:
            reason = f"is wanted for {earlier.setting}, too"
        elif obstacle is None:
            continue
        elif (folder := listener.holder(running)) is not None:
            reason = f"is that of the platform that runs on {folder}, as process {running[folder].pid}"
        elif obstacle.errno == errno.EADDRINUSE:
            reason = f"is taken by another program (`ss -ltnp 'sport = :{listener.port}'` shows which)"
        else:
            reason = f"cannot be listened on: {os.strerror(obstacle.errno) if obstacle.errno else obstacle}"
        found.append(f"{listener.service}: {listener.address} {reason}; the setting is {listener.setting}")
    return found
