"""The version that clients are told: that of the Kafka Connect whose API this is, since they choose features by it."""

from __future__ import annotations

from typing import Final

VERSION: Final = "4.3.0"
