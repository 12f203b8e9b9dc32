"""Where the partitions of a topic begin and end, and where in them a time lies."""

from __future__ import annotations

from collections.abc import Iterable

from rest_proxy.kafka.admin import Admin
from rest_proxy.kafka.admin_types import OffsetSpec
from rest_proxy.kafka.descriptions import describe_topic
from rest_proxy.kafka.partition_offsets import EARLIEST, LATEST, partition_offsets
from rest_proxy.streams.positions import Positions


class Offsets:
    """Asks the cluster each time: an end is old news at once."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    async def partitions(self, topic: str) -> list[int]:
        """KafkaFailure when there is no such topic. To ask does not make it."""
        description = await describe_topic(self._admin, topic)
        return sorted(partition.id for partition in description.partitions)

    async def earliest(self, topic: str, partitions: Iterable[int]) -> Positions:
        return await self._ask(topic, partitions, EARLIEST)

    async def latest(self, topic: str, partitions: Iterable[int]) -> Positions:
        return await self._ask(topic, partitions, LATEST)

    async def at_time(self, topic: str, partitions: Iterable[int], timestamp_ms: int) -> Positions:
        """The first record of each partition that is not older; the end where there is none."""
        spec: OffsetSpec = OffsetSpec.for_timestamp(timestamp_ms)
        found = await self._ask(topic, partitions, spec)
        missing = [partition for partition, offset in found.items() if offset < 0]
        return {**found, **await self.latest(topic, missing)}

    async def _ask(self, topic: str, partitions: Iterable[int], which: OffsetSpec) -> Positions:
        found = await partition_offsets(self._admin, ((topic, partition) for partition in partitions), which)
        return {partition: offset for (_, partition), offset in found.items()}
