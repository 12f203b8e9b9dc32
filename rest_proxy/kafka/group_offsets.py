"""What consumer groups have committed.

The admin client has a question for this, but librdkafka ends the whole process when the answer is that the group's coordinator
has moved. A consumer of the group, which never joins it, can ask the same and lives.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from barnabas.kernel.settings import Settings
from rest_proxy.kafka.client_settings import CONSUMER, client_settings
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.threads import Threads

COMMITTED_TIMEOUT_S: Final = 30.0
NO_OFFSET: Final = 0
"""Offsets below it are librdkafka's words for none."""

logger = logging.getLogger(__name__)


class GroupOffsets:
    def __init__(self, settings: Settings, threads: Threads) -> None:
        self._settings = settings
        self._threads = threads

    async def committed(self, group_id: str, partitions: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """The offsets of those partitions that the group has committed one for."""
        if not partitions:
            return {}
        found = await self._threads.run(self._ask, group_id, [TopicPartition(*place) for place in partitions])
        for place in found:
            if place.error is not None:
                raise KafkaFailure.of(place.error)
        return {(place.topic, place.partition): place.offset for place in found if place.offset >= NO_OFFSET}

    def _ask(self, group_id: str, partitions: list[TopicPartition]) -> list[TopicPartition]:
        own = {"group.id": group_id, "enable.auto.commit": False}
        consumer = Consumer({**client_settings(self._settings, CONSUMER), **own}, logger=logger)
        try:
            return consumer.committed(partitions, timeout=COMMITTED_TIMEOUT_S)
        finally:
            consumer.close()
