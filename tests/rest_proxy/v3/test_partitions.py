"""Partitions, replicas and brokers."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from tests.rest_proxy.v3.v3_service import V3Service


def test_partitions_lead_to_their_replicas(v3: V3Service, two_partitions: str) -> None:
    path = f"/topics/{two_partitions}/partitions"
    listing = v3.get(path)
    assert (listing["kind"], listing["metadata"]["self"]) == ("KafkaPartitionList", f"{v3.base}{path}")
    expected = {
        "kind": "KafkaPartition",
        "metadata": {
            "self": f"{v3.base}{path}/1",
            "resource_name": f"{v3.name}/topic={two_partitions}/partition=1",
        },
        "cluster_id": v3.cluster_id,
        "topic_name": two_partitions,
        "partition_id": 1,
        "leader": v3.related(f"{path}/1/replicas/1"),
        "replicas": v3.related(f"{path}/1/replicas"),
        "reassignment": v3.related(f"{path}/1/reassignment"),
    }
    assert [found["partition_id"] for found in listing["data"]] == [0, 1]
    assert (listing["data"][1], list(listing["data"][1])) == (expected, list(expected))
    assert v3.get(f"{path}/1") == expected


def test_replicas_are_known_from_both_sides(v3: V3Service, two_partitions: str) -> None:
    path = f"/topics/{two_partitions}/partitions/1/replicas"
    expected = {
        "kind": "KafkaReplica",
        "metadata": {
            "self": f"{v3.base}{path}/1",
            "resource_name": f"{v3.name}/topic={two_partitions}/partition=1/replica=1",
        },
        "cluster_id": v3.cluster_id,
        "topic_name": two_partitions,
        "partition_id": 1,
        "broker_id": 1,
        "is_leader": True,
        "is_in_sync": True,
        "broker": v3.related("/brokers/1"),
    }
    listing = v3.get(path)
    assert (listing["kind"], listing["data"]) == ("KafkaReplicaList", [expected])
    assert v3.get(f"{path}/1") == expected
    of_broker = v3.get("/brokers/1/partition-replicas")
    assert of_broker["metadata"]["self"] == f"{v3.base}/brokers/1/partition-replicas"
    assert expected in of_broker["data"]


def test_offsets_are_those_of_the_first_and_the_next_record(v3: V3Service, two_partitions: str) -> None:
    producer = Producer({"bootstrap.servers": v3.bootstrap})
    for _ in range(3):
        producer.produce(two_partitions, b"value", partition=1)
    assert producer.flush(90) == 0
    path = f"/topics/{two_partitions}/partitions/1/offset"
    name = f"{v3.name}/topic={two_partitions}/partition=1/offset_type=earliest_and_latest"
    assert v3.get(path) == {
        "kind": "KafkaPartitionWithOffsets",
        "metadata": {"self": f"{v3.base}{path}", "resource_name": name},
        "cluster_id": v3.cluster_id,
        "topic_name": two_partitions,
        "partition_id": 1,
        "earliest_offset": 0,
        "latest_offset": 3,
    }


def test_brokers_have_addresses(v3: V3Service) -> None:
    host, _, port = v3.bootstrap.partition(":")
    expected = {
        "kind": "KafkaBroker",
        "metadata": {"self": f"{v3.base}/brokers/1", "resource_name": f"{v3.name}/broker=1"},
        "cluster_id": v3.cluster_id,
        "broker_id": 1,
        "host": host,
        "port": int(port),
        "rack": None,
        "configs": v3.related("/brokers/1/configs"),
        "partition_replicas": v3.related("/brokers/1/partition-replicas"),
    }
    listing = v3.get("/brokers")
    assert (listing["kind"], listing["data"]) == ("KafkaBrokerList", [expected])
    assert v3.get("/brokers/1") == expected


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/topics/no-such-topic/partitions", 404, 40403),
        ("/topics/no-such-topic/partitions/0", 404, 40403),
        ("/topics/no-such-topic/partitions/0/offset", 404, 40403),
        ("/topics/{topic}/partitions/2", 404, 404),
        ("/topics/{topic}/partitions/two", 404, 404),
        ("/topics/{topic}/partitions/99999999999999999999", 404, 404),
        ("/topics/{topic}/partitions/2/offset", 404, 40402),
        ("/topics/{topic}/partitions/0/offset?offset_type=latest", 400, 400),
        ("/topics/{topic}/partitions/2/replicas", 404, 404),
        ("/topics/{topic}/partitions/0/replicas/77", 404, 404),
        ("/topics/{topic}/partitions/0/reassignment", 501, 501),
        ("/brokers/77", 404, 404),
        ("/brokers/first", 404, 404),
        ("/brokers/77/partition-replicas", 404, 404),
    ],
)
def test_what_is_not_there_is_said(v3: V3Service, two_partitions: str, path: str, status: int, code: int) -> None:
    answer = v3.ask("GET", path.format(topic=two_partitions))
    assert (answer.status, answer.code) == (status, code), answer.raw
