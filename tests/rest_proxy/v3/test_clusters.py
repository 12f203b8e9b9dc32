"""Clusters, and what holds for all v3 paths."""

from __future__ import annotations

import pytest

from tests.registry import ask
from tests.rest_proxy.v3.v3_service import V3Service


def test_there_is_the_one_cluster(v3: V3Service) -> None:
    cluster = {
        "kind": "KafkaCluster",
        "metadata": {"self": v3.base, "resource_name": v3.name},
        "cluster_id": v3.cluster_id,
        "controller": v3.related("/brokers/1"),
        "acls": v3.related("/acls"),
        "brokers": v3.related("/brokers"),
        "broker_configs": v3.related("/broker-configs"),
        "consumer_groups": v3.related("/consumer-groups"),
        "topics": v3.related("/topics"),
        "partition_reassignments": v3.related("/topics/-/partitions/-/reassignment"),
    }
    listing = ask(v3.url, "GET", "/v3/clusters").body
    assert listing == {
        "kind": "KafkaClusterList",
        "metadata": {"self": f"{v3.url}/v3/clusters", "next": None},
        "data": [cluster],
    }
    assert list(listing["data"][0]) == list(cluster)
    assert v3.get("") == cluster


@pytest.mark.parametrize(
    ("path", "message"), [("", "HTTP 404 Not Found"), ("/topics", "Cluster nope cannot be found.")]
)
def test_another_cluster_is_not_found(v3: V3Service, path: str, message: str) -> None:
    answer = ask(v3.url, "GET", f"/v3/clusters/nope{path}")
    assert (answer.status, answer.body) == (404, {"error_code": 404, "message": message})


def test_links_lead_where_the_client_came_from(v3: V3Service) -> None:
    answer = v3.ask("GET", "/brokers", headers={"Host": "192.0.2.7:8443"})
    assert answer.body["metadata"]["self"] == f"http://192.0.2.7:8443/v3/clusters/{v3.cluster_id}/brokers"


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"Accept": "application/vnd.kafka.v2+json"}, 406),
        ("GET", {"Accept": "text/html, application/*;q=0.5"}, 200),
        ("POST", {"Content-Type": "text/plain"}, 415),
        ("POST", {"Content-Type": "application/json; charset=utf-16"}, 422),
        ("POST", {"Content-Type": ""}, 422),
    ],
)
def test_only_json_is_spoken(v3: V3Service, method: str, headers: dict[str, str], status: int) -> None:
    answer = v3.ask(method, "/topics", {"topic_name": "not a name"} if method == "POST" else None, headers)
    assert answer.status == status


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/topics/a%00b", 400),
        ("DELETE", "/topics/a%00b", 400),
        ("GET", "/consumer-groups/a%00b", 400),
        ("DELETE", "/consumer-groups/a%00b", 405),
        ("GET", "/acls?principal=User:a%00b", 400),
        ("DELETE", "/acls?principal=User:a%00b", 400),
    ],
)
def test_a_name_with_a_nul_is_never_cut_short(v3: V3Service, method: str, path: str, status: int) -> None:
    assert v3.ask(method, path).status == status
