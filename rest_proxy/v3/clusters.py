"""Clusters: the one that this service is connected to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.json_only import json_only
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import STRING, nullable
from rest_proxy.proxy import Proxy
from rest_proxy.v3.cluster import CLUSTER_PATH, Cluster, connected_cluster
from rest_proxy.v3.operation import read
from rest_proxy.v3.refusals import not_found
from rest_proxy.v3.resource import LINK, Resource, collection, kind_of, list_kind, resource

CLUSTER: Final = kind_of(
    "KafkaCluster",
    {
        "cluster_id": STRING,
        "controller": nullable(LINK),
        "acls": LINK,
        "brokers": LINK,
        "broker_configs": LINK,
        "consumer_groups": LINK,
        "topics": LINK,
        "partition_reassignments": LINK,
    },
)
_LIST: Final = read("listKafkaClusters", "Clusters", "List the connected cluster", list_kind(CLUSTER))
_GET: Final = read("getKafkaCluster", "Clusters", "Describe the cluster", CLUSTER)


def routes(proxy: Proxy) -> Iterator[Route]:
    clusters = Clusters(proxy)
    yield Route("GET", "/v3/clusters", json_only(clusters.list_all), _LIST)
    yield Route("GET", CLUSTER_PATH, json_only(clusters.get), _GET)


class Clusters:
    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    async def list_all(self, request: Request) -> Response:
        cluster = await connected_cluster(self._proxy, request)
        return json_answer(collection(CLUSTER, cluster.links.url(), [_cluster(cluster)]))

    async def get(self, request: Request) -> Response:
        cluster = await connected_cluster(self._proxy, request)
        if request.path_value("cluster_id") != cluster.id:
            raise not_found()
        return json_answer(_cluster(cluster))


def _cluster(cluster: Cluster) -> Resource:
    controller = cluster.controller_id
    return resource(
        CLUSTER,
        cluster.url(),
        cluster.name(),
        {
            "cluster_id": cluster.id,
            "controller": None if controller is None else cluster.related("brokers", controller),
            "acls": cluster.related("acls"),
            "brokers": cluster.related("brokers"),
            "broker_configs": cluster.related("broker-configs"),
            "consumer_groups": cluster.related("consumer-groups"),
            "topics": cluster.related("topics"),
            "partition_reassignments": cluster.related("topics", "-", "partitions", "-", "reassignment"),
        },
    )
