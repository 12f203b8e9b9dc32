"""What a topic is like that is to be created."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

BROKER_DEFAULT: Final = -1
"""As many partitions or replicas as the broker's settings say."""


@dataclass(frozen=True, slots=True)
class TopicShape:
    """A topic as it should be created; `settings` are its own configuration."""

    name: str
    partitions: int
    replication_factor: int
    settings: Mapping[str, str] = field(default_factory=dict)
