"""How admin clients that stay hear of what becomes of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

CLUSTER_NEWS: Final[Mapping[str, Any]] = {"topic.metadata.refresh.interval.ms": 5_000}
"""How often an admin client asks who is there. It would go on waiting for a node that was the controller and has gone, for five minutes."""
