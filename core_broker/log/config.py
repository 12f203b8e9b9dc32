"""What a topic's settings say about the log of one partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

UNLIMITED: Final = -1
NEVER_MS: Final = (1 << 63) - 1

_DAY_MS: Final = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class LogConfig:
    """The names are the topic settings' own, with underscores; the defaults are Kafka's."""

    segment_bytes: int = 1024 * 1024 * 1024
    segment_ms: int = 7 * _DAY_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 * 1024 * 1024
    index_interval_bytes: int = 4096
    retention_ms: int = 7 * _DAY_MS  # UNLIMITED keeps for ever
    retention_bytes: int = UNLIMITED
    file_delete_delay_ms: int = 60_000
    deletes_old_segments: bool = True  # whether cleanup.policy includes `delete`
    compacts: bool = False  # whether it includes `compact`
    delete_retention_ms: int = _DAY_MS
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = NEVER_MS
    min_cleanable_dirty_ratio: float = 0.5
    synced_each: bool = (
        False  # no topic's: each batch is on disk before the next is written, so that a crash tears the last alone
    )
