"""Where a reset sends a group: the rules for every way to say it, apart from any broker."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum

from barnabas.client.consumer.assignors import TopicPartition

Offsets = dict[TopicPartition, int]


class ResetKind(Enum):
    """The ways to say it, by the names of Kafka's options."""

    TO_OFFSET = "to-offset"
    TO_EARLIEST = "to-earliest"
    TO_LATEST = "to-latest"
    SHIFT_BY = "shift-by"
    TO_DATETIME = "to-datetime"
    BY_DURATION = "by-duration"
    FROM_FILE = "from-file"
    TO_CURRENT = "to-current"


@dataclass(frozen=True, slots=True)
class Clamped:
    """An offset outside of the log, and what it was set to instead."""

    partition: TopicPartition
    wanted: int
    used: int

    @property
    def complaint(self) -> str:
        relation = "higher than latest" if self.wanted > self.used else "lower than earliest"
        return f"New offset ({self.wanted}) is {relation} offset"


def clamp(
    wanted: Mapping[TopicPartition, int], starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
) -> tuple[Offsets, list[Clamped]]:
    """The offsets inside of each log, from its start to just behind its end, and which of them had to be moved."""
    result: Offsets = {}
    moved: list[Clamped] = []
    for partition, offset in wanted.items():
        used = min(max(offset, starts[partition]), ends[partition])
        if used != offset:
            moved.append(Clamped(partition, offset, used))
        result[partition] = used
    return result, moved


def shift(partitions: Collection[TopicPartition], committed: Mapping[TopicPartition, int], by: int) -> Offsets:
    """Each committed offset moved; ValueError for a partition that has none."""
    for partition in partitions:
        if partition not in committed:
            raise ValueError(
                f"Cannot shift offset for partition {partition} since there is no current committed offset"
            )
    return {partition: committed[partition] + by for partition in partitions}


def current(
    partitions: Collection[TopicPartition],
    committed: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
) -> Offsets:
    """What is committed, and the end of the log where nothing is; those with a committed offset come first."""
    with_offset = {partition: committed[partition] for partition in partitions if partition in committed}
    without = {partition: ends[partition] for partition in partitions if partition not in committed}
    return with_offset | without
