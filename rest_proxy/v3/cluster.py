"""The cluster that a request is about, and the routes below it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from confluent_kafka import Node
from starlette.responses import Response

from barnabas.kernel.http.json_only import json_only
from barnabas.kernel.http.operation import Operation
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from rest_proxy.proxy import Proxy
from rest_proxy.v3.links import Links, resource_name
from rest_proxy.v3.members import NUL
from rest_proxy.v3.refusals import bad_request, not_found
from rest_proxy.v3.resource import Resource, related

CLUSTER_PATH: Final = "/v3/clusters/{cluster_id}"
CLUSTER_TIMEOUT_S: Final = 10.0
"""How long brokers that are down are waited for. This is the first question of each request, so none waits longer."""
NO_CONTENT: Final = 204


@dataclass(frozen=True, slots=True)
class Cluster:
    """The one cluster that this service is connected to, at the time of a request."""

    id: str
    controller_id: int | None
    brokers: tuple[Node, ...]
    links: Links

    def url(self, *segments: str | int, query: dict[str, str] | None = None) -> str:
        return self.links.url(self.id, *segments, query=query)

    def related(self, *segments: str | int) -> Resource:
        return related(self.url(*segments))

    def name(self, *steps: tuple[str, str | int | None]) -> str:
        return resource_name(("kafka", self.id), *steps)


ClusterHandler: TypeAlias = Callable[[Request, Cluster], Awaitable[Response]]


async def connected_cluster(proxy: Proxy, request: Request) -> Cluster:
    found = await proxy.clients.admin.one(lambda client: client.describe_cluster(request_timeout=CLUSTER_TIMEOUT_S))
    controller = None if found.controller is None or found.controller.id < 0 else found.controller.id
    brokers = tuple(sorted(found.nodes, key=lambda node: node.id))
    return Cluster(found.cluster_id or "", controller, brokers, Links(proxy.origins.of(request)))


async def asked_cluster(proxy: Proxy, request: Request) -> Cluster:
    """The cluster that a request names; one that is not ours is a 404."""
    _refuse_nul(request)
    cluster = await connected_cluster(proxy, request)
    asked = request.path_value("cluster_id")
    if asked != cluster.id:
        raise not_found(f"Cluster {asked} cannot be found.")
    return cluster


class ClusterRoutes:
    """Makes routes whose handlers are given the cluster."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    def route(self, method: str, path: str, handler: ClusterHandler, operation: Operation) -> Route:
        async def handle(request: Request) -> Response:
            return await handler(request, await asked_cluster(self._proxy, request))

        return Route(method, CLUSTER_PATH + path, json_only(handle), operation)


def _refuse_nul(request: Request) -> None:
    """librdkafka takes a NUL for the end of a text, so that `orders%00x` would mean `orders` to it."""
    if any(NUL in value for value in (*request.path_params.values(), *request.query_params.values())):
        raise bad_request("the address has a NUL character (%00), which no name in Kafka may have")


def no_content() -> Response:
    return Response(status_code=NO_CONTENT)
