"""Ranges of offsets: what Spark plans, and its workers read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql.datasource import InputPartition


class RecordsGoneError(Exception):
    """Records of a range are not there any more, or their whole topic is not."""


@dataclass(frozen=True)
class Range(InputPartition):
    """Records of one partition, from the offset `start` to the one before `end`."""

    topic: str
    partition: int
    start: int
    end: int


def limited(begun: Mapping[int, int], ends: Mapping[int, int], records_max: int | None) -> dict[int, int]:
    """Where a batch ends: at the ends, or before them, so that each partition gets its share of what a batch may have."""
    waiting = {partition: end - begun.get(partition, 0) for partition, end in ends.items()}
    total = sum(waiting.values())
    if records_max is None or total <= records_max:
        return dict(ends)
    return {
        partition: begun.get(partition, 0) + -(-count * records_max // total) for partition, count in waiting.items()
    }
