"""Topics: list, create, describe, give more partitions, delete."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.operation import NO_BODY, Parameter, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import BOOLEAN, INT32, STRING, Shape, closed_object, list_of
from rest_proxy.kafka.admin import REQUEST_TIMEOUT_S, Admin
from rest_proxy.kafka.admin_types import ConfigEntry, NewPartitions, TopicDescription
from rest_proxy.kafka.descriptions import describe_all_topics, describe_topic
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.producer import SharedProducer
from rest_proxy.proxy import Proxy
from rest_proxy.v3.cluster import NO_CONTENT, Cluster, ClusterRoutes, no_content
from rest_proxy.v3.config_entries import configs_of_broker
from rest_proxy.v3.members import Members
from rest_proxy.v3.operation import read, write
from rest_proxy.v3.resource import LINK, Resource, collection, kind_of, list_kind, resource
from rest_proxy.v3.topic_request import NEW_TOPIC, PARTITIONS_MAX, TopicRequest, check_partitions_count
from rest_proxy.whole_number import as_integer

CREATED: Final = 201
OK: Final = 200

TOPIC: Final = kind_of(
    "KafkaTopic",
    {
        "cluster_id": STRING,
        "topic_name": STRING,
        "is_internal": BOOLEAN,
        "replication_factor": INT32,
        "partitions_count": INT32,
        "partitions": LINK,
        "configs": LINK,
        "partition_reassignments": LINK,
        "authorized_operations": list_of(STRING),
    },
)
PARTITIONS_COUNT: Final = Shape(
    "PartitionsCount",
    closed_object({"partitions_count": {"type": "integer", "minimum": 1, "maximum": PARTITIONS_MAX}}),
)
_TAG: Final = "Topics"
_WITH_OPERATIONS: Final = Parameter(
    "include_authorized_operations", BOOLEAN, "Whether to list what the service may do with each topic."
)
_LIST: Final = read("listKafkaTopics", _TAG, "List topics", list_kind(TOPIC), _WITH_OPERATIONS)
_GET: Final = read("getKafkaTopic", _TAG, "Describe a topic", TOPIC, _WITH_OPERATIONS)
_CREATE: Final = write(
    "createKafkaTopic",
    _TAG,
    "Create a topic, or check whether it can be created",
    {OK: content(TOPIC), CREATED: content(TOPIC)},
    content(NEW_TOPIC),
)
_ADD_PARTITIONS: Final = write(
    "updatePartitionCountKafkaTopic",
    _TAG,
    "Add partitions to a topic",
    {OK: content(TOPIC)},
    content(PARTITIONS_COUNT),
)
_DELETE: Final = write("deleteKafkaTopic", _TAG, "Delete a topic", {NO_CONTENT: NO_BODY})

logger = logging.getLogger(__name__)


def routes(proxy: Proxy) -> Iterator[Route]:
    below = ClusterRoutes(proxy)
    topics = Topics(proxy.clients.admin, proxy.clients.producer)
    yield below.route("GET", "/topics", topics.list_all, _LIST)
    yield below.route("POST", "/topics", topics.create, _CREATE)
    yield below.route("GET", "/topics/{topic_name}", topics.get, _GET)
    yield below.route("PATCH", "/topics/{topic_name}", topics.add_partitions, _ADD_PARTITIONS)
    yield below.route("DELETE", "/topics/{topic_name}", topics.delete, _DELETE)


class Topics:
    def __init__(self, admin: Admin, producer: SharedProducer) -> None:
        self._admin = admin
        self._producer = producer

    async def list_all(self, request: Request, cluster: Cluster) -> Response:
        topics = await describe_all_topics(self._admin, with_operations=_wants_operations(request))
        # The cluster's own topics are there for those who name them.
        found = (_described(cluster, topic) for topic in topics if not topic.is_internal)
        return json_answer(collection(TOPIC, cluster.url("topics"), found))

    async def get(self, request: Request, cluster: Cluster) -> Response:
        name = request.path_value("topic_name")
        topic = await describe_topic(self._admin, name, with_operations=_wants_operations(request))
        return json_answer(_described(cluster, topic))

    async def create(self, request: Request, cluster: Cluster) -> Response:
        wanted = await TopicRequest.of(request)
        answers = await self._admin.each(
            lambda client: client.create_topics(
                [wanted.new_topic()], validate_only=wanted.validate_only, request_timeout=REQUEST_TIMEOUT_S
            )
        )
        _raise_failure(answers)
        wanted = await self._with_defaults(wanted, cluster)
        topic = _topic(
            cluster, wanted.name, wanted.replication_factor or 0, wanted.partitions_count or 0, is_internal=False
        )
        location = {"location": topic["metadata"]["self"]}
        return json_answer(topic, OK if wanted.validate_only else CREATED, headers=location)

    async def add_partitions(self, request: Request, cluster: Cluster) -> Response:
        name = request.path_value("topic_name")
        members = await Members.of(
            request, PARTITIONS_COUNT, empty="Request body is empty. Partitions_count is required."
        )
        count = members.integer("partitions_count")
        before = await describe_topic(self._admin, name)
        check_partitions_count(count)
        answers = await self._admin.each(
            lambda client: client.create_partitions([NewPartitions(name, count)], request_timeout=REQUEST_TIMEOUT_S)
        )
        _raise_failure(answers)
        # Brokers hear of the new partitions a little later than the controller that has just promised them.
        return json_answer(_topic(cluster, name, _factor(before), count, is_internal=before.is_internal))

    async def delete(self, request: Request, cluster: Cluster) -> Response:
        name = request.path_value("topic_name")
        answers = await self._admin.each(lambda client: client.delete_topics([name], request_timeout=REQUEST_TIMEOUT_S))
        _raise_failure(answers)
        self._producer.forget(name)
        return no_content()

    async def _with_defaults(self, wanted: TopicRequest, cluster: Cluster) -> TopicRequest:
        """The request with the counts that the brokers choose where it has none."""
        if wanted.partitions_count is not None and wanted.replication_factor is not None:
            return wanted
        if not cluster.brokers:
            return wanted
        try:
            configs = await configs_of_broker(self._admin, cluster.brokers[0].id)
        except KafkaFailure as failure:
            # The topic is there; a client that may not read the settings of brokers is told 0, as Confluent does.
            logger.info("the defaults of new topics are unknown: %s", failure.message)
            return wanted
        return replace(
            wanted,
            partitions_count=wanted.partitions_count or _number(configs.get("num.partitions")),
            replication_factor=wanted.replication_factor or _number(configs.get("default.replication.factor")),
        )


def _number(entry: ConfigEntry | None) -> int | None:
    return None if entry is None else as_integer(entry.value)


def _raise_failure(answers: Mapping[str, object]) -> None:
    for topic, answer in answers.items():
        if isinstance(answer, KafkaFailure):
            raise answer.naming(f"topic {topic}")


def _wants_operations(request: Request) -> bool:
    # Confluent's list reads the second name and documents the first.
    return request.flag("include_authorized_operations") or request.flag("includeAuthorizedOperations")


def _factor(topic: TopicDescription) -> int:
    return len(topic.partitions[0].replicas) if topic.partitions else 0


def _described(cluster: Cluster, topic: TopicDescription) -> Resource:
    operations = topic.authorized_operations or []
    return _topic(
        cluster, topic.name, _factor(topic), len(topic.partitions), is_internal=topic.is_internal, operations=operations
    )


def _topic(
    cluster: Cluster,
    name: str,
    replication_factor: int,
    partitions_count: int,
    *,
    is_internal: bool,
    operations: Iterable[Enum] = (),
) -> Resource:
    return resource(
        TOPIC,
        cluster.url("topics", name),
        cluster.name(("topic", name)),
        {
            "cluster_id": cluster.id,
            "topic_name": name,
            "is_internal": is_internal,
            "replication_factor": replication_factor,
            "partitions_count": partitions_count,
            "partitions": cluster.related("topics", name, "partitions"),
            "configs": cluster.related("topics", name, "configs"),
            "partition_reassignments": cluster.related("topics", name, "partitions", "-", "reassignment"),
            "authorized_operations": [operation.name for operation in operations],
        },
    )
