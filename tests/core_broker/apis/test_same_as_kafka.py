"""The same question to Apache Kafka and to us gets the same answer, but for what is stated here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages import alter_configs, incremental_alter_configs
from barnabas.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.wire.messages.create_acls import AclCreation, CreateAclsRequest
from barnabas.wire.messages.create_delegation_token import CreateDelegationTokenRequest
from barnabas.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from barnabas.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from barnabas.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from barnabas.wire.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.wire.messages.describe_acls import DescribeAclsRequest
from barnabas.wire.messages.describe_cluster import DescribeClusterRequest
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from barnabas.wire.messages.describe_delegation_token import DescribeDelegationTokenRequest
from barnabas.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from barnabas.wire.messages.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest
from barnabas.wire.messages.describe_topic_partitions import TopicRequest as PagedTopic
from barnabas.wire.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from barnabas.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from barnabas.wire.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from barnabas.wire.messages.unregister_broker import UnregisterBrokerRequest
from barnabas.wire.struct import Message
from tests.broker import BarnabasBroker
from tests.core_broker.apis.pair import Pair, plain
from tests.oracle import ApacheKafka

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
TIMEOUT_MS = 5000

# Defaults of ours that are not Kafka's, each for a reason; and listeners, which Kafka can change while it runs.
OTHER_DEFAULTS = {"listeners", "log.dir"}
OTHER_MODE = {"listeners", "listener.security.protocol.map"}
OWN = {"durability", "validation"}
OWN_BROKER = {
    "connection.max.group.members",
    "group.max.members.and.pending",
    "group.max.metadata.bytes",
    "metrics.listener",
    "metrics.per.partition",
    "request.log",
    "request.log.slow.ms",
}


@pytest.fixture(scope="module")
def pair(barnabas: BarnabasBroker, apache_kafka: ApacheKafka) -> Pair:
    pair = Pair(barnabas.address, apache_kafka.address)
    pair.create(
        topic("pair-one"),
        topic("pair-five", 5),
        topic("pair-compacted", configs={"cleanup.policy": "compact"}),
        topic("pair-unpoliced", configs={"cleanup.policy": ""}),
        topic("pair.dotted"),
    )
    return pair


def topic(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    configs: dict[str, str | None] | None = None,
    assignments: dict[int, list[int]] | None = None,
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


def described(answer: Message) -> dict[str, DescribeConfigsResourceResult]:
    assert isinstance(answer, DescribeConfigsResponse)
    (result,) = answer.results
    assert result.error_code == ErrorCode.NONE
    return {config.name: config for config in result.configs}


@pytest.mark.parametrize(("kind", "name"), [(TOPIC, "pair-one"), (BROKER, "1"), (GROUP, "g"), (METRICS, "s")])
def test_every_configuration_has_kafkas_name_type_and_default(pair: Pair, kind: int, name: str) -> None:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    answers = pair.ask(DescribeConfigsRequest(resources=[resource], include_synonyms=True))
    ours, kafkas = described(answers["ours"]), described(answers["kafka"])
    assert set(ours) - set(kafkas) == {TOPIC: OWN, BROKER: OWN | OWN_BROKER}.get(kind, set())
    assert set(kafkas) <= set(ours)

    def default(config: DescribeConfigsResourceResult) -> str | None:
        return next((synonym.value for synonym in config.synonyms if synonym.source == 5), None)

    for key, kafka in kafkas.items():
        own = ours[key]
        assert (own.config_type, own.is_sensitive) == (kafka.config_type, kafka.is_sensitive), key
        assert key in OTHER_MODE or own.read_only == kafka.read_only, key
        assert key in OTHER_DEFAULTS or default(own) in (default(kafka), own.value), key
        if kind != BROKER:
            assert own.value == kafka.value, key


MISSHAPEN_TOPICS = [
    topic(""),
    topic("."),
    topic("x" * 250),
    topic("bad name"),
    topic("pair-one"),
    topic("pair_dotted"),
    topic("__cluster_metadata"),
    topic("t", 0),
    topic("t", -2),
    topic("t", 100_000),
    topic("t", 1, 0),
    topic("t", 1, 2),
    topic("t", 1, -2),
    topic("t", 2, 1, None, {0: [1]}),
    topic("t", -1, -1, None, {1: [1]}),
    topic("t", -1, -1, None, {0: [2]}),
    topic("t", -1, -1, None, {0: [1, 1]}),
    topic("t", -1, -1, None, {0: []}),
    topic("t", configs={"nope": "1"}),
    topic("t", configs={"retention.ms": "x"}),
    topic("t", configs={"retention.ms": "-5"}),
    topic("t", configs={"retention.ms": None}),
    topic("t", configs={"cleanup.policy": "delete,"}),
    topic("t", configs={"segment.bytes": "100"}),
    topic("t", configs={"compression.type": "GZIP"}),
    topic("t", configs={"compression.gzip.level": "0"}),
    topic("t", configs={"remote.storage.enable": "true"}),
    topic("t", configs={"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"}),
]


@pytest.mark.parametrize("asked", MISSHAPEN_TOPICS, ids=lambda asked: f"{asked.name[:20]}-{asked.num_partitions}")
def test_topics_that_cannot_be_created(pair: Pair, asked: CreatableTopic) -> None:
    pair.agree(CreateTopicsRequest(topics=[asked], validate_only=True))


@pytest.mark.parametrize("version", [2, 4])
def test_topics_that_can_be_created(pair: Pair, version: int) -> None:
    pair.agree(CreateTopicsRequest(topics=[topic("t", 3), topic("u"), topic("u")], validate_only=True), version)


def altered(kind: int, name: str, *changes: tuple[str, int, str | None]) -> Message:
    configs = [
        incremental_alter_configs.AlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in changes
    ]
    resource = incremental_alter_configs.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    return incremental_alter_configs.IncrementalAlterConfigsRequest(resources=[resource], validate_only=True)


def replaced(kind: int, name: str, **values: str | None) -> Message:
    configs = [alter_configs.AlterableConfig(name=key.replace("_", "."), value=text) for key, text in values.items()]
    resource = alter_configs.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    return alter_configs.AlterConfigsRequest(resources=[resource], validate_only=True)


SET, DELETE, APPEND = 0, 1, 2
ALTERATIONS = [
    altered(TOPIC, "pair-one", ("retention.ms", SET, "5")),
    altered(TOPIC, "pair-one", ("retention.ms", SET, "x")),
    altered(TOPIC, "pair-one", ("retention.ms", SET, None)),
    altered(TOPIC, "pair-one", ("retention.ms", APPEND, "5")),
    altered(TOPIC, "pair-one", ("cleanup.policy", APPEND, "foo")),
    altered(TOPIC, "pair-one", ("nope", DELETE, None)),
    altered(TOPIC, "pair-one", ("retention.ms", SET, "1"), ("retention.ms", SET, "2")),
    altered(TOPIC, "nope", ("retention.ms", SET, "5")),
    altered(TOPIC, "", ("retention.ms", SET, "5")),
    altered(TOPIC, "bad name", ("retention.ms", SET, "5")),
    altered(BROKER, "1", ("log.retention.ms", SET, "5")),
    altered(BROKER, "", ("log.retention.ms", SET, "x")),
    altered(BROKER, "1", ("log.retention.ms", APPEND, "5")),
    altered(BROKER, "1", ("node.id", SET, "5")),
    altered(BROKER, "1", ("ssl.keystore.password", SET, "s")),
    altered(BROKER, "2", ("log.retention.ms", SET, "5")),
    altered(BROKER, "x", ("log.retention.ms", SET, "5")),
    altered(LOGGER, "1", ("root", SET, "LOUD")),
    altered(LOGGER, "1", ("root", DELETE, None)),
    altered(LOGGER, "1", ("no.such.logger", SET, "INFO")),
    altered(LOGGER, "2", ("root", SET, "INFO")),
    altered(METRICS, "s", ("interval.ms", SET, "1000")),
    altered(METRICS, "s", ("interval.ms", SET, "10")),
    altered(METRICS, "s", ("match", SET, "client_id=[")),
    altered(METRICS, "s", ("metrics", APPEND, "c.")),
    altered(METRICS, "", ("interval.ms", SET, "1000")),
    altered(GROUP, "g", ("consumer.session.timeout.ms", SET, "50000")),
    altered(GROUP, "g", ("consumer.session.timeout.ms", SET, "5")),
    altered(GROUP, "g", ("streams.num.standby.replicas", SET, "9")),
    altered(GROUP, "g", ("nope", SET, "9")),
    altered(GROUP, "", ("consumer.session.timeout.ms", SET, "50000")),
    altered(3, "x", ("a", SET, "1")),
    replaced(TOPIC, "pair-one", retention_ms="5"),
    replaced(TOPIC, "pair-one", retention_ms=None),
    replaced(TOPIC, "pair-one", nope="1"),
    replaced(TOPIC, "nope", retention_ms="5"),
    replaced(BROKER, "1", node_id="5"),
    replaced(LOGGER, "1", root="INFO"),
]


@pytest.mark.parametrize("request_", ALTERATIONS, ids=range(len(ALTERATIONS)))
def test_configurations_are_changed_or_refused_alike(pair: Pair, request_: Message) -> None:
    pair.agree(request_)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(TOPIC, "nope"), (TOPIC, "bad name"), (BROKER, "7"), (LOGGER, ""), (METRICS, ""), (GROUP, ""), (3, "x")],
)
def test_what_cannot_be_described(pair: Pair, kind: int, name: str) -> None:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    pair.agree(DescribeConfigsRequest(resources=[resource]))


def names(*topics: str) -> list[MetadataRequestTopic]:
    return [MetadataRequestTopic(name=name) for name in topics]


@pytest.mark.parametrize("version", range(4, 14))
def test_metadata(pair: Pair, version: int) -> None:
    topics = names("pair-one", "pair-five", "nope", "bad name", "pair-one")
    pair.agree(MetadataRequest(topics=topics, allow_auto_topic_creation=False), version)


def test_metadata_of_what_is_not_there(pair: Pair) -> None:
    by_id = [MetadataRequestTopic(name=None, topic_id=b"x" * 16)]
    for version in (10, 12):
        pair.agree(MetadataRequest(topics=by_id, allow_auto_topic_creation=False), version)
    pair.agree(
        MetadataRequest(
            topics=names("pair-one", "nope"),
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=True,
            include_cluster_authorized_operations=True,
        ),
        8,
    )


UNKNOWN_ID, OTHER_UNKNOWN_ID = b"x" * 16, b"y" * 16
Entries = list[tuple[str | None, str | bytes]]
# (name, id); an id that is the name of a topic stands for that topic's id. Left out: no id and no name, on which Kafka fails.
IDS_AND_NAMES: list[Entries] = [
    [("", "pair-one")],
    [(None, "pair-one")],
    [("pair-five", "pair-one")],
    [("bad name", "pair-one")],
    [("pair-one", UNKNOWN_ID)],
    [("", bytes(16))],
    [("", bytes(16)), ("pair-one", bytes(16)), ("nope", bytes(16)), ("pair-five", bytes(16))],
    [("", "pair-one"), ("", UNKNOWN_ID), (None, OTHER_UNKNOWN_ID), ("", "pair-five"), (None, "pair-one")],
    [("pair-five", bytes(16)), ("", "pair-one"), (None, bytes(16)), ("nope", bytes(16))],
]


def described_in_order(pair: Pair, side: str, entries: Entries, version: int) -> tuple[object, object]:
    """The response, and its topics in the order in which they are in it, with names in place of known ids."""
    known = pair.ask_one(side, MetadataRequest(topics=names("pair-one", "pair-five")))
    assert isinstance(known, MetadataResponse)
    ids: dict[str | bytes | None, bytes] = {topic.name: topic.topic_id for topic in known.topics}
    asked = [
        MetadataRequestTopic(name=name, topic_id=given if isinstance(given, bytes) else ids[given])
        for name, given in entries
    ]
    request = MetadataRequest(topics=asked, allow_auto_topic_creation=False, include_topic_authorized_operations=True)
    answer = pair.ask_one(side, request, version)
    assert isinstance(answer, MetadataResponse)
    named = {topic_id: name for name, topic_id in ids.items()}
    topics = [(named.get(topic.topic_id, topic.topic_id), plain(topic)) for topic in answer.topics]
    return plain(answer), topics


@pytest.mark.parametrize("version", [10, 12, 13])
@pytest.mark.parametrize("entries", IDS_AND_NAMES, ids=range(len(IDS_AND_NAMES)))
def test_metadata_of_ids_and_names(pair: Pair, entries: Entries, version: int) -> None:
    ours, kafkas = (described_in_order(pair, side, entries, version) for side in ("ours", "kafka"))
    assert ours == kafkas


def pages(*topics: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> Message:
    return DescribeTopicPartitionsRequest(
        topics=[PagedTopic(name=name) for name in topics],
        response_partition_limit=limit,
        cursor=None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )


def grown(name: str, count: int) -> CreatePartitionsTopic:
    return CreatePartitionsTopic(name=name, count=count, assignments=None)


def reassigned(index: int, replicas: list[int] | None) -> ReassignablePartition:
    return ReassignablePartition(partition_index=index, replicas=replicas)


def ends(index: int, current: int, epoch: int) -> OffsetForLeaderPartition:
    return OffsetForLeaderPartition(partition=index, current_leader_epoch=current, leader_epoch=epoch)


def deleted(name: str, index: int, offset: int) -> DeleteRecordsTopic:
    return DeleteRecordsTopic(name=name, partitions=[DeleteRecordsPartition(partition_index=index, offset=offset)])


def credential(user: str, mechanism: int = 1, iterations: int = 4096) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=user, mechanism=mechanism, iterations=iterations, salt=b"salt", salted_password=b"p" * 32
    )


QUESTIONS: dict[str, Callable[[], Message]] = {
    "cluster": lambda: DescribeClusterRequest(include_cluster_authorized_operations=True),
    "controllers": lambda: DescribeClusterRequest(endpoint_type=2),
    "unknown endpoints": lambda: DescribeClusterRequest(endpoint_type=3),
    "partitions": lambda: pages("pair-one", "pair-five", "nope", "bad name"),
    "first page": lambda: pages("pair-five", "pair-one", limit=3),
    "next page": lambda: pages("pair-five", "pair-one", limit=2, cursor=("pair-five", 2)),
    "foreign cursor": lambda: pages("pair-five", cursor=("pair-one", 0)),
    "negative cursor": lambda: pages("pair-five", cursor=("pair-five", -1)),
    "growth": lambda: CreatePartitionsRequest(
        timeout_ms=TIMEOUT_MS, topics=[grown("pair-one", 2), grown("pair-five", 5), grown("nope", 2)], validate_only=True
    ),
    "growth named twice": lambda: CreatePartitionsRequest(
        timeout_ms=TIMEOUT_MS, topics=[grown("pair-one", 2), grown("pair-one", 3)], validate_only=True
    ),
    "deletion": lambda: DeleteTopicsRequest(timeout_ms=TIMEOUT_MS, topics=[DeleteTopicState(name="nope"), DeleteTopicState(name="bad name")]),
    "deletion by id": lambda: DeleteTopicsRequest(timeout_ms=TIMEOUT_MS, topics=[DeleteTopicState(topic_id=b"x" * 16), DeleteTopicState()]),
    "deletion named twice": lambda: DeleteTopicsRequest(timeout_ms=TIMEOUT_MS, topics=[DeleteTopicState(name="nope")] * 2),
    "elections": lambda: ElectLeadersRequest(
        topic_partitions=[
            TopicPartitions(topic="pair-five", partitions=[0, 9]),
            TopicPartitions(topic="nope", partitions=[0]),
        ]
    ),
    "unclean elections": lambda: ElectLeadersRequest(
        election_type=1, topic_partitions=[TopicPartitions(topic="pair-five", partitions=[0])]
    ),
    "unknown elections": lambda: ElectLeadersRequest(
        election_type=7, topic_partitions=[TopicPartitions(topic="pair-five", partitions=[0])]
    ),
    "reassignments": lambda: AlterPartitionReassignmentsRequest(
        topics=[
            ReassignableTopic(
                name="pair-five",
                partitions=[
                    reassigned(0, [1]),
                    reassigned(1, [2]),
                    reassigned(2, None),
                    reassigned(3, []),
                    reassigned(4, [1, 1]),
                    reassigned(9, [1]),
                ],
            )
        ]
    ),
    "list of reassignments": lambda: ListPartitionReassignmentsRequest(topics=None),
    "unregistration": lambda: UnregisterBrokerRequest(broker_id=9),
    "access lists": lambda: DescribeAclsRequest(
        resource_type_filter=1, resource_name_filter=None, pattern_type_filter=1, principal_filter=None, host_filter=None,
        operation=1, permission_type=1,
    ),
    "new access lists": lambda: CreateAclsRequest(
        creations=[
            AclCreation(
                resource_type=2, resource_name="x", resource_pattern_type=3, principal="User:a", host="*", operation=3,
                permission_type=3,
            )
        ]
    ),
    "old access lists": lambda: DeleteAclsRequest(
        filters=[
            DeleteAclsFilter(
                resource_type_filter=1, resource_name_filter=None, pattern_type_filter=1, principal_filter=None,
                host_filter=None, operation=1, permission_type=1,
            )
        ]
    ),
    "new token": CreateDelegationTokenRequest,
    "tokens": lambda: DescribeDelegationTokenRequest(owners=None),
    "users": lambda: DescribeUserScramCredentialsRequest(users=[UserName(name=name) for name in ("u", "v", "v")]),
    "credentials": lambda: AlterUserScramCredentialsRequest(
        upsertions=[
            credential("few", iterations=4095),
            credential("many", iterations=16385),
            credential(""),
            credential("unknown", mechanism=9),
            credential("twice"),
            credential("twice", mechanism=2),
        ],
        deletions=[ScramCredentialDeletion(name="missing", mechanism=1)],
    ),
    "producers": lambda: DescribeProducersRequest(
        topics=[TopicRequest(name="pair-five", partition_indexes=[0, 9]), TopicRequest(name="nope", partition_indexes=[0])]
    ),
    "epochs": lambda: OffsetForLeaderEpochRequest(
        topics=[
            OffsetForLeaderTopic(
                topic="pair-five", partitions=[ends(0, -1, 0), ends(1, 5, 0), ends(2, 0, 7), ends(3, 0, -1), ends(9, -1, 0)]
            ),
            OffsetForLeaderTopic(topic="nope", partitions=[ends(0, -1, 0)]),
        ]
    ),
    "records": lambda: DeleteRecordsRequest(
        topics=[
            deleted("pair-five", 0, -1),
            deleted("pair-one", 0, 5),
            deleted("pair-compacted", 0, 0),
            deleted("pair-unpoliced", 0, 0),
            deleted("pair.dotted", 9, 0),
            deleted("nope", 0, 0),
        ],
        timeout_ms=TIMEOUT_MS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_is_the_same(pair: Pair, question: str) -> None:
    pair.agree(QUESTIONS[question]())
