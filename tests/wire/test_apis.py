"""The table of APIs, against kio's."""

import pytest
from kio.index import load_request_schema, load_response_schema

from barnabas.wire.apis import (
    API_NAMES,
    known_versions,
    request_class,
    request_header_version,
    response_class,
    response_header_version,
)
from barnabas.wire.codec import WireError

# What a broker listener of Apache Kafka 4.3.0 serves and the codec knows; Produce 0 to 2 are advertised, not readable.
SERVED = {
    "Produce": "3-13", "Fetch": "4-18", "ListOffsets": "1-11", "Metadata": "0-13", "OffsetCommit": "2-10",
    "OffsetFetch": "1-10", "FindCoordinator": "0-6", "JoinGroup": "0-9", "Heartbeat": "0-4", "LeaveGroup": "0-5",
    "SyncGroup": "0-5", "DescribeGroups": "0-6", "ListGroups": "0-5", "SaslHandshake": "0-1", "ApiVersions": "0-4",
    "CreateTopics": "2-7", "DeleteTopics": "1-6", "DeleteRecords": "0-2", "InitProducerId": "0-5",
    "OffsetForLeaderEpoch": "2-4", "AddPartitionsToTxn": "0-5", "AddOffsetsToTxn": "0-4", "EndTxn": "0-5",
    "WriteTxnMarkers": "1-2", "TxnOffsetCommit": "0-5", "DescribeAcls": "1-3", "CreateAcls": "1-3",
    "DeleteAcls": "1-3", "DescribeConfigs": "1-4", "AlterConfigs": "0-2", "AlterReplicaLogDirs": "1-2",
    "DescribeLogDirs": "1-5", "SaslAuthenticate": "0-2", "CreatePartitions": "0-3", "CreateDelegationToken": "1-3",
    "RenewDelegationToken": "1-2", "ExpireDelegationToken": "1-2", "DescribeDelegationToken": "1-3",
    "DeleteGroups": "0-2", "ElectLeaders": "0-2", "IncrementalAlterConfigs": "0-1",
    "AlterPartitionReassignments": "0-1", "ListPartitionReassignments": "0", "OffsetDelete": "0",
    "DescribeClientQuotas": "0-1", "AlterClientQuotas": "0-1", "DescribeUserScramCredentials": "0",
    "AlterUserScramCredentials": "0", "DescribeQuorum": "0-2", "UpdateFeatures": "0-2", "DescribeCluster": "0-2",
    "DescribeProducers": "0", "UnregisterBroker": "0", "DescribeTransactions": "0", "ListTransactions": "0-2",
    "ConsumerGroupHeartbeat": "0-1", "ConsumerGroupDescribe": "0-1", "ListConfigResources": "0-1",
    "DescribeTopicPartitions": "0", "ShareGroupHeartbeat": "1", "ShareGroupDescribe": "1", "ShareFetch": "1-2",
    "ShareAcknowledge": "1-2", "AddRaftVoter": "0-1", "RemoveRaftVoter": "0", "InitializeShareGroupState": "0",
    "ReadShareGroupState": "0", "WriteShareGroupState": "0-1", "DeleteShareGroupState": "0",
    "ReadShareGroupStateSummary": "0-1", "StreamsGroupHeartbeat": "0", "StreamsGroupDescribe": "0",
    "DescribeShareGroupOffsets": "0-1", "AlterShareGroupOffsets": "0", "DeleteShareGroupOffsets": "0",
}  # fmt: skip


def test_names_and_versions() -> None:
    assert {name: str(known_versions(key)) for key, name in API_NAMES.items()} == SERVED


@pytest.mark.parametrize("key", API_NAMES)
def test_header_versions_equal_kios(key: int) -> None:
    versions = known_versions(key)
    for version in range(versions.low, versions.high + 1):
        request = load_request_schema(key, version)
        assert request_header_version(key, version) == request.__header_schema__.__version__
        assert request_class(key).FLEXIBLE.has(version) == request.__flexible__
        response = load_response_schema(key, version)
        assert response_header_version(key, version) == response.__header_schema__.__version__
        assert response_class(key).FLEXIBLE.has(version) == response.__flexible__


def test_produce_of_old_versions_has_the_old_header() -> None:
    assert [request_header_version(0, version) for version in range(3)] == [1, 1, 1]
    assert [response_header_version(0, version) for version in range(3)] == [0, 0, 0]


def test_keys_that_do_not_exist() -> None:
    for key in (-1, 4, 93, 1000):
        with pytest.raises(WireError, match=f"no API has the key {key}"):
            request_class(key)
        with pytest.raises(WireError, match=f"no API has the key {key}"):
            response_class(key)
        assert request_header_version(key, 0) == 1
