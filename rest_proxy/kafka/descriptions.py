"""What the cluster says about its topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from confluent_kafka import KafkaError, TopicCollection

from rest_proxy.kafka.admin import REQUEST_TIMEOUT_S, Admin
from rest_proxy.kafka.admin_types import TopicDescription
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.topic_name import INVALID_TOPIC, invalid_topic

_GONE: Final = KafkaError.UNKNOWN_TOPIC_OR_PART


async def describe_topic(admin: Admin, name: str, *, with_operations: bool = False) -> TopicDescription:
    """One topic; KafkaFailure when there is none of that name, or can be none. To ask does not make it."""
    if invalid_topic(name) is not None:
        message = "The request attempted to perform an operation on an invalid topic."
        raise KafkaFailure(INVALID_TOPIC, "TOPIC_EXCEPTION", message, retriable=False)
    found = await _describe(admin, [name], with_operations=with_operations)
    description = found[name]
    if isinstance(description, KafkaFailure):
        raise description.naming(f"topic {name}")
    return description


async def describe_all_topics(admin: Admin, *, with_operations: bool = False) -> list[TopicDescription]:
    """All topics by name. One that is deleted in the meantime is left out."""
    names = sorted((await admin.metadata()).topics)
    found = (await _describe(admin, names, with_operations=with_operations)).values() if names else ()
    topics = []
    for description in found:
        if not isinstance(description, KafkaFailure):
            topics.append(description)
        elif description.code != _GONE:
            raise description
    return topics


async def _describe(
    admin: Admin, names: Sequence[str], *, with_operations: bool
) -> dict[str, TopicDescription | KafkaFailure]:
    return await admin.each(
        lambda client: client.describe_topics(
            TopicCollection(list(names)),
            include_authorized_operations=with_operations,
            request_timeout=REQUEST_TIMEOUT_S,
        )
    )
