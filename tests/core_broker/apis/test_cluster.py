"""What the broker says of the cluster: itself, its quorum, its disk, and that there is nothing to move."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from barnabas.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from barnabas.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    RequestPartitionData,
    RequestTopicData,
)
from barnabas.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions
from barnabas.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from barnabas.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from barnabas.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpdateFeaturesResponse
from core_broker.disk_health import DiskFinding
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType
from tests.core_broker.apis.context import CLUSTER_ID, NOW_MS, AdminBroker, Denies

NOTHING_ALLOWED = Denies(
    (Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME), (Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME)
)
FORBIDDEN = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("version", range(3))
def test_the_cluster_is_described(admin: AdminBroker, version: int) -> None:
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    response = admin.ask(request, version, expect=DescribeClusterResponse)
    assert (response.error_code, response.error_message) == (0, None)
    assert (response.cluster_id, response.controller_id) == (CLUSTER_ID, 1)
    assert response.cluster_authorized_operations == 8096
    (broker,) = response.brokers
    assert (broker.broker_id, broker.host, broker.port) == (1, "broker.example", 19092)


def test_controllers_are_not_described_here(admin: AdminBroker) -> None:
    def code(endpoint_type: int) -> int:
        return admin.ask(DescribeClusterRequest(endpoint_type=endpoint_type), expect=DescribeClusterResponse).error_code

    assert code(2) == ErrorCode.MISMATCHED_ENDPOINT_TYPE
    assert code(3) == ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
    admin.authorizer = NOTHING_ALLOWED
    assert code(1) == FORBIDDEN


def quorum(admin: AdminBroker, topic: str, *partitions: int, version: int = 2) -> DescribeQuorumResponse:
    asked = RequestTopicData(
        topic_name=topic, partitions=[RequestPartitionData(partition_index=index) for index in partitions]
    )
    return admin.ask(DescribeQuorumRequest(topics=[asked]), version, expect=DescribeQuorumResponse)


@pytest.mark.parametrize("version", range(3))
def test_the_quorum_has_one_voter(admin: AdminBroker, version: int) -> None:
    admin.create("t")
    response = quorum(admin, "__cluster_metadata", 0, version=version)
    ((partition,),) = (topic.partitions for topic in response.topics)
    end = admin.metadata.image.offset + 1
    assert (partition.error_code, partition.leader_id, partition.leader_epoch) == (0, 1, 1)
    assert partition.high_watermark == end
    (voter,) = partition.current_voters
    assert (voter.replica_id, voter.log_end_offset) == (1, end)
    assert voter.last_caught_up_timestamp == (NOW_MS if version >= 1 else -1)
    assert [node.node_id for node in response.nodes] == ([1] if version >= 2 else [])


@pytest.mark.parametrize(
    ("topic", "partitions"), [("t", [0]), ("__cluster_metadata", [1]), ("__cluster_metadata", [0, 1])]
)
def test_there_is_no_other_quorum(admin: AdminBroker, topic: str, partitions: list[int]) -> None:
    found = quorum(admin, topic, *partitions).topics[0].partitions
    assert [partition.error_code for partition in found] == [UNKNOWN] * len(partitions)


def test_log_directories_tell_what_partitions_take(admin: AdminBroker, tmp_path: Path) -> None:
    admin.create("t", 2)
    admin.create("u")
    admin.append("t", 0, 5)

    def measure(*topics: DescribableLogDirTopic, version: int = 5) -> dict[tuple[str, int], int]:
        request = DescribeLogDirsRequest(topics=list(topics) or None)
        (result,) = admin.ask(request, version, expect=DescribeLogDirsResponse).results
        assert (result.error_code, result.log_dir, result.is_cordoned) == (0, str(tmp_path), False)
        assert (result.total_bytes >= result.usable_bytes > 0) == (version >= 4)
        return {
            (topic.name, partition.partition_index): partition.partition_size
            for topic in result.topics
            for partition in topic.partitions
        }

    size = admin.partition("t", 0).log.size_bytes  # type: ignore[union-attr]
    assert size > 0
    for version in range(1, 6):
        assert measure(version=version) == {("t", 0): size, ("t", 1): 0, ("u", 0): 0}
    assert measure(
        DescribableLogDirTopic(topic="t", partitions=[0, 9]), DescribableLogDirTopic(topic="nope", partitions=[0])
    ) == {("t", 0): size}


def test_a_log_directory_that_takes_no_writes_has_an_error_and_its_sizes(admin: AdminBroker, tmp_path: Path) -> None:
    admin.create("t")
    admin.disk_health.finding = DiskFinding(problem="disk full")
    (result,) = admin.ask(DescribeLogDirsRequest(topics=None), expect=DescribeLogDirsResponse).results
    assert (result.error_code, result.log_dir) == (ErrorCode.KAFKA_STORAGE_ERROR, str(tmp_path))
    assert result.usable_bytes > 0
    assert [topic.name for topic in result.topics] == ["t"]


def elect(admin: AdminBroker, *asked: TopicPartitions, version: int = 2, kind: int = 0) -> ElectLeadersResponse:
    request = ElectLeadersRequest(topic_partitions=list(asked) or None, election_type=kind)
    return admin.ask(request, version, expect=ElectLeadersResponse)


@pytest.mark.parametrize("version", range(3))
def test_elections_are_not_needed(admin: AdminBroker, version: int) -> None:
    admin.create("t")
    asked = [TopicPartitions(topic="t", partitions=[0, 9]), TopicPartitions(topic="nope", partitions=[0])]
    results = elect(admin, *asked, version=version).replica_election_results
    codes = [[partition.error_code for partition in topic.partition_result] for topic in results]
    assert codes == [[ErrorCode.ELECTION_NOT_NEEDED, UNKNOWN], [UNKNOWN]]
    everything = elect(admin, version=version)
    assert [(topic.topic, topic.partition_result) for topic in everything.replica_election_results] == [("t", [])]


def test_an_unknown_kind_of_election_is_refused(admin: AdminBroker) -> None:
    response = elect(admin, TopicPartitions(topic="t", partitions=[0]), kind=7)
    assert response.error_code == ErrorCode.INVALID_REQUEST
    assert response.replica_election_results[0].partition_result[0].error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("version", range(2))
def test_there_is_nowhere_to_move_partitions(admin: AdminBroker, version: int) -> None:
    admin.create("t", 5)
    wanted = [[1], [2], None, [], [1, 1]]
    partitions = [
        ReassignablePartition(partition_index=index, replicas=replicas) for index, replicas in enumerate(wanted)
    ]
    topics = [
        ReassignableTopic(name="t", partitions=[*partitions, ReassignablePartition(partition_index=9, replicas=[1])]),
        ReassignableTopic(name="nope", partitions=[ReassignablePartition(partition_index=0, replicas=[1])]),
    ]
    response = admin.ask(
        AlterPartitionReassignmentsRequest(topics=topics), version, expect=AlterPartitionReassignmentsResponse
    )
    wrong = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert [[partition.error_code for partition in topic.partitions] for topic in response.responses] == [
        [0, wrong, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, wrong, wrong, UNKNOWN],
        [UNKNOWN],
    ]
    listed = admin.ask(ListPartitionReassignmentsRequest(topics=None), expect=ListPartitionReassignmentsResponse)
    assert (listed.error_code, listed.topics) == (0, [])


def test_replicas_lie_in_the_only_directory(admin: AdminBroker, tmp_path: Path) -> None:
    admin.create("t", 2)
    topics = [AlterReplicaLogDirTopic(name="t", partitions=[0, 9])]
    elsewhere = [AlterReplicaLogDirTopic(name="t", partitions=[1])]
    request = AlterReplicaLogDirsRequest(
        dirs=[AlterReplicaLogDir(path=str(tmp_path), topics=topics), AlterReplicaLogDir(path="/nope", topics=elsewhere)]
    )
    for version in (1, 2):
        (topic,) = admin.ask(request, version, expect=AlterReplicaLogDirsResponse).results
        codes = {partition.partition_index: partition.error_code for partition in topic.partitions}
        assert codes == {0: 0, 9: UNKNOWN, 1: ErrorCode.LOG_DIR_NOT_FOUND}


def test_the_only_broker_cannot_be_unregistered(admin: AdminBroker) -> None:
    def code(broker_id: int) -> int:
        return admin.ask(UnregisterBrokerRequest(broker_id=broker_id), expect=UnregisterBrokerResponse).error_code

    assert code(9) == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert code(1) == ErrorCode.INVALID_REQUEST
    admin.authorizer = NOTHING_ALLOWED
    assert code(9) == FORBIDDEN


@pytest.mark.parametrize(
    ("name", "level", "upgrade_type", "code"),
    [
        ("metadata.version", 30, 1, ErrorCode.NONE),
        ("metadata.version", 29, 2, ErrorCode.INVALID_UPDATE_VERSION),
        ("metadata.version", 31, 1, ErrorCode.INVALID_UPDATE_VERSION),
        ("metadata.version", 30, 9, ErrorCode.INVALID_UPDATE_VERSION),
        ("group.version", 1, 1, ErrorCode.NONE),
        ("group.version", 2, 1, ErrorCode.INVALID_UPDATE_VERSION),
        ("share.version", 1, 1, ErrorCode.INVALID_UPDATE_VERSION),
    ],
)
def test_features_have_one_level(admin: AdminBroker, name: str, level: int, upgrade_type: int, code: ErrorCode) -> None:
    update = FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=upgrade_type)
    request = UpdateFeaturesRequest(feature_updates=[update])
    for version in (1, 2):
        response = admin.ask(request, version, expect=UpdateFeaturesResponse)
        assert response.error_code == code
        assert len(response.results) == (1 if version == 1 and code is ErrorCode.NONE else 0)


def test_describing_and_altering_the_cluster_take_permission(admin: AdminBroker) -> None:
    admin.create("t")
    admin.authorizer = NOTHING_ALLOWED
    assert quorum(admin, "__cluster_metadata", 0).error_code == FORBIDDEN
    assert admin.ask(DescribeLogDirsRequest(topics=None), expect=DescribeLogDirsResponse).error_code == FORBIDDEN
    assert elect(admin).error_code == FORBIDDEN
    moved = admin.ask(AlterPartitionReassignmentsRequest(), expect=AlterPartitionReassignmentsResponse)
    assert moved.error_code == FORBIDDEN
    listed = admin.ask(ListPartitionReassignmentsRequest(topics=None), expect=ListPartitionReassignmentsResponse)
    assert listed.error_code == FORBIDDEN
    assert admin.ask(UpdateFeaturesRequest(), expect=UpdateFeaturesResponse).error_code == FORBIDDEN
    directory = AlterReplicaLogDir(path="/nope", topics=[AlterReplicaLogDirTopic(name="t", partitions=[0])])
    (topic,) = admin.ask(AlterReplicaLogDirsRequest(dirs=[directory]), expect=AlterReplicaLogDirsResponse).results
    assert topic.partitions[0].error_code == FORBIDDEN
