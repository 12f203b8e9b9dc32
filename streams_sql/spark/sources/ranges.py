"""Ranges of offsets: what Spark plans, and its workers read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from pyspark.sql.datasource import InputPartition

Partition: TypeAlias = tuple[str, int]
"""A topic, and the number of one of its partitions."""


class RecordsGoneError(Exception):
    """Records of a range are not there any more, or their whole topic is not."""


@dataclass(frozen=True)
class Range(InputPartition):
    """Records of one partition, from the offset `start` to the one before `end`. `awaited` are the partitions of the query that the rows
    of this batch have to wait for (see `batch_plan`)."""

    topic: str
    partition: int
    start: int
    end: int
    awaited: frozenset[Partition] = field(default=frozenset(), repr=False)
