"""DescribeTopicPartitions: in pages, by cursor."""

from __future__ import annotations

from pathlib import Path

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    TopicRequest,
)
from core_broker.security.authorizer import Operation, ResourceType
from tests.core_broker.apis.context import AdminBroker, Denies

Page = tuple[list[tuple[str | None, int, list[int]]], tuple[str, int] | None]


def page(admin: AdminBroker, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> Page:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    response = admin.ask(request, expect=DescribeTopicPartitionsResponse)
    topics = [
        (topic.name, topic.error_code, [partition.partition_index for partition in topic.partitions])
        for topic in response.topics
    ]
    following = response.next_cursor
    return topics, None if following is None else (following.topic_name, following.partition_index)


def test_topics_come_by_name_with_everything_there_is_to_tell(admin: AdminBroker) -> None:
    topic_id = admin.create("b", 2)
    admin.create("a")
    assert page(admin, "b", "a", "b") == ([("a", 0, [0]), ("b", 0, [0, 1])], None)
    assert page(admin) == ([("a", 0, [0]), ("b", 0, [0, 1])], None)
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name="b")])
    (topic,) = admin.ask(request, expect=DescribeTopicPartitionsResponse).topics
    assert (topic.topic_id, topic.is_internal, topic.topic_authorized_operations) == (topic_id, False, 3576)
    partition = topic.partitions[1]
    assert (partition.leader_id, partition.leader_epoch, partition.replica_nodes, partition.isr_nodes) == (
        1,
        0,
        [1],
        [1],
    )
    assert (partition.eligible_leader_replicas, partition.last_known_elr, partition.offline_replicas) == ([], [], [])


def test_a_page_ends_at_the_limit_and_the_cursor_goes_on(admin: AdminBroker) -> None:
    admin.create("a", 1)
    admin.create("b", 5)
    names = ("b", "a")
    assert page(admin, *names, limit=3) == ([("a", 0, [0]), ("b", 0, [0, 1])], ("b", 2))
    assert page(admin, *names, limit=2, cursor=("b", 2)) == ([("b", 0, [2, 3])], ("b", 4))
    assert page(admin, *names, limit=2, cursor=("b", 4)) == ([("b", 0, [4])], None)
    assert page(admin, *names, limit=1) == ([("a", 0, [0])], ("b", 0))
    assert page(admin, "a", "zz", limit=1) == ([("a", 0, [0])], ("zz", 0))
    assert page(admin, "b", cursor=("b", 9)) == ([("b", 0, [])], None)
    assert page(admin, "b", limit=0) == ([("b", 0, [0])], ("b", 1))


def test_the_broker_has_a_limit_too(tmp_path: Path) -> None:
    admin = AdminBroker(tmp_path, {"max.request.partition.size.limit": "2"})
    admin.create("t", 3)
    assert page(admin, "t") == ([("t", 0, [0, 1])], ("t", 2))


def test_a_cursor_must_stem_from_the_same_question(admin: AdminBroker) -> None:
    admin.create("t", 3)
    refused: Page = ([("t", ErrorCode.INVALID_REQUEST, [])], None)
    assert page(admin, "t", cursor=("u", 0)) == refused
    assert page(admin, "t", cursor=("t", -1)) == refused
    # Asking for all topics, the one that the cursor names may have been deleted meanwhile.
    assert page(admin, cursor=("s", 1)) == ([("t", 0, [0, 1, 2])], None)


def test_what_is_not_there_or_may_not_be_seen(admin: AdminBroker) -> None:
    admin.create("hidden")
    admin.create("seen")
    admin.authorizer = Denies((Operation.DESCRIBE, ResourceType.TOPIC, "hidden"))
    assert page(admin) == ([("seen", 0, [0])], None)
    assert page(admin, "hidden", "nope", "a b")[0] == [
        ("a b", ErrorCode.INVALID_TOPIC_EXCEPTION, []),
        ("hidden", ErrorCode.TOPIC_AUTHORIZATION_FAILED, []),
        ("nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, []),
    ]
