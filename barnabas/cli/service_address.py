"""Where a command finds a service that its command line does not name: as a variable says, as the platform of this folder does, or at its
usual port. Nothing is imported here that takes time to load."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Final

from barnabas.running_platform import RunningPlatform, running_platforms

SERVICES: Final[Mapping[str, tuple[str, str]]] = {
    "broker": ("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:9092"),
    "registry": ("SCHEMA_REGISTRY_URL", "http://127.0.0.1:8081"),
    "rest": ("REST_PROXY_URL", "http://127.0.0.1:8082"),
    "connect": ("CONNECT_URL", "http://127.0.0.1:8083"),
    "sql": ("KSQL_URL", "http://127.0.0.1:8088"),
}
"""The variable that names each service, and where it is otherwise."""


def address_of(service: str) -> str:
    """The broker's as HOST:PORT, others as URLs."""
    variable, usual = SERVICES[service]
    return os.environ.get(variable) or address_here(service) or usual


def address_here(service: str) -> str | None:
    """That of the platform that runs on this folder's data."""
    running = RunningPlatform.find(data_directory())
    return None if running is None else announced_addresses(running).get(service)


def default_text(service: str) -> str:
    """For the help of flags."""
    variable, usual = SERVICES[service]
    return f"{variable} sets it, too (that of the platform of this folder, else {usual})"


def data_directory() -> Path:
    return Path(os.environ.get("BARNABAS_DATA_DIR") or "barnabas-data")


def host_and_port(url: str) -> str:
    return url.strip().rpartition("://")[2].rstrip("/")


def restart_hint(addresses: str) -> str | None:
    """What to do about a service that does not answer, if it is one of a platform that runs here: nothing, since it is started again."""
    here = RunningPlatform.find(data_directory())
    platforms = [*running_platforms(), *([] if here is None else [(data_directory(), here)])]
    for address in map(host_and_port, addresses.split(",")):
        for folder, running in platforms:
            if running.holds(address):
                return (
                    f"The platform on {folder} (process {running.pid}) runs, and starts it again by itself: try again in some seconds. "
                    f"`barnabas status --data-dir {quote(str(folder))}` shows it."
                )
    return None


def announced_addresses(running: RunningPlatform) -> dict[str, str]:
    """The addresses that a platform has announced, by service."""
    return {
        state.name: f"{'' if state.name == 'broker' else 'http://'}{state.addresses[0]}"
        for state in running.services
        if state.addresses
    }
