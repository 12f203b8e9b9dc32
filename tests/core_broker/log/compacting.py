"""Compaction of one log, done at once and in one thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from core_broker.cleaning_round import CleaningRound, RoundLimits, RoundResult
from core_broker.log.compaction import find_dirty_part
from core_broker.log.pace import IoThrottle, Pace
from core_broker.log.partition_log import PartitionLog
from tests.core_broker.log.batches import sync

Result = TypeVar("Result")

LIMITS = RoundLimits(keys_max_bytes=1 << 20, keys_load_factor=0.9, chunk_bytes=1000)


async def at_once(work: Callable[[], Result]) -> Result:
    return work()


def hurried_pace() -> Pace:
    return Pace(IoThrottle(), sleep=lambda seconds: None)


def compact(
    log: PartitionLog, cleaned_offset: int | None = None, *, limits: RoundLimits = LIMITS, settle: bool = True
) -> RoundResult | None:
    """One round over all that may be compacted, once it is recorded as durable; None if there is nothing."""
    if settle:
        sync(log)
        log.checkpoint()
    stable = log.last_stable_offset(log.log_end_offset)
    part = find_dirty_part(log, cleaned_offset, stable, log.clock_ms(), durable_end=log.recorded_recovery_point)
    if part.dirty_bytes == 0:
        return None
    cleaning = CleaningRound(log, part, limits, hurried_pace(), at_once, lambda: True)
    return asyncio.run(cleaning.run(log.clock_ms()))
