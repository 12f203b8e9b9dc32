"""DeleteRecords, DescribeProducers and OffsetForLeaderEpoch: what admins ask of a partition's log."""

from __future__ import annotations

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from barnabas.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    ProducerState,
    TopicRequest,
)
from barnabas.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from core_broker.security.authorizer import Operation, ResourceType
from tests.core_broker.apis.context import NOW_MS, AdminBroker, Denies

UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def delete(admin: AdminBroker, topic: str, offset: int, index: int = 0, version: int = 2) -> tuple[int, int]:
    """The error and the new start of the log."""
    partition = DeleteRecordsPartition(partition_index=index, offset=offset)
    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic, partitions=[partition])])
    (answer,) = admin.ask(request, version, expect=DeleteRecordsResponse).topics[0].partitions
    assert answer.partition_index == index
    return answer.error_code, answer.low_watermark


@pytest.mark.parametrize("version", range(3))
def test_records_below_an_offset_go(admin: AdminBroker, version: int) -> None:
    admin.create("t")
    admin.append("t", 0, 10)
    assert delete(admin, "t", 4, version=version) == (0, 4)
    assert delete(admin, "t", 2, version=version) == (0, 4)
    assert delete(admin, "t", -1, version=version) == (0, 10)


def test_records_that_cannot_be_deleted(admin: AdminBroker) -> None:
    admin.create("t")
    admin.append("t", 0, 10)
    assert delete(admin, "t", 11) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert delete(admin, "t", -2) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert delete(admin, "t", 0, index=1) == (UNKNOWN, -1)
    assert delete(admin, "nope", 0) == (UNKNOWN, -1)
    admin.create("__consumer_offsets")
    assert delete(admin, "__consumer_offsets", 0) == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)
    admin.authorizer = Denies((Operation.DELETE, ResourceType.TOPIC, "t"))
    assert delete(admin, "t", 1) == (ErrorCode.TOPIC_AUTHORIZATION_FAILED, -1)


@pytest.mark.parametrize(
    ("policy", "code"), [("compact", ErrorCode.POLICY_VIOLATION), ("compact,delete", 0), ("delete", 0), ("", 0)]
)
def test_a_topic_that_is_only_compacted_keeps_its_records(admin: AdminBroker, policy: str, code: int) -> None:
    admin.create("t", cleanup_policy=policy)
    assert delete(admin, "t", 0)[0] == code


def test_idempotent_producers_are_listed(admin: AdminBroker) -> None:
    admin.create("t", 2)
    admin.append("t", 0, 3, producer_id=7)
    request = DescribeProducersRequest(
        topics=[TopicRequest(name="t", partition_indexes=[0, 1, 9]), TopicRequest(name="nope", partition_indexes=[0])]
    )
    found, missing = admin.ask(request, expect=DescribeProducersResponse).topics
    assert [partition.error_code for partition in found.partitions] == [0, 0, UNKNOWN]
    assert found.partitions[0].active_producers == [
        ProducerState(producer_id=7, producer_epoch=0, last_sequence=2, last_timestamp=NOW_MS, coordinator_epoch=-1)
    ]
    assert found.partitions[1].active_producers == []
    assert [partition.error_code for partition in missing.partitions] == [UNKNOWN]
    admin.authorizer = Denies((Operation.READ, ResourceType.TOPIC, "t"))
    denied = admin.ask(request, expect=DescribeProducersResponse).topics[0].partitions[0]
    assert (denied.error_code, denied.active_producers) == (ErrorCode.TOPIC_AUTHORIZATION_FAILED, [])


def ends(admin: AdminBroker, *asked: tuple[str, int, int, int], version: int = 4) -> list[EpochEndOffset]:
    """For each topic, partition, current epoch and wanted epoch."""
    request = OffsetForLeaderEpochRequest(
        topics=[
            OffsetForLeaderTopic(
                topic=topic,
                partitions=[
                    OffsetForLeaderPartition(partition=index, current_leader_epoch=current, leader_epoch=epoch)
                ],
            )
            for topic, index, current, epoch in asked
        ]
    )
    response = admin.ask(request, version, expect=OffsetForLeaderEpochResponse)
    return [topic.partitions[0] for topic in response.topics]


@pytest.mark.parametrize("version", range(2, 5))
def test_where_an_epoch_ended(admin: AdminBroker, version: int) -> None:
    admin.create("t")
    admin.append("t", 0, 5)
    partition = admin.partition("t", 0)
    assert partition is not None
    partition.log.assign_epoch(3)
    admin.append("t", 0, 2)
    answers = ends(admin, ("t", 0, -1, 0), ("t", 0, 3, 1), ("t", 0, 3, 3), ("t", 0, 3, 9), version=version)
    assert [(answer.error_code, answer.leader_epoch, answer.end_offset) for answer in answers] == [
        (0, 0, 5),
        (0, 0, 5),
        (0, 3, 7),
        (0, -1, -1),
    ]


def test_epochs_that_cannot_be_looked_up(admin: AdminBroker) -> None:
    admin.create("t")
    partition = admin.partition("t", 0)
    assert partition is not None
    partition.log.assign_epoch(3)
    answers = ends(admin, ("t", 0, 2, 0), ("t", 0, 4, 0), ("t", 1, -1, 0), ("nope", 0, -1, 0))
    assert [answer.error_code for answer in answers] == [
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        UNKNOWN,
        UNKNOWN,
    ]
    admin.authorizer = Denies((Operation.DESCRIBE, ResourceType.TOPIC, "t"))
    assert ends(admin, ("t", 0, -1, 0))[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
