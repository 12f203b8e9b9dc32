"""The requests of group members, of committers and of transactional producers, written and read by hand as in `wire`."""

from __future__ import annotations

import struct
from typing import NamedTuple

from benchmarks import wire
from benchmarks.wire import ABSENT, NO_TAGS, RESPONSE_BODY_AT, Reader, UnexpectedAnswer, compact, compact_array, request

OFFSET_COMMIT, FIND_COORDINATOR, JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP = 8, 10, 11, 12, 13, 14
INIT_PRODUCER_ID, END_TXN = 22, 26
wire.VERSIONS.update(
    {
        OFFSET_COMMIT: 9,
        FIND_COORDINATOR: 4,
        JOIN_GROUP: 9,
        HEARTBEAT: 4,
        LEAVE_GROUP: 5,
        SYNC_GROUP: 5,
        INIT_PRODUCER_ID: 5,
        END_TXN: 5,
    }
)
GROUP, TRANSACTION = 0, 1
SESSION_TIMEOUT_MS = 10_000
TRANSACTION_TIMEOUT_MS = 60_000
PROTOCOL_TYPE = compact(b"consumer")
PROTOCOL = compact(b"range")
NO_ERROR, MEMBER_ID_REQUIRED, REBALANCE_IN_PROGRESS, CONCURRENT_TRANSACTIONS = 0, 79, 27, 51
NOT_READY = frozenset({14, 15, 16})
"""The coordinator is loading, not there yet, or elsewhere: ask again."""


class Joined(NamedTuple):
    error: int
    generation: int
    leader: str
    member_id: str
    members: list[str]


class Identity(NamedTuple):
    """Who a transactional producer is."""

    producer_id: int
    epoch: int


def find_coordinator_request(key: str, kind: int) -> bytes:
    return request(FIND_COORDINATOR, struct.pack(">b", kind) + compact_array([compact(key.encode())]) + NO_TAGS)


def found_coordinator(answer: bytes) -> int:
    """The error code of the one key that was asked for."""
    reader = Reader(answer, RESPONSE_BODY_AT)
    reader.int32()
    reader.length()
    reader.string()
    reader.int32()
    reader.string()
    reader.int32()
    return reader.int16()


def join_request(group: str, member_id: str) -> bytes:
    protocol = PROTOCOL + compact(b"\x00" * 16) + NO_TAGS
    return request(
        JOIN_GROUP,
        compact(group.encode())
        + struct.pack(">ii", SESSION_TIMEOUT_MS, SESSION_TIMEOUT_MS)
        + compact(member_id.encode())
        + ABSENT
        + PROTOCOL_TYPE
        + compact_array([protocol])
        + ABSENT
        + NO_TAGS,
    )


def joined(answer: bytes) -> Joined:
    reader = Reader(answer, RESPONSE_BODY_AT)
    reader.int32()
    error, generation = reader.int16(), reader.int32()
    reader.string()
    reader.string()
    leader = reader.string()
    reader.raw(1)
    member_id = reader.string()
    members = []
    for _ in range(reader.length()):
        members.append(reader.string())
        reader.string()
        reader.raw(reader.length())
        reader.tags()
    return Joined(error, generation, leader, member_id, members)


def sync_request(group: str, generation: int, member_id: str, members: list[str]) -> bytes:
    """The leader gives everyone the same few bytes: who gets what is not what is measured."""
    assignments = [compact(member.encode()) + compact(b"\x00" * 24) + NO_TAGS for member in members]
    return request(
        SYNC_GROUP,
        compact(group.encode())
        + struct.pack(">i", generation)
        + compact(member_id.encode())
        + ABSENT
        + PROTOCOL_TYPE
        + PROTOCOL
        + compact_array(assignments)
        + NO_TAGS,
    )


def heartbeat_request(group: str, generation: int, member_id: str) -> bytes:
    head = compact(group.encode()) + struct.pack(">i", generation)
    return request(HEARTBEAT, head + compact(member_id.encode()) + ABSENT + NO_TAGS)


def leave_request(group: str, member_id: str) -> bytes:
    member = compact(member_id.encode()) + ABSENT + ABSENT + NO_TAGS
    return request(LEAVE_GROUP, compact(group.encode()) + compact_array([member]) + NO_TAGS)


def commit_request(group: str, topic: str, offset: int) -> bytes:
    """A commit of one partition by somebody who is in no group, as tools and simple consumers do it."""
    partition = struct.pack(">iqi", 0, offset, -1) + compact(b"") + NO_TAGS
    topics = compact_array([compact(topic.encode()) + compact_array([partition]) + NO_TAGS])
    return request(
        OFFSET_COMMIT, compact(group.encode()) + struct.pack(">i", -1) + compact(b"") + ABSENT + topics + NO_TAGS
    )


def committed_error(answer: bytes) -> int:
    reader = Reader(answer, RESPONSE_BODY_AT)
    reader.int32()
    reader.length()
    reader.string()
    reader.length()
    reader.int32()
    return reader.int16()


def first_error(answer: bytes) -> int:
    """Of the answers that begin with a throttle time and an error code: Sync, Heartbeat, Leave, InitProducerId, EndTxn."""
    error: int = struct.unpack_from(">h", answer, RESPONSE_BODY_AT + 4)[0]
    return error


def init_producer_request(transactional_id: str) -> bytes:
    return request(
        INIT_PRODUCER_ID,
        compact(transactional_id.encode()) + struct.pack(">iqh", TRANSACTION_TIMEOUT_MS, -1, -1) + NO_TAGS,
    )


def end_request(transactional_id: str, who: Identity) -> bytes:
    return request(END_TXN, compact(transactional_id.encode()) + struct.pack(">qh?", *who, True) + NO_TAGS)


def identity(answer: bytes) -> Identity:
    """What InitProducerId gave, or EndTxn, which gives a new epoch with each transaction."""
    error = first_error(answer)
    if error:
        raise UnexpectedAnswer(f"InitProducerId or EndTxn answered error {error}")
    return Identity(*struct.unpack_from(">qh", answer, RESPONSE_BODY_AT + 6))
