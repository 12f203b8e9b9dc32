"""Which topics belong to the broker and the services, and not to those who use them."""

from __future__ import annotations

from typing import Final

from barnabas.wire.messages.metadata import MetadataResponseTopic

SERVICES_PREFIX: Final = "_"
"""By custom, names of services' topics begin with it: `_schemas`, `_confluent-ksql-…`. A broker knows its own alone."""


def is_internal(topic: MetadataResponseTopic) -> bool:
    return topic.is_internal or (topic.name or "").startswith(SERVICES_PREFIX)
