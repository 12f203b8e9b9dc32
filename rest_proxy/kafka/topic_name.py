"""Which names topics may have."""

from __future__ import annotations

import re
from typing import Final

from rest_proxy.kafka.failure import KafkaFailure

INVALID_TOPIC: Final = 17

TOPIC_NAME_RULE: Final = (
    "A name has 1 to 249 letters, digits, dots, underscores and hyphens, and is neither '.' nor '..'."
)

_LEGAL: Final = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")


def invalid_topic(name: str) -> KafkaFailure | None:
    """What is wrong with a name that no topic can have; None for all others.

    librdkafka would ask the cluster, keep the name in mind, and say first one thing and then another.
    """
    if _LEGAL.fullmatch(name):
        return None
    return KafkaFailure(INVALID_TOPIC, "TOPIC_EXCEPTION", f"Invalid topics: [{name}]", retriable=False)
