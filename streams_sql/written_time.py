"""The timestamps that records are written with."""

from __future__ import annotations

from typing import Final

EARLIEST_MS: Final = 1
"""librdkafka cannot write 0, which it takes for the current time. A millisecond is the smaller error: windows and joins go by these times."""


def written_time(timestamp_ms: int) -> int:
    return timestamp_ms or EARLIEST_MS
