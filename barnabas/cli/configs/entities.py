"""What has configurations, by the words of the command line."""

from __future__ import annotations

from typing import Final

from barnabas.client.admin import described_configs

# The type in requests, and the name that Kafka's tools have for it.
ENTITIES: Final = {
    "topic": (described_configs.TOPIC, "topics"),
    "broker": (described_configs.BROKER, "brokers"),
    "group": (described_configs.GROUP, "groups"),
}
