"""What the service tells of itself: who it is, whether it works, and its metrics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Final

import orjson
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.responses import Response

from barnabas.kernel.http.health import Health
from barnabas.kernel.http.metrics import RequestMetrics
from barnabas.kernel.http.operation import SERVICE_TAG, Operation, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import BOOLEAN, OBJECT, STRING, list_of, map_of, open_object
from schema_registry.http.media import answer
from schema_registry.http.operation import read
from schema_registry.node import Node
from schema_registry.state.state import State

CONFLUENT_VERSION = "8.0.0"
"""The version of Confluent's registry whose API this is: clients ask for it to learn what a server can do."""
METRICS_PREFIX: Final = "schema_registry"
FIGURES: Final = {
    "schemas": "Schemas that have an id.",
    "subjects": "Subjects, deleted ones too.",
    "versions_live": "Versions of subjects.",
    "versions_deleted": "Versions of subjects that were soft-deleted.",
    "leader": "1 on the instance that writes.",
    "elector_healthy": "1 while the instance takes part in elections.",
    "reader_healthy": "1 while the instance hears the topic.",
    "reader_lag_records": "Records of the topic that are not replayed yet.",
    "records_skipped_total": "Records of the topic that made no sense.",
}
"""What `/metrics` tells beside requests."""

_GET_ROOT: Final = read("getRoot", SERVICE_TAG, "Check that the service responds", OBJECT)
_POST_ROOT: Final = read("postRoot", SERVICE_TAG, "Check that the service responds", OBJECT)
_SCOPE: Final = open_object({"path": list_of(STRING), "clusters": map_of(STRING)})
_CLUSTER_ID: Final = read("getClusterId", SERVICE_TAG, "Get the ids of the clusters", open_object({"scope": _SCOPE}))
_VERSION: Final = read(
    "getSchemaRegistryVersion",
    SERVICE_TAG,
    "Get the version of the API",
    open_object({"version": STRING, "commitId": STRING}),
)
_DEPLOYMENT: Final = read(
    "getSchemaRegistryDeployment",
    SERVICE_TAG,
    "Get what is known of the deployment",
    open_object({"attributes": list_of(STRING)}),
)
_STATE: Final = content(open_object({"healthy": BOOLEAN, "status": OBJECT}))
_HEALTH: Final = Operation(
    "getInstanceHealth", SERVICE_TAG, "Get the state of this instance", {200: _STATE, 503: _STATE}
)
_READY: Final = content(open_object({"ready": BOOLEAN}))
_READINESS: Final = Operation(
    "getReadiness", SERVICE_TAG, "Check whether requests would be served", {200: _READY, 503: _READY}
)
_LEADER: Final = Operation(
    "getLeaderAvailability",
    SERVICE_TAG,
    "Check whether an instance leads",
    {200: content(open_object({"master_available": BOOLEAN}))},
)


def figure(name: str, value: float) -> Metric:
    family = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
    return family(f"{METRICS_PREFIX}_{name}", FIGURES[name], value)


@dataclass(slots=True)
class ClusterNames:
    """The group of instances that serve the schemas, and the Kafka cluster that holds them, once it has told its id."""

    registry_group: str
    kafka_cluster: str = ""


class ServiceStatus:
    """The handlers of what is no schema."""

    def __init__(self, state: State, node: Node, names: ClusterNames) -> None:
        self._state = state
        self._node = node
        self._names = names
        self._metrics = RequestMetrics(METRICS_PREFIX, more=[self._families])
        self._health = Health(
            "registry", {"topic": self._topic_problem, "election": self._election_problem}, {"topic", "election"}
        )

    @property
    def metrics(self) -> RequestMetrics:
        return self._metrics

    def routes(self) -> Iterator[Route]:
        yield Route("GET", "/", self.root, _GET_ROOT, cached=True)
        yield Route("POST", "/", self.root, _POST_ROOT)
        yield Route("GET", "/v1/metadata/id", self.cluster_id, _CLUSTER_ID, cached=True)
        yield Route("GET", "/v1/metadata/version", self.version, _VERSION, cached=True)
        yield Route("GET", "/v1/metadata/deployment", self.deployment, _DEPLOYMENT, cached=True)
        yield from self._health.routes()
        yield Route("GET", "/_health", self.health, _HEALTH)
        yield Route("GET", "/status/ready", self.ready, _READINESS)
        yield Route("GET", "/master_available", self.leader_available, _LEADER)
        yield self._metrics.route()

    async def root(self, request: Request) -> Response:
        return answer(request, {})

    async def cluster_id(self, request: Request) -> Response:
        clusters = {"kafka-cluster": self._names.kafka_cluster, "schema-registry-cluster": self._names.registry_group}
        return answer(request, {"scope": {"path": [], "clusters": clusters}})

    async def version(self, request: Request) -> Response:
        return answer(request, {"version": CONFLUENT_VERSION, "commitId": f"barnabas-{version('barnabas')}"})

    async def deployment(self, request: Request) -> Response:
        return answer(request, {"attributes": []})

    async def health(self, _request: Request) -> Response:
        """Whether this instance can do its work: it hears the topic, and takes part in elections."""
        health, election = self._node.store.health, self._node.election
        healthy = health.reading and health.error is None and election.healthy
        leader = election.leader
        members: dict[str, Any] = {
            "healthy": healthy,
            "status": {
                "reader_alive": health.reading,
                "records_behind": health.lag,
                "records_skipped_total": health.skipped_records,
                "reader_error": health.error,
                "elector_alive": election.healthy,
                "elector_error": election.error,
                "is_leader": election.is_leader,
                "leader": None if leader is None else leader.url,
            },
        }
        status = HTTPStatus.OK if healthy else HTTPStatus.SERVICE_UNAVAILABLE
        return Response(orjson.dumps(members), status, media_type="application/json")

    async def _topic_problem(self) -> str | None:
        health = self._node.store.health
        if health.error is not None:
            return health.error
        return None if health.reading else "the topic of schemas has not been read to its end yet"

    async def _election_problem(self) -> str | None:
        election = self._node.election
        if election.healthy:
            return None
        return election.error or "this instance has not joined the group of instances yet"

    async def ready(self, _request: Request) -> Response:
        """Whether reads and writes would be answered now."""
        health, election = self._node.store.health, self._node.election
        ready = health.reading and health.error is None and election.leader is not None
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        return Response(orjson.dumps({"ready": ready}), status, media_type="application/json")

    async def leader_available(self, _request: Request) -> Response:
        available = self._node.election.leader is not None
        body = orjson.dumps({"master_available": available})
        return Response(body, media_type="application/json", headers={"cache-control": "no-store"})

    def _families(self) -> Iterator[Metric]:
        contexts = list(self._state.contexts.values())
        versions = [
            version for context in contexts for subject in context.subjects() for version in context.versions(subject)
        ]
        live = sum(not version.deleted for version in versions)
        health, election = self._node.store.health, self._node.election
        numbers = {
            "schemas": sum(len(context.contents()) for context in contexts),
            "subjects": sum(len(list(context.subjects())) for context in contexts),
            "versions_live": live,
            "versions_deleted": len(versions) - live,
            "leader": int(election.is_leader),
            "elector_healthy": int(election.healthy),
            "reader_healthy": int(health.error is None),
            "reader_lag_records": health.lag,
            "records_skipped_total": health.skipped_records,
        }
        yield from (figure(name, numbers[name]) for name in FIGURES)
