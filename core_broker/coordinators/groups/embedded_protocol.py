"""What classic consumers tell each other inside JoinGroup and SyncGroup, for groups where the broker takes part in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from barnabas.wire.records.framing import decode_versioned, encode_versioned
from barnabas.wire.wire_error import WireError
from core_broker.metadata.image import ClusterImage

VERSION_BYTES: Final = 2
VERSION_MAX: Final = 3


def read_subscription(data: bytes) -> ConsumerProtocolSubscription:
    """KafkaError when it cannot be read."""
    try:
        return decode_versioned(ConsumerProtocolSubscription, data)
    except WireError as problem:
        raise KafkaError(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"the member's subscription cannot be read: {problem}"
        ) from None


def read_assignment(data: bytes) -> ConsumerProtocolAssignment:
    """WireError when it cannot be read; nothing is an assignment of nothing."""
    return decode_versioned(ConsumerProtocolAssignment, data) if data else ConsumerProtocolAssignment()


def write_assignment(partitions: Mapping[bytes, Iterable[int]], like: bytes, image: ClusterImage) -> bytes:
    """In the version of a subscription that the member sent; topics that are gone are left out."""
    version = min(int.from_bytes(like[:VERSION_BYTES]), VERSION_MAX)
    return encode_versioned(
        ConsumerProtocolAssignment(
            assigned_partitions=[
                TopicPartition(topic=image.topic_names[topic_id], partitions=sorted(numbers))
                for topic_id, numbers in partitions.items()
                if topic_id in image.topic_names
            ]
        ),
        version,
    )
