"""Consumer groups, their members, and their lag."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.rest_proxy.v3.v3_service import V3Service
from tests.waiting import wait_for

POLL_S = 0.2
RECORDS = 5


@pytest.fixture
def group(v3: V3Service, two_partitions: str) -> str:
    """A group that has committed one of five records in partition 0, and two of five in partition 1; nobody is in it."""
    producer = Producer({"bootstrap.servers": v3.bootstrap})
    for number in range(2 * RECORDS):
        producer.produce(two_partitions, b"value", partition=number % 2)
    assert producer.flush(90) == 0
    consumer = _consumer(v3, f"group-of-{two_partitions}")
    offsets = [TopicPartition(two_partitions, 0, 1), TopicPartition(two_partitions, 1, 2)]
    consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()
    return f"group-of-{two_partitions}"


@pytest.fixture
def member(v3: V3Service, two_partitions: str, group: str) -> Iterator[str]:
    """The id of a member that reads both partitions."""
    consumer = _consumer(v3, group)
    consumer.subscribe([two_partitions])

    def joined() -> bool:
        consumer.poll(POLL_S)
        return len(consumer.assignment()) == 2

    wait_for(joined, "the assignment")
    member_id = consumer.memberid()
    assert member_id is not None
    yield member_id
    consumer.close()


def _consumer(v3: V3Service, group: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": v3.bootstrap,
            "group.id": group,
            "client.id": "reader",
            "group.instance.id": f"instance-of-{group}",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )


@pytest.mark.usefixtures("member")
def test_a_group(v3: V3Service, group: str) -> None:
    path = f"/consumer-groups/{group}"
    expected = {
        "kind": "KafkaConsumerGroup",
        "metadata": {"self": f"{v3.base}{path}", "resource_name": f"{v3.name}/consumer-group={group}"},
        "cluster_id": v3.cluster_id,
        "consumer_group_id": group,
        "is_simple": False,
        "partition_assignor": "range",
        "state": "STABLE",
        "type": "CLASSIC",
        "is_mixed_consumer_group": False,
        "coordinator": v3.related("/brokers/1"),
        "consumers": v3.related(f"{path}/consumers"),
        "lag_summary": v3.related(f"{path}/lag-summary"),
    }
    found = v3.get(path)
    assert (found, list(found)) == (expected, list(expected))
    assert expected in v3.get("/consumer-groups")["data"]


def test_a_group_has_members(v3: V3Service, group: str, member: str) -> None:
    path = f"/consumer-groups/{group}"
    consumer = {
        "kind": "KafkaConsumer",
        "metadata": {
            "self": f"{v3.base}{path}/consumers/{member}",
            "resource_name": f"{v3.name}/consumer-group={group}/consumer={member}",
        },
        "cluster_id": v3.cluster_id,
        "consumer_group_id": group,
        "consumer_id": member,
        "instance_id": f"instance-of-{group}",
        "client_id": "reader",
        "assignments": v3.related(f"{path}/consumers/{member}/assignments"),
    }
    assert v3.get(f"{path}/consumers")["data"] == [consumer]
    assert v3.get(f"{path}/consumers/{member}") == consumer
    assert v3.ask("GET", f"{path}/consumers/nobody").status == 404


def test_members_read_partitions(v3: V3Service, two_partitions: str, group: str, member: str) -> None:
    path = f"/consumer-groups/{group}"
    assignment_path = f"{path}/consumers/{member}/assignments"
    partition = f"{two_partitions}/partitions/1"
    assignments = v3.get(assignment_path)["data"]
    assert [place["partition_id"] for place in assignments] == [0, 1]
    steps = f"/consumer-group={group}/consumer={member}/assignment={two_partitions}/partition=1"
    assert assignments[1] == {
        "kind": "KafkaConsumerAssignment",
        "metadata": {"self": f"{v3.base}{assignment_path}/{partition}", "resource_name": f"{v3.name}{steps}"},
        "cluster_id": v3.cluster_id,
        "consumer_group_id": group,
        "consumer_id": member,
        "topic_name": two_partitions,
        "partition_id": 1,
        "partition": v3.related(f"/topics/{partition}"),
        "lag": v3.related(f"{path}/lags/{partition}"),
    }
    assert v3.get(f"{assignment_path}/{partition}") == assignments[1]
    assert v3.ask("GET", f"{assignment_path}/{two_partitions}/partitions/2").status == 404
    assert v3.ask("GET", f"{path}/consumers/nobody/assignments").status == 404


def test_lag_is_known_while_somebody_reads(v3: V3Service, two_partitions: str, group: str, member: str) -> None:
    lags = v3.get(f"/consumer-groups/{group}/lags")["data"]
    readers = [(lag["consumer_id"], lag["client_id"], lag["instance_id"]) for lag in lags]
    assert readers == [(member, "reader", f"instance-of-{group}")] * 2
    summary = v3.get(f"/consumer-groups/{group}/lag-summary")
    assert summary["max_lag_consumer"] == v3.related(f"/consumer-groups/{group}/consumers/{member}")


def test_lag_is_known_when_nobody_reads(v3: V3Service, two_partitions: str, group: str) -> None:
    path = f"/consumer-groups/{group}"
    expected = {
        "kind": "KafkaConsumerLag",
        "metadata": {
            "self": f"{v3.base}{path}/lags/{two_partitions}/partitions/0",
            "resource_name": f"{v3.name}/consumer-group={group}/lag={two_partitions}/partition=0",
        },
        "cluster_id": v3.cluster_id,
        "consumer_group_id": group,
        "topic_name": two_partitions,
        "partition_id": 0,
        "consumer_id": "",
        "instance_id": None,
        "client_id": "",
        "current_offset": 1,
        "log_end_offset": RECORDS,
        "lag": RECORDS - 1,
    }
    lags = v3.get(f"{path}/lags")
    assert (lags["kind"], [lag["lag"] for lag in lags["data"]]) == ("KafkaConsumerLagList", [RECORDS - 1, RECORDS - 2])
    assert (lags["data"][0], list(lags["data"][0])) == (expected, list(expected))
    assert v3.get(f"{path}/lags/{two_partitions}/partitions/0") == expected
    assert v3.ask("GET", f"{path}/lags/{two_partitions}/partitions/2").status == 404
    summary = v3.get(f"{path}/lag-summary")
    assert summary == {
        "kind": "KafkaConsumerGroupLagSummary",
        "metadata": {
            "self": f"{v3.base}{path}/lag-summary",
            "resource_name": f"{v3.name}/consumer-group={group}/lag-summary",
        },
        "cluster_id": v3.cluster_id,
        "consumer_group_id": group,
        "max_lag": RECORDS - 1,
        "total_lag": 2 * RECORDS - 3,
        "max_lag_consumer_id": "",
        "max_lag_consumer": v3.related(f"{path}/consumers"),
        "max_lag_client_id": "",
        "max_lag_instance_id": None,
        "max_lag_topic_name": two_partitions,
        "max_lag_partition_id": 0,
        "max_lag_partition": v3.related(f"/topics/{two_partitions}/partitions/0"),
    }


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "HTTP 404 Not Found"),
        ("/consumers", "Consumer Group nope does not exist."),
        ("/consumers/x/assignments", "Consumer Group nope does not exist."),
        ("/lags", "Consumer Group nope could not be found."),
        ("/lag-summary", "Consumer Group nope could not be found."),
        ("/lags/x/partitions/0", "Consumer Group nope could not be found."),
    ],
)
def test_a_group_that_is_not_there(v3: V3Service, path: str, message: str) -> None:
    answer = v3.ask("GET", f"/consumer-groups/nope{path}")
    assert (answer.status, answer.body) == (404, {"error_code": 404, "message": message})
