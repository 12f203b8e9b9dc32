"""What a reset must ask the brokers: which partitions there are, and where their logs begin, end and were at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from barnabas.client.admin.listed_offsets import Offset, list_offsets
from barnabas.client.admin.session import Session
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kafka_tools.groups.offset_resets import Offsets
from barnabas.kernel.java.hash_map import hash_map_order
from barnabas.kernel.java.java_exceptions import JavaFailure, future_failure
from barnabas.kernel.java.kafka_exceptions import class_name, error_of, message_of
from barnabas.wire.errors import ErrorCode, KafkaError

EARLIEST: Final = -2
LATEST: Final = -1
NO_OFFSET: Final = -1
NO_LEADER: Final = -1


def parse_partitions(argument: str) -> list[TopicPartition]:
    """The partitions of `topic:0,1,2`; ValueError in Kafka's words."""
    parts = argument.split(":")
    while parts and not parts[-1]:
        parts.pop()
    if len(parts) != 2:
        raise ValueError(f"Invalid topic arg '{argument}', expected topic name and partitions")
    topic, numbers = parts
    found = []
    for number in numbers.split(","):
        if not number.lstrip("+-").isdigit():
            raise ValueError(f"Invalid partition '{number}' specified in topic arg '{argument}''")
        found.append(TopicPartition(topic, int(number)))
    return found


async def named_partitions(session: Session, arguments: Sequence[str]) -> list[TopicPartition]:
    """The partitions that `--topic` options name; JavaFailure for those that do not exist or have no leader."""
    given = [place for argument in arguments if ":" in argument for place in parse_partitions(argument)]
    whole = [argument for argument in arguments if ":" not in argument]
    found = list(given)
    if whole:
        topics = await session.topics(whole)
        for name in hash_map_order(whole):
            if topics[name].error_code:
                error = error_of(topics[name].error_code, None)
                raise JavaFailure(class_name(error.code), message_of(error))
            numbers = sorted(partition.partition_index for partition in topics[name].partitions)
            found += [TopicPartition(name, number) for number in numbers]
    await _check_partitions(session, found)
    return found


async def _check_partitions(session: Session, partitions: Collection[TopicPartition]) -> None:
    topics = await session.topics(sorted({partition.topic for partition in partitions}))
    leaders: dict[TopicPartition, int] = {}
    for name, topic in topics.items():
        if topic.error_code:
            raise future_failure(error_of(topic.error_code, None))
        leaders |= {TopicPartition(name, one.partition_index): one.leader_id for one in topic.partitions}
    missing = [str(partition) for partition in partitions if partition not in leaders]
    if missing:
        message = f'The partitions "{",".join(missing)}" do not exist'
        raise JavaFailure(class_name(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), message)
    leaderless = [str(partition) for partition in partitions if leaders[partition] == NO_LEADER]
    if leaderless:
        message = f'The partitions "{",".join(leaderless)}" have no leader'
        raise JavaFailure(class_name(ErrorCode.LEADER_NOT_AVAILABLE), message)


async def log_offsets(session: Session, partitions: Collection[TopicPartition], time: int) -> Offsets:
    """EARLIEST, LATEST or the offsets at a time, NO_OFFSET where there is none; JavaFailure if a partition has no answer."""
    try:
        await _require_topics(session, partitions)
        answers = await list_offsets(session, dict.fromkeys(partitions, time))
        for answer in answers.values():
            if isinstance(answer, KafkaError):
                raise answer
    except KafkaError as error:
        raise future_failure(error) from error
    return {partition: _offset(answers, partition) for partition in partitions}


def _offset(answers: Mapping[tuple[str, int], Offset | KafkaError], partition: TopicPartition) -> int:
    answer = answers[partition]
    assert isinstance(answer, Offset)
    return answer.offset


async def _require_topics(session: Session, partitions: Collection[TopicPartition]) -> None:
    topics = await session.topics(sorted({partition.topic for partition in partitions}))
    for partition in partitions:
        topic = topics.get(partition.topic)
        if topic is None or topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            message = (
                f"Failed to fetch metadata for partition {partition} because metadata for topic "
                f"`{partition.topic}` could not be found"
            )
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
        if topic.error_code:
            raise error_of(topic.error_code, None)
