"""What the service's settings mean to librdkafka."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from barnabas.kernel.kafka_clients.bootstrap import bootstrap_servers
from barnabas.kernel.kafka_clients.librdkafka import librdkafka_settings
from barnabas.kernel.settings import Settings

BOOTSTRAP_SERVERS: Final = "bootstrap.servers"
PRODUCER: Final = "producer"
CONSUMER: Final = "consumer"
ADMIN: Final = "admin"
KINDS: Final = ("client", PRODUCER, CONSUMER, ADMIN)

ONE_OF_MANY: Final[Mapping[str, Any]] = {"log_level": 2, "reconnect.backoff.ms": 1_000}
"""Defaults of consumers. When no broker can be reached, librdkafka tries again twenty times a second and logs each time, and there may
be a thousand of them. That the producer and the admin client tell it, which all requests share, is enough."""


def client_settings(
    settings: Settings, kind: str, defaults: Mapping[str, Any] | None = None, *, without: str = ""
) -> dict[str, Any]:
    """The settings of one kind of client: our defaults first, then those of all clients, then those of its kind; one may be left out."""
    found: dict[str, Any] = {
        BOOTSTRAP_SERVERS: bootstrap_servers(settings, BOOTSTRAP_SERVERS),
        "client.id": "barnabas-rest",
        **(defaults or {}),
    }
    for prefix in ("client", kind):
        names = [name for name in _given(settings, prefix) if name != without]
        found.update(librdkafka_settings({name.removeprefix(f"{prefix}."): settings.text(name) for name in names}))
    return found


def given_names(settings: Settings, kind: str) -> list[str]:
    """The settings that somebody gave for one kind of client."""
    return [*_given(settings, "client"), *_given(settings, kind)]


def _given(settings: Settings, prefix: str) -> Iterator[str]:
    """What a family of names declares is for clients; names that have a declaration of their own are the service's."""
    for name in settings:
        declared = settings.catalogue.find(name) if name.startswith(f"{prefix}.") else None
        if declared is not None and declared.many and not declared.inert:
            yield name
