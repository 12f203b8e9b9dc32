"""Creating, growing and deleting topics, without a disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from barnabas.kernel.settings import resolve
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.create_partitions import CreatePartitionsAssignment, CreatePartitionsTopic
from barnabas.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
)
from barnabas.wire.messages.delete_topics import DeleteTopicState
from core_broker.configs.broker import BROKER_CATALOGUE
from core_broker.configs.broker_config import BrokerConfig
from core_broker.configs.described import ConfigSource
from core_broker.metadata.image import EMPTY, ClusterImage, ResourceType
from core_broker.metadata.replay import replay
from core_broker.metadata.topics import (
    NEW_PARTITIONS_MAX,
    Node,
    TopicCreation,
    TopicRules,
    add_partitions,
    delete_topic,
)

NODE = Node(1, b"d" * 16)
ID = b"i" * 16


class Cluster:
    """An image that follows the records, as the broker's does."""

    def __init__(self) -> None:
        self.image: ClusterImage = EMPTY
        self._ids = iter(range(1, 1000))
        settings = resolve(BROKER_CATALOGUE, {"log.retention.hours": "1"}, {}, None)
        config = BrokerConfig(settings, {}, {})
        self._rules = TopicRules(NODE, config, partitions=3, new_id=lambda: next(self._ids).to_bytes(16, "big"))

    def create(self, *topics: CreatableTopic) -> list[CreatableTopicResult]:
        creation = TopicCreation(self.image, self._rules)
        results = [creation.create(topic) for topic in topics]
        self.image = replay(self.image, creation.records, offset=0, epoch=1)
        return results

    def grow(
        self, name: str, count: int, assignments: Sequence[Sequence[int]] | None = None
    ) -> tuple[ErrorCode, str | None]:
        assigned = None
        if assignments is not None:
            assigned = [CreatePartitionsAssignment(broker_ids=list(brokers)) for brokers in assignments]
        asked = CreatePartitionsTopic(name=name, count=count, assignments=assigned)
        result, records = add_partitions(self.image, NODE, asked)
        self.image = replay(self.image, records, offset=0, epoch=1)
        return ErrorCode(result.error_code), result.error_message

    def delete(self, name: str | None = None, topic_id: bytes = bytes(16)) -> ErrorCode:
        result, records = delete_topic(self.image, DeleteTopicState(name=name, topic_id=topic_id))
        self.image = replay(self.image, records, offset=0, epoch=1)
        return ErrorCode(result.error_code)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def asked(
    name: str = "t",
    partitions: int = 1,
    replicas: int = 1,
    configs: Mapping[str, str | None] | None = None,
    assignments: Mapping[int, list[int]] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()],
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in (assignments or {}).items()
        ],
    )


def test_a_topic_is_created(cluster: Cluster) -> None:
    (result,) = cluster.create(asked(partitions=2, configs={"segment.ms": "5"}))
    assert (result.error_code, result.error_message) == (0, None)
    assert (result.num_partitions, result.replication_factor) == (2, 1)
    topic = cluster.image.topics["t"]
    assert topic.topic_id == result.topic_id
    assert [(p.leader, p.replicas, p.isr, p.directories) for p in topic.partitions] == [
        (1, (1,), (1,), (b"d" * 16,))
    ] * 2
    assert cluster.image.config(ResourceType.TOPIC, "t") == {"segment.ms": "5"}


def test_the_answer_has_the_whole_configuration(cluster: Cluster) -> None:
    (result,) = cluster.create(asked(configs={"segment.ms": "5"}))
    configs = {config.name: (config.value, config.config_source) for config in result.configs or ()}
    assert configs["segment.ms"] == ("5", ConfigSource.TOPIC)
    assert configs["retention.ms"] == ("3600000", ConfigSource.STATIC_BROKER)
    assert configs["segment.bytes"] == ("1073741824", ConfigSource.DEFAULT)
    assert list(configs) == sorted(configs)


def test_minus_one_takes_the_defaults(cluster: Cluster) -> None:
    (result,) = cluster.create(asked(partitions=-1, replicas=-1))
    assert (result.num_partitions, result.replication_factor) == (3, 1)


def test_a_manual_assignment_of_the_only_broker_is_taken(cluster: Cluster) -> None:
    (result,) = cluster.create(asked(partitions=-1, replicas=-1, assignments={0: [1], 1: [1]}))
    assert (result.error_code, result.num_partitions) == (0, 2)


@pytest.mark.parametrize(
    ("topic", "code", "part"),
    [
        (asked(""), ErrorCode.INVALID_TOPIC_EXCEPTION, "empty"),
        (asked("."), ErrorCode.INVALID_TOPIC_EXCEPTION, "directory"),
        (asked(".."), ErrorCode.INVALID_TOPIC_EXCEPTION, "directory"),
        (asked("x" * 250), ErrorCode.INVALID_TOPIC_EXCEPTION, "250 characters"),
        (asked("bad name"), ErrorCode.INVALID_TOPIC_EXCEPTION, "'bad name'"),
        (asked("ä"), ErrorCode.INVALID_TOPIC_EXCEPTION, "'ä'"),
        (asked("line\n"), ErrorCode.INVALID_TOPIC_EXCEPTION, "other characters"),
        (asked("__cluster_metadata"), ErrorCode.INVALID_REQUEST, "own log"),
        (asked(partitions=0), ErrorCode.INVALID_PARTITIONS, "0 partitions"),
        (asked(partitions=-2), ErrorCode.INVALID_PARTITIONS, "-2 partitions"),
        (asked(partitions=NEW_PARTITIONS_MAX + 1), ErrorCode.POLICY_VIOLATION, "10000"),
        (asked(replicas=0), ErrorCode.INVALID_REPLICATION_FACTOR, "below 1"),
        (asked(replicas=3), ErrorCode.INVALID_REPLICATION_FACTOR, "factor 3 cannot be reached: there is 1 broker"),
        (asked(configs={"nope": "1"}), ErrorCode.INVALID_CONFIG, "nope"),
        (asked(partitions=0, configs={"retention.ms": "x"}), ErrorCode.INVALID_CONFIG, "retention.ms='x'"),
        (asked(assignments={0: [1]}), ErrorCode.INVALID_REQUEST, "must be -1"),
        (asked("t", -1, -1, None, {0: [2]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "broker 2"),
        (asked("t", -1, -1, None, {0: [1, 1]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "more than once"),
        (asked("t", -1, -1, None, {0: []}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "no replica"),
        (asked("t", -1, -1, None, {1: [1]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "without gaps"),
    ],
)
def test_topics_that_cannot_be_created(cluster: Cluster, topic: CreatableTopic, code: ErrorCode, part: str) -> None:
    (result,) = cluster.create(topic)
    assert result.error_code == code
    assert part in (result.error_message or "")
    assert not cluster.image.topics


def test_a_partition_that_is_assigned_twice_is_refused(cluster: Cluster) -> None:
    topic = asked("t", -1, -1, None, {0: [1]})
    topic.assignments *= 2
    (result,) = cluster.create(topic)
    assert result.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_names_are_taken_once(cluster: Cluster) -> None:
    cluster.create(asked("a.b"))
    results = cluster.create(asked("a.b"), asked("a_b"), asked("a-b"), asked("c_d"), asked("c.d"), asked("c_d"))
    assert [result.error_code for result in results] == [
        ErrorCode.TOPIC_ALREADY_EXISTS,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.NONE,
        ErrorCode.NONE,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.TOPIC_ALREADY_EXISTS,
    ]


def test_the_limit_counts_all_topics_of_a_request(cluster: Cluster) -> None:
    results = cluster.create(asked("a", NEW_PARTITIONS_MAX - 1), asked("b", 2), asked("c", 1))
    assert [result.error_code for result in results] == [0, ErrorCode.POLICY_VIOLATION, 0]


def test_a_topic_grows(cluster: Cluster) -> None:
    cluster.create(asked("t", 2))
    assert cluster.grow("t", 4) == (ErrorCode.NONE, None)
    assert cluster.grow("t", 5, [[1]]) == (ErrorCode.NONE, None)
    assert len(cluster.image.topics["t"].partitions) == 5


@pytest.mark.parametrize(
    ("name", "count", "assignments", "code"),
    [
        ("nope", 3, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("t", 2, None, ErrorCode.INVALID_PARTITIONS),
        ("t", 1, None, ErrorCode.INVALID_PARTITIONS),
        ("t", -1, None, ErrorCode.INVALID_PARTITIONS),
        ("t", NEW_PARTITIONS_MAX + 3, None, ErrorCode.INVALID_PARTITIONS),
        ("t", 4, [[1]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ("t", 3, [], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ("t", 3, [[2]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_growth_that_is_refused(
    cluster: Cluster, name: str, count: int, assignments: list[list[int]] | None, code: ErrorCode
) -> None:
    cluster.create(asked("t", 2))
    found, message = cluster.grow(name, count, assignments)
    assert found is code
    assert message
    assert len(cluster.image.topics["t"].partitions) == 2


def test_a_topic_is_deleted_by_name_or_by_id(cluster: Cluster) -> None:
    cluster.create(asked("t"), asked("u"))
    assert cluster.delete("t") is ErrorCode.NONE
    assert cluster.delete(topic_id=cluster.image.topics["u"].topic_id) is ErrorCode.NONE
    assert not cluster.image.topics


@pytest.mark.parametrize(
    ("name", "topic_id", "code"),
    [
        ("nope", bytes(16), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (None, ID, ErrorCode.UNKNOWN_TOPIC_ID),
        (None, bytes(16), ErrorCode.INVALID_REQUEST),
        ("t", ID, ErrorCode.INVALID_REQUEST),
    ],
)
def test_deletions_that_are_refused(cluster: Cluster, name: str | None, topic_id: bytes, code: ErrorCode) -> None:
    cluster.create(asked("t"))
    assert cluster.delete(name, topic_id) is code
    assert set(cluster.image.topics) == {"t"}
