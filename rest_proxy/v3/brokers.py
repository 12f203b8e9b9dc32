"""Brokers of the cluster, and the replicas that each of them keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from confluent_kafka import Node
from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import INT32, STRING, nullable
from rest_proxy.kafka.admin import Admin
from rest_proxy.kafka.descriptions import describe_all_topics
from rest_proxy.proxy import Proxy
from rest_proxy.v3.cluster import Cluster, ClusterRoutes
from rest_proxy.v3.operation import read
from rest_proxy.v3.partitions import REPLICA, replica_resource
from rest_proxy.v3.refusals import not_found
from rest_proxy.v3.resource import LINK, Resource, collection, kind_of, list_kind, resource
from rest_proxy.whole_number import as_integer

BROKER: Final = kind_of(
    "KafkaBroker",
    {
        "cluster_id": STRING,
        "broker_id": INT32,
        "host": STRING,
        "port": INT32,
        "rack": nullable(STRING),
        "configs": LINK,
        "partition_replicas": LINK,
    },
)
_LIST: Final = read("listKafkaBrokers", "Brokers", "List brokers", list_kind(BROKER))
_GET: Final = read("getKafkaBroker", "Brokers", "Describe a broker", BROKER)
_REPLICAS: Final = read("listKafkaBrokerReplicas", "Brokers", "List the replicas on a broker", list_kind(REPLICA))


def routes(proxy: Proxy) -> Iterator[Route]:
    below = ClusterRoutes(proxy)
    brokers = Brokers(proxy.clients.admin)
    yield below.route("GET", "/brokers", brokers.list_all, _LIST)
    yield below.route("GET", "/brokers/{broker_id}", brokers.get, _GET)
    yield below.route("GET", "/brokers/{broker_id}/partition-replicas", brokers.partition_replicas, _REPLICAS)


class Brokers:
    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    async def list_all(self, request: Request, cluster: Cluster) -> Response:
        found = (_broker(cluster, node) for node in cluster.brokers)
        return json_answer(collection(BROKER, cluster.url("brokers"), found))

    async def get(self, request: Request, cluster: Cluster) -> Response:
        return json_answer(_broker(cluster, find_broker(request, cluster)))

    async def partition_replicas(self, request: Request, cluster: Cluster) -> Response:
        broker_id = find_broker(request, cluster).id
        topics = await describe_all_topics(self._admin)
        replicas = [
            replica_resource(cluster, topic.name, partition, broker_id)
            for topic in topics
            for partition in topic.partitions
            if any(replica.id == broker_id for replica in partition.replicas)
        ]
        url = cluster.url("brokers", broker_id, "partition-replicas")
        return json_answer(collection(REPLICA, url, replicas))


def find_broker(request: Request, cluster: Cluster) -> Node:
    """The broker that the path names; librdkafka would wait in vain for one that is not there."""
    text = request.path_value("broker_id")
    number = as_integer(text)
    if number is None:
        raise not_found()
    found = next((node for node in cluster.brokers if node.id == number), None)
    if found is None:
        raise not_found(f"Broker {number} cannot be found.")
    return found


def _broker(cluster: Cluster, node: Node) -> Resource:
    return resource(
        BROKER,
        cluster.url("brokers", node.id),
        cluster.name(("broker", node.id)),
        {
            "cluster_id": cluster.id,
            "broker_id": node.id,
            "host": node.host,
            "port": node.port,
            "rack": node.rack,
            "configs": cluster.related("brokers", node.id, "configs"),
            "partition_replicas": cluster.related("brokers", node.id, "partition-replicas"),
        },
    )
