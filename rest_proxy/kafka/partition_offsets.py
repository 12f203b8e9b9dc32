"""Where partitions begin and end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from confluent_kafka import IsolationLevel, TopicPartition

from rest_proxy.kafka.admin import REQUEST_TIMEOUT_S, Admin
from rest_proxy.kafka.admin_types import OffsetSpec
from rest_proxy.kafka.failure import KafkaFailure

EARLIEST: Final[OffsetSpec] = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
LATEST: Final[OffsetSpec] = OffsetSpec.latest()  # type: ignore[no-untyped-call]


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
    answers = await admin.each(
        lambda client: client.list_offsets(asked, isolation_level=isolation, request_timeout=REQUEST_TIMEOUT_S)
    )
    offsets = {}
    for place, answer in answers.items():
        if isinstance(answer, KafkaFailure):
            raise answer
        offsets[place.topic, place.partition] = answer.offset
    return offsets
