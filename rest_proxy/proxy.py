"""What the handlers of all paths share."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.kernel.settings import Settings
from rest_proxy.clients import Clients
from rest_proxy.formats.formats import Formats


@dataclass(frozen=True, slots=True)
class Proxy:
    """The Kafka clients, the formats of records, and the settings."""

    settings: Settings
    clients: Clients
    formats: Formats
