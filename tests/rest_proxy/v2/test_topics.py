"""What v2 tells of topics, partitions and brokers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.broker import BarnabasBroker
from tests.clients.confluent_client import create_topic
from tests.registry import Answer, ask

V2 = "application/vnd.kafka.v2+json"
JSON_RECORDS = {"Content-Type": "application/vnd.kafka.json.v2+json"}


def get(url: str, path: str, accept: str = V2) -> Answer:
    return ask(url, "GET", path, headers={"Accept": accept})


def partition(number: int) -> dict[str, Any]:
    return {"partition": number, "leader": 1, "replicas": [{"broker": 1, "leader": True, "in_sync": True}]}


@pytest.fixture
def two_partitions(barnabas: BarnabasBroker, topic: str) -> str:
    create_topic(barnabas.address, topic, partitions=2, configs={"retention.ms": "-1"})
    return topic


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_root_says_that_somebody_is_there(rest_url: str, method: str) -> None:
    answer = ask(rest_url, method, "/")
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, {}, V2)


def test_brokers_are_numbers(rest_url: str) -> None:
    assert get(rest_url, "/brokers").body == {"brokers": [1]}


def test_topics_are_listed_without_kafkas_own(rest_url: str, two_partitions: str) -> None:
    names = get(rest_url, "/topics").body
    assert two_partitions in names
    assert names == sorted(names)
    assert not [name for name in names if name.startswith("__")]


def test_a_topic_has_configs_and_partitions(rest_url: str, two_partitions: str) -> None:
    answer = get(rest_url, f"/topics/{two_partitions}").body
    assert (answer["name"], answer["partitions"]) == (two_partitions, [partition(0), partition(1)])
    assert answer["configs"]["retention.ms"] == "-1"
    assert answer["configs"]["cleanup.policy"] == "delete"
    assert get(rest_url, f"/topics/{two_partitions}/partitions").body == answer["partitions"]
    assert get(rest_url, f"/topics/{two_partitions}/partitions/1").body == partition(1)


def test_offsets_are_those_of_the_first_and_the_next_record(rest_url: str, two_partitions: str) -> None:
    path = f"/topics/{two_partitions}/partitions/1"
    ask(rest_url, "POST", path, {"records": [{"value": number} for number in range(3)]}, JSON_RECORDS)
    assert get(rest_url, f"{path}/offsets").body == {"beginning_offset": 0, "end_offset": 3}


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("/topics/no-such-topic", 40403, "This server does not host this topic-partition. (topic no-such-topic)"),
        (
            "/topics/no-such-topic/partitions",
            40403,
            "This server does not host this topic-partition. (topic no-such-topic)",
        ),
        (
            "/topics/no-such-topic/partitions/0/offsets",
            40403,
            "This server does not host this topic-partition. (topic no-such-topic)",
        ),
        ("/topics/{topic}/partitions/2", 40402, "Partition not found."),
        ("/topics/{topic}/partitions/2/offsets", 40402, "Partition not found."),
        ("/topics/{topic}/partitions/2147483648", 404, "HTTP 404 Not Found"),
        ("/topics/{topic}/partitions/x", 404, "HTTP 404 Not Found"),
        ("/topics/{topic}/partitions/-1", 404, "HTTP 404 Not Found"),
    ],
)
def test_what_is_not_there(rest_url: str, two_partitions: str, path: str, code: int, message: str) -> None:
    answer = get(rest_url, path.format(topic=two_partitions))
    assert (answer.status, answer.body) == (404, {"error_code": code, "message": message})
    assert answer.headers["content-type"] == V2


@pytest.mark.parametrize("path", ["/topics/no%20name", "/topics/..", "/topics/%C3%A4/partitions"])
def test_a_topic_that_cannot_be(rest_url: str, path: str) -> None:
    answer = get(rest_url, path)
    message = "The request attempted to perform an operation on an invalid topic."
    assert (answer.status, answer.body) == (400, {"error_code": 40002, "message": message})


def test_asking_for_a_topic_does_not_make_it(rest_url: str, topic: str) -> None:
    assert get(rest_url, f"/topics/{topic}").status == 404
    assert topic not in get(rest_url, "/topics").body


@pytest.mark.parametrize(
    ("accept", "status", "content_type"),
    [
        ("", 200, V2),
        ("*/*", 200, V2),
        ("application/json", 200, "application/json"),
        ("application/vnd.kafka+json; q=0.9, application/json; q=0.5", 200, "application/vnd.kafka+json"),
        ("application/vnd.kafka.v2+json; charset=utf-8", 200, V2),
        ("text/plain", 406, V2),
    ],
)
def test_the_answer_has_a_type_that_the_client_takes(
    rest_url: str, accept: str, status: int, content_type: str
) -> None:
    answer = get(rest_url, "/brokers", accept)
    assert (answer.status, answer.headers["content-type"]) == (status, content_type)
