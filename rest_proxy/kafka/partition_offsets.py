"""Where partitions begin and end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from confluent_kafka import IsolationLevel, KafkaError, TopicPartition

from rest_proxy.kafka.admin import REQUEST_TIMEOUT_S, Admin
from rest_proxy.kafka.admin_types import OffsetSpec
from rest_proxy.kafka.failure import KafkaFailure

EARLIEST: Final[OffsetSpec] = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
LATEST: Final[OffsetSpec] = OffsetSpec.latest()  # type: ignore[no-untyped-call]

LOOKS_MAX: Final = 10
LOOK_PAUSE_S: Final = 0.1
"""A partition that was just made, or whose broker has just gone, has a leader within a second."""

_OUT_OF_DATE: Final = frozenset(
    {
        KafkaError._NOENT,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
    }
)


async def partition_offsets(
    admin: Admin,
    places: Iterable[tuple[str, int]],
    which: OffsetSpec,
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> dict[tuple[str, int], int]:
    """The first or last offsets of partitions, which must exist; KafkaFailure when one of them cannot be had."""
    asked = {TopicPartition(*place): which for place in places}
    if not asked:
        return {}
    for _ in range(LOOKS_MAX):
        try:
            return await _ask(admin, asked, isolation)
        except KafkaFailure as failure:
            if failure.code not in _OUT_OF_DATE:
                raise
        # librdkafka goes on asking with what it knew before the partition had a leader, or another one, until it is told to look.
        await admin.metadata()
        await asyncio.sleep(LOOK_PAUSE_S)
    return await _ask(admin, asked, isolation)


async def _ask(
    admin: Admin, asked: dict[TopicPartition, OffsetSpec], isolation: IsolationLevel
) -> dict[tuple[str, int], int]:
    answers = await admin.each(
        lambda client: client.list_offsets(asked, isolation_level=isolation, request_timeout=REQUEST_TIMEOUT_S)
    )
    offsets = {}
    for place, answer in answers.items():
        if isinstance(answer, KafkaFailure):
            raise answer
        offsets[place.topic, place.partition] = answer.offset
    return offsets
