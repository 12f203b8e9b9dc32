"""The requests of group members and transactional producers, read by the project's own codec; the answers, written by it."""

from __future__ import annotations

import pytest

from barnabas.wire.batch import parse_header
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages import (
    end_txn,
    find_coordinator,
    heartbeat,
    init_producer_id,
    join_group,
    leave_group,
    offset_commit,
    sync_group,
)
from benchmarks import batch, group_wire
from benchmarks.group_wire import Identity, Joined
from benchmarks.wire import UnexpectedAnswer
from tests.benchmarks.test_wire import answer, read


def test_a_member_joins_with_one_protocol() -> None:
    request = read(group_wire.join_request("g", "m"), group_wire.JOIN_GROUP)
    assert isinstance(request, join_group.JoinGroupRequest)
    assert (request.group_id, request.member_id, request.protocol_type) == ("g", "m", "consumer")
    assert [protocol.name for protocol in request.protocols] == ["range"]
    assert request.group_instance_id is None


def test_the_leader_reads_who_is_in_the_group() -> None:
    members = [join_group.JoinGroupResponseMember(member_id=name, metadata=b"x") for name in ("a", "b")]
    response = join_group.JoinGroupResponse(
        generation_id=3, protocol_type="consumer", protocol_name="range", leader="a", member_id="a", members=members
    )
    assert group_wire.joined(answer(response, group_wire.JOIN_GROUP)) == Joined(0, 3, "a", "a", ["a", "b"])


def test_the_leader_assigns_to_everyone() -> None:
    request = read(group_wire.sync_request("g", 3, "a", ["a", "b"]), group_wire.SYNC_GROUP)
    assert isinstance(request, sync_group.SyncGroupRequest)
    assert (request.generation_id, request.member_id) == (3, "a")
    assert [assignment.member_id for assignment in request.assignments] == ["a", "b"]


def test_heartbeat_and_leave_name_the_member() -> None:
    beat = read(group_wire.heartbeat_request("g", 3, "a"), group_wire.HEARTBEAT)
    assert isinstance(beat, heartbeat.HeartbeatRequest)
    assert (beat.group_id, beat.generation_id, beat.member_id) == ("g", 3, "a")
    leave = read(group_wire.leave_request("g", "a"), group_wire.LEAVE_GROUP)
    assert isinstance(leave, leave_group.LeaveGroupRequest)
    assert [member.member_id for member in leave.members] == ["a"]
    response = heartbeat.HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)
    found = group_wire.first_error(answer(response, group_wire.HEARTBEAT))
    assert found == group_wire.REBALANCE_IN_PROGRESS == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_commit_carries_one_offset() -> None:
    request = read(group_wire.commit_request("g", "orders", 7), group_wire.OFFSET_COMMIT)
    assert isinstance(request, offset_commit.OffsetCommitRequest)
    assert (request.group_id, request.generation_id_or_member_epoch, request.member_id) == ("g", -1, "")
    ((name, offsets),) = [
        (topic.name, [(p.partition_index, p.committed_offset) for p in topic.partitions]) for topic in request.topics
    ]
    assert (name, offsets) == ("orders", [(0, 7)])
    partition = offset_commit.OffsetCommitResponsePartition(
        partition_index=0, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
    topic = offset_commit.OffsetCommitResponseTopic(name="orders", partitions=[partition])
    response = offset_commit.OffsetCommitResponse(topics=[topic])
    found = group_wire.committed_error(answer(response, group_wire.OFFSET_COMMIT))
    assert found == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_whoever_looks_for_a_coordinator_learns_why_there_is_none() -> None:
    request = read(group_wire.find_coordinator_request("t", group_wire.TRANSACTION), group_wire.FIND_COORDINATOR)
    assert isinstance(request, find_coordinator.FindCoordinatorRequest)
    assert (request.key_type, request.coordinator_keys) == (group_wire.TRANSACTION, ["t"])
    coordinator = find_coordinator.Coordinator(
        key="t", node_id=-1, host="", port=-1, error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE
    )
    response = find_coordinator.FindCoordinatorResponse(coordinators=[coordinator])
    found = group_wire.found_coordinator(answer(response, group_wire.FIND_COORDINATOR))
    assert found == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert found in group_wire.NOT_READY


def test_a_transaction_is_begun_and_ended_by_who_it_belongs_to() -> None:
    begin = read(group_wire.init_producer_request("t"), group_wire.INIT_PRODUCER_ID)
    assert isinstance(begin, init_producer_id.InitProducerIdRequest)
    assert (begin.transactional_id, begin.producer_id, begin.producer_epoch) == ("t", -1, -1)
    end = read(group_wire.end_request("t", Identity(5, 2)), group_wire.END_TXN)
    assert isinstance(end, end_txn.EndTxnRequest)
    assert (end.transactional_id, end.producer_id, end.producer_epoch, end.committed) == ("t", 5, 2, True)
    response = end_txn.EndTxnResponse(producer_id=5, producer_epoch=3)
    assert group_wire.identity(answer(response, group_wire.END_TXN)) == Identity(5, 3)
    refused = end_txn.EndTxnResponse(error_code=ErrorCode.PRODUCER_FENCED)
    with pytest.raises(UnexpectedAnswer, match="90"):
        group_wire.identity(answer(refused, group_wire.END_TXN))


def test_a_batch_in_a_transaction_says_so() -> None:
    header = parse_header(batch.encode([b"a", b"b"], 1, producer=(5, 2, 0), transactional=True))
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (5, 2, 0)
    assert header.is_transactional
