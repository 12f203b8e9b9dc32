"""Topics of v3."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rest_proxy.v3.v3_service import V3Service
from tests.waiting import wait_for


def shape(v3: V3Service, name: str, partitions: int) -> dict[str, Any]:
    return {
        "kind": "KafkaTopic",
        "metadata": {"self": f"{v3.base}/topics/{name}", "resource_name": f"{v3.name}/topic={name}"},
        "cluster_id": v3.cluster_id,
        "topic_name": name,
        "is_internal": False,
        "replication_factor": 1,
        "partitions_count": partitions,
        "partitions": v3.related(f"/topics/{name}/partitions"),
        "configs": v3.related(f"/topics/{name}/configs"),
        "partition_reassignments": v3.related(f"/topics/{name}/partitions/-/reassignment"),
        "authorized_operations": [],
    }


def test_a_topic_is_created_found_and_deleted(v3: V3Service, topic: str) -> None:
    configs = [{"name": "retention.ms", "value": 3_600_000}]
    created = v3.ask("POST", "/topics", {"topic_name": topic, "partitions_count": 3, "configs": configs})
    assert (created.status, created.headers["location"]) == (201, f"{v3.base}/topics/{topic}")
    assert created.body == shape(v3, topic, 3)
    assert list(created.body) == list(shape(v3, topic, 3))
    wait_for(lambda: v3.ask("GET", f"/topics/{topic}").status == 200, "the topic")
    assert v3.get(f"/topics/{topic}") == created.body
    assert v3.get(f"/topics/{topic}/configs/retention.ms")["value"] == "3600000"
    listing = v3.get("/topics")
    assert (listing["kind"], listing["metadata"]) == (
        "KafkaTopicList",
        {"self": f"{v3.base}/topics", "next": None},
    )
    names = [found["topic_name"] for found in listing["data"]]
    assert topic in names
    assert names == sorted(names)
    assert not [found for found in listing["data"] if found["is_internal"]]
    deleted = v3.ask("DELETE", f"/topics/{topic}")
    assert (deleted.status, deleted.raw) == (204, b"")
    wait_for(lambda: v3.ask("GET", f"/topics/{topic}").status == 404, "the end of the topic")
    again = v3.ask("DELETE", f"/topics/{topic}")
    assert again.code == 40403
    assert again.body["message"] == f"This server does not host this topic-partition. (topic {topic})"


@pytest.mark.parametrize(
    ("members", "partitions"),
    [
        ({}, 1),
        ({"partitions_count": "2", "replication_factor": "1"}, 2),
        ({"partitions_count": -1, "replication_factor": -1}, 1),
        ({"replicas_assignments": {"1": [1], "0": [1]}, "partitions_count": 7}, 2),
    ],
)
def test_a_topic_may_be_tried_first(v3: V3Service, topic: str, members: dict[str, Any], partitions: int) -> None:
    tried = v3.ask("POST", "/topics", {"topic_name": topic, "validate_only": True, **members})
    assert (tried.status, tried.body) == (200, shape(v3, topic, partitions))
    assert v3.ask("GET", f"/topics/{topic}").code == 40403
    assert v3.ask("POST", "/topics", {"topic_name": topic, **members}).status == 201
    described = wait_for(lambda: (found := v3.ask("GET", f"/topics/{topic}")).status == 200 and found.body, "the topic")
    assert described == tried.body


def test_a_topic_gets_more_partitions(v3: V3Service, two_partitions: str) -> None:
    path = f"/topics/{two_partitions}"
    more = v3.ask("PATCH", path, {"partitions_count": 3})
    assert (more.status, more.body) == (200, shape(v3, two_partitions, 3))
    wait_for(lambda: v3.get(path) == more.body, "the third partition")
    for count in (3, 1, 0, 100_001):
        assert v3.ask("PATCH", path, {"partitions_count": count}).code == 40002


def test_operations_are_told_to_those_who_ask(v3: V3Service, two_partitions: str) -> None:
    told = v3.get(f"/topics/{two_partitions}?include_authorized_operations=true")["authorized_operations"]
    assert {"READ", "WRITE", "DELETE", "DESCRIBE_CONFIGS"} <= set(told)
    listing = v3.get("/topics?include_authorized_operations=true")["data"]
    assert [found["authorized_operations"] for found in listing if found["topic_name"] == two_partitions] == [told]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (None, 422, 42206),
        (b"null", 422, 42206),
        (b'{"topic_name":', 400, 400),
        ([], 400, 400),
        ({}, 400, 400),
        ({"topic_name": "bad name"}, 422, 42206),
        ({"topic_name": ".."}, 422, 42206),
        ({"topic_name": "x\0y"}, 400, 400),
        ({"topic_name": ["x"]}, 400, 400),
        ({"topic_name": "x", "nope": 1}, 422, 422),
        ({"topic_name": "x", "partitions_count": "many"}, 400, 400),
        ({"topic_name": "x", "partitions_count": 2**40}, 400, 400),
        ({"topic_name": "x", "partitions_count": True}, 400, 400),
        ({"topic_name": "x", "partitions_count": 0}, 400, 40002),
        ({"topic_name": "x", "replication_factor": 20_000}, 400, 40002),
        ({"topic_name": "x", "replication_factor": 3}, 400, 40002),
        ({"topic_name": "x", "validate_only": "perhaps"}, 400, 400),
        ({"topic_name": "x", "validate_only": 1}, 400, 400),
        ({"topic_name": "x", "configs": {"retention.ms": "1"}}, 400, 400),
        ({"topic_name": "x", "configs": [{"value": "1"}]}, 400, 400),
        ({"topic_name": "x", "configs": [{"name": "retention.ms"}]}, 400, 40002),
        ({"topic_name": "x", "configs": [{"name": "nope", "value": "1"}]}, 400, 40002),
        ({"topic_name": "x", "configs": [{"name": "retention.ms", "value": "1"}] * 2}, 400, 400),
        ({"topic_name": "x", "replicas_assignments": [{"0": [1]}]}, 400, 400),
        ({"topic_name": "x", "replicas_assignments": {"a": [1]}}, 400, 400),
        ({"topic_name": "x", "replicas_assignments": {"0": 1}}, 400, 400),
        ({"topic_name": "x", "replicas_assignments": {"0": []}}, 400, 40002),
        ({"topic_name": "x", "replicas_assignments": {"0": [2**32 + 1]}}, 400, 400),
        ({"topic_name": "x", "replicas_assignments": {"0": [1], "2": [1]}}, 400, 40002),
        ({"topic_name": "x", "replicas_assignments": {"0": [77]}}, 400, 40002),
    ],
)
def test_bad_topics_are_refused(v3: V3Service, body: object, status: int, code: int) -> None:
    answer = v3.ask("POST", "/topics", body)
    assert (answer.status, answer.code) == (status, code), answer.raw


def test_a_topic_is_created_once(v3: V3Service, two_partitions: str) -> None:
    assert v3.ask("POST", "/topics", {"topic_name": two_partitions}).code == 40002


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/topics/no-such-topic", None, 404, 40403),
        ("GET", "/topics/no%20name", None, 400, 40002),
        ("DELETE", "/topics/no-such-topic", None, 404, 40403),
        ("PATCH", "/topics/no-such-topic", {"partitions_count": 3}, 404, 40403),
        ("PATCH", "/topics/no-such-topic", None, 422, 42206),
        ("PATCH", "/topics/no-such-topic", {}, 400, 400),
        ("GET", "/topics/-/partitions/-/reassignment", None, 501, 501),
    ],
)
def test_what_cannot_be_done_is_said(
    v3: V3Service, method: str, path: str, body: object, status: int, code: int
) -> None:
    answer = v3.ask(method, path, body)
    assert (answer.status, answer.code) == (status, code), answer.raw
