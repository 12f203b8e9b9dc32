"""Creating, growing and deleting topics: from a request and the image to an answer and records. Nothing here touches the disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.fields import ZERO_UUID
from barnabas.wire.messages.create_partitions import CreatePartitionsTopic, CreatePartitionsTopicResult
from barnabas.wire.messages.create_topics import CreatableTopic, CreatableTopicConfigs, CreatableTopicResult
from barnabas.wire.messages.delete_topics import DeletableTopicResult, DeleteTopicState
from barnabas.wire.records.cluster_metadata import ConfigRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from barnabas.wire.struct import Message
from core_broker.configs.broker_config import BrokerConfig
from core_broker.configs.topic_config import TopicConfig, check_topic_configs
from core_broker.metadata.image import ClusterImage, ResourceType, TopicImage
from core_broker.metadata.topic_names import METADATA_TOPIC, check_topic_name, collision_key

DEFAULT: Final = -1
NEW_PARTITIONS_MAX: Final = 10_000
"""Partitions that one request may create: their records must fit one batch of the metadata log."""


# Counts so many partitions that are about to be created or deleted, and raises KafkaError when a quota does not allow it now.
Charge = Callable[[int], None]


def no_charge(partitions: int) -> None:
    """For who has no quota."""


@dataclass(frozen=True, slots=True)
class Node:
    """Where every replica goes: this broker, and its log directory."""

    node_id: int
    directory_id: bytes


@dataclass(frozen=True, slots=True)
class TopicRules:
    """What applies to a topic whose creator leaves it open."""

    node: Node
    broker_config: BrokerConfig
    partitions: int
    new_id: Callable[[], bytes]


class TopicCreation:
    """One request to create topics. Each topic succeeds or fails alone; a later one sees those before it."""

    def __init__(self, image: ClusterImage, rules: TopicRules, charge: Charge = no_charge) -> None:
        self.records: list[Message] = []
        self._charge = charge
        self._image = image
        self._rules = rules
        self._names: set[str] = set()
        self._collisions: dict[str, str] | None = None
        self._shared_configs: list[CreatableTopicConfigs] | None = None
        self._new_partitions = 0

    def create(self, asked: CreatableTopic) -> CreatableTopicResult:
        try:
            return self._create(asked)
        except KafkaError as error:
            return CreatableTopicResult(name=asked.name, error_code=error.code, error_message=error.message)

    def _create(self, asked: CreatableTopic) -> CreatableTopicResult:
        self._check_name(asked.name)
        configs = {config.name: config.value for config in asked.configs}
        check_topic_configs(configs)
        count = self._partition_count(asked)
        self._charge(count)
        self._new_partitions += count
        topic_id = self._rules.new_id()
        self.records.append(TopicRecord(name=asked.name, topic_id=topic_id))
        self.records.extend(
            ConfigRecord(resource_type=ResourceType.TOPIC, resource_name=asked.name, name=name, value=value)
            for name, value in configs.items()
        )
        self.records.extend(partition_record(self._rules.node, topic_id, index) for index in range(count))
        self._names.add(asked.name)
        if self._collisions is not None:
            self._collisions[collision_key(asked.name)] = asked.name
        return CreatableTopicResult(
            name=asked.name,
            topic_id=topic_id,
            error_message=None,
            num_partitions=count,
            replication_factor=1,
            configs=self._described({name: value or "" for name, value in configs.items()}),
        )

    def _described(self, configs: Mapping[str, str]) -> list[CreatableTopicConfigs]:
        """The whole configuration of a new topic. Topics without any of their own, which are most, share one list."""
        if not configs and self._shared_configs is not None:
            return self._shared_configs
        described = [
            CreatableTopicConfigs(
                name=entry.setting.name, value=entry.text, config_source=entry.source, is_sensitive=False
            )
            for entry in TopicConfig(self._rules.broker_config, configs).created()
        ]
        if not configs:
            self._shared_configs = described
        return described

    def _check_name(self, name: str) -> None:
        if name == METADATA_TOPIC:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} is the broker's own log and cannot be created")
        check_topic_name(name)
        if name in self._image.topics or name in self._names:
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic {name!r} already exists")
        if "." not in name and "_" not in name:
            return
        if self._collisions is None:
            self._collisions = {collision_key(other): other for other in (*self._image.topics, *self._names)}
        other = self._collisions.get(collision_key(name))
        if other is not None:
            raise KafkaError(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"topic {name!r} collides with {other!r}: names that differ only in '.' and '_' cannot be told apart in metrics",
            )

    def _partition_count(self, asked: CreatableTopic) -> int:
        if asked.assignments:
            count = self._assigned_partitions(asked)
        else:
            self._check_replication_factor(asked.replication_factor)
            count = self._rules.partitions if asked.num_partitions == DEFAULT else asked.num_partitions
            if count < 1:
                raise KafkaError(
                    ErrorCode.INVALID_PARTITIONS,
                    f"a topic cannot have {count} partitions; at least 1, or -1 for the default",
                )
        if self._new_partitions + count > NEW_PARTITIONS_MAX:
            raise KafkaError(
                ErrorCode.POLICY_VIOLATION,
                f"one request can create {NEW_PARTITIONS_MAX} partitions; ask for fewer at a time",
            )
        return count

    def _check_replication_factor(self, factor: int) -> None:
        if factor != DEFAULT and factor < 1:
            raise KafkaError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"replication factor {factor} is below 1; -1 stands for the default",
            )
        if factor > 1:
            raise KafkaError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"replication factor {factor} cannot be reached: there is 1 broker; ask for 1, or for -1, the default",
            )

    def _assigned_partitions(self, asked: CreatableTopic) -> int:
        if asked.replication_factor != DEFAULT or asked.num_partitions != DEFAULT:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                "with a manual assignment of replicas, replication factor and number of partitions must be -1",
            )
        indexes = Counter(assignment.partition_index for assignment in asked.assignments)
        twice = [index for index, times in indexes.items() if times > 1]
        if twice:
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"partition {twice[0]} is assigned twice")
        for assignment in asked.assignments:
            check_assignment(self._rules.node, assignment.broker_ids)
        if set(indexes) != set(range(len(indexes))):
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"the assignment names partitions {sorted(indexes)}; they must count from 0 without gaps",
            )
        return len(indexes)


def add_partitions(
    image: ClusterImage, node: Node, asked: CreatePartitionsTopic, charge: Charge = no_charge
) -> tuple[CreatePartitionsTopicResult, list[Message]]:
    """A topic grows to the number of partitions that it is to have in the end."""
    try:
        records = _new_partitions(image, node, asked)
        charge(len(records))
    except KafkaError as error:
        return CreatePartitionsTopicResult(name=asked.name, error_code=error.code, error_message=error.message), []
    return CreatePartitionsTopicResult(name=asked.name, error_message=None), records


def _new_partitions(image: ClusterImage, node: Node, asked: CreatePartitionsTopic) -> list[Message]:
    topic = image.topics.get(asked.name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {asked.name!r}")
    present = len(topic.partitions)
    if asked.count <= present:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            f"topic {asked.name!r} has {present} partitions, so that {asked.count} is no increase; partitions cannot be removed",
        )
    if asked.count - present > NEW_PARTITIONS_MAX:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            f"one request can create {NEW_PARTITIONS_MAX} partitions; ask for fewer at a time",
        )
    if asked.assignments is not None:
        if len(asked.assignments) != asked.count - present:
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"{asked.count - present} partitions are new and {len(asked.assignments)} are assigned; assign each new one",
            )
        for assignment in asked.assignments:
            check_assignment(node, assignment.broker_ids)
    return [partition_record(node, topic.topic_id, index) for index in range(present, asked.count)]


def delete_topic(image: ClusterImage, asked: DeleteTopicState) -> tuple[DeletableTopicResult, list[Message]]:
    """A topic goes, named either by its name or by its id."""
    try:
        topic = find_topic(image, asked)
    except KafkaError as error:
        return (
            DeletableTopicResult(
                name=asked.name, topic_id=asked.topic_id, error_code=error.code, error_message=error.message
            ),
            [],
        )
    result = DeletableTopicResult(name=topic.name, topic_id=topic.topic_id, error_message=None)
    return result, [RemoveTopicRecord(topic_id=topic.topic_id)]


def find_topic(image: ClusterImage, asked: DeleteTopicState) -> TopicImage:
    if asked.name is not None and asked.topic_id != ZERO_UUID:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"topic {asked.name!r} is named and has an id; give one of both")
    if asked.name is not None:
        topic = image.topics.get(asked.name)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {asked.name!r}")
        return topic
    if asked.topic_id == ZERO_UUID:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "neither the name nor the id of a topic is given")
    topic = image.topic_by_id(asked.topic_id)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic with the id {asked.topic_id.hex()}")
    return topic


def partition_record(node: Node, topic_id: bytes, index: int) -> PartitionRecord:
    """A new partition: one replica, in sync, leading."""
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=[node.node_id],
        isr=[node.node_id],
        leader=node.node_id,
        leader_epoch=0,
        partition_epoch=0,
        directories=[node.directory_id],
    )


def check_assignment(node: Node, replicas: Sequence[int]) -> None:
    """The only possible assignment is this broker, once."""
    if not replicas:
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "the assignment of a partition has no replica")
    strangers = [replica for replica in replicas if replica != node.node_id]
    if strangers:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"the assignment names broker {strangers[0]}, and there is none; the only broker is {node.node_id}",
        )
    if len(replicas) > 1:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"the assignment names broker {node.node_id} more than once"
        )


def repeated(names: Iterable[str]) -> set[str]:
    """The names that a request gives more than once, which Kafka refuses."""
    return {name for name, times in Counter(names).items() if times > 1}
