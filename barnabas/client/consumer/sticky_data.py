"""What members of the sticky assignor remember for their leader: their partitions and the generation they had them in."""

from collections.abc import Collection

from barnabas.client.consumer.assignors import NO_GENERATION, TopicPartition
from barnabas.wire.codec import decode, encode
from barnabas.wire.fields import Blob, array, int32, string
from barnabas.wire.struct import Message, Struct
from barnabas.wire.wire_error import WireError

_WITH_GENERATION = 1
_WITHOUT_GENERATION = 0


class TopicAssignment(Struct):
    topic: str = string()
    partitions: list[int] = array(int32)


class StickyAssignorUserData(Message, versions="0-1", flexible="none"):
    previous_assignment: list[TopicAssignment] = array(TopicAssignment)
    generation: int = int32("1+", default=NO_GENERATION)


def encode_partitions(partitions: Collection[TopicPartition], generation: int) -> bytes:
    grouped: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        grouped.setdefault(topic, []).append(number)
    data = StickyAssignorUserData(
        previous_assignment=[TopicAssignment(topic=topic, partitions=numbers) for topic, numbers in grouped.items()],
        generation=generation,
    )
    return bytes(encode(data, _WITH_GENERATION))


def decode_partitions(data: Blob) -> tuple[list[TopicPartition], int]:
    """Partitions and generation; members of old clients do not tell the generation."""
    try:
        found, _ = decode(StickyAssignorUserData, _WITH_GENERATION, data)
    except WireError:
        found, _ = decode(StickyAssignorUserData, _WITHOUT_GENERATION, data)
    partitions = [
        TopicPartition(entry.topic, number) for entry in found.previous_assignment for number in entry.partitions
    ]
    return partitions, found.generation
