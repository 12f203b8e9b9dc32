"""What the service's settings mean to librdkafka."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.kernel.settings import Settings

PRODUCER: Final = "producer"
CONSUMER: Final = "consumer"
ADMIN: Final = "admin"

_OWN: Final = frozenset(
    {
        "consumer.instance.timeout.ms",
        "consumer.request.timeout.ms",
        "consumer.request.max.bytes",
        "consumer.threads",
        "consumer.instances.max",
        "producer.request.max.bytes",
    }
)
"""Settings of the service itself that begin like those of its clients."""


def client_settings(settings: Settings, kind: str, further: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The settings of one kind of client: ours first, then those of all clients, then those of its kind."""
    found: dict[str, Any] = {
        "bootstrap.servers": ",".join(settings.items_of("bootstrap.servers")),
        "client.id": "barnabas-rest",
        **(further or {}),
    }
    for prefix in ("client", kind):
        for name in settings:
            if name.startswith(f"{prefix}.") and name not in _OWN and "*" not in name:
                found[name.removeprefix(f"{prefix}.")] = settings[name]
    return found
