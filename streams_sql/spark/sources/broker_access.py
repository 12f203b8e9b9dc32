"""How the processes of Spark reach the broker. It imports nothing of ours: those that plan batches load it at each start of a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

READ_COMMITTED: Final = "read_committed"


@dataclass(frozen=True, slots=True)
class KafkaAccess:
    """How to reach the broker: settings by the names of librdkafka's clients, and by those of Java's. `producer` and `consumer` are further
    ones of those that write results and read sources, by librdkafka's names."""

    bootstrap_servers: str
    librdkafka: Mapping[str, str] = field(default_factory=dict, repr=False)
    java: Mapping[str, str] = field(default_factory=dict, repr=False)
    producer: Mapping[str, str] = field(default_factory=dict)
    consumer: Mapping[str, str] = field(default_factory=dict)

    @property
    def isolation_level(self) -> str:
        """What was written by a transaction that did not come to its end is no record, unless somebody wants it."""
        return self.consumer.get("isolation.level", READ_COMMITTED)
