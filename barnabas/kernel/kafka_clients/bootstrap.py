"""The brokers that a service connects to first."""

from __future__ import annotations

from barnabas.kernel.kafka_clients.librdkafka import addresses
from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings


def bootstrap_servers(settings: Settings, *names: str) -> str:
    """Return the addresses in the first of these settings that has any, comma-separated. SettingError if none has."""
    for name in names:
        if given := [address for address in settings.items_of(name) if address]:
            return addresses(given)
    reason = "expected the address of at least one broker, such as 127.0.0.1:9092"
    raise SettingError(names[-1], "", reason, str(settings.source(names[-1])))
