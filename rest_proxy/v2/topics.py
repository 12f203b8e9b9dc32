"""What v2 tells of the cluster: topics, partitions, offsets, brokers."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import RedirectResponse, Response

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import NO_BODY, SERVICE_TAG, Operation, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import (
    BOOLEAN,
    INT32,
    INT64,
    OBJECT,
    STRING,
    Shape,
    list_of,
    map_of,
    nullable,
    open_object,
)
from rest_proxy.kafka.admin import REQUEST_TIMEOUT_S, Admin
from rest_proxy.kafka.admin_types import ConfigResource, ResourceType
from rest_proxy.kafka.descriptions import describe_topic
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.partition_offsets import EARLIEST, LATEST, partition_offsets
from rest_proxy.problems import NOT_FOUND, PARTITION_NOT_FOUND
from rest_proxy.proxy import Proxy
from rest_proxy.v2.media import ANSWER_TYPES, answer
from rest_proxy.v2.operation import READ_ERRORS, read
from rest_proxy.v2.partition_number import partition_number

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Kafka's own, which are not listed."""
NO_LEADER: Final = -1
HTML: Final = "text/html"

_REPLICA: Final = Shape("Replica", open_object({"broker": INT32, "leader": BOOLEAN, "in_sync": BOOLEAN}))
PARTITION: Final = Shape(
    "Partition",
    open_object(
        {"partition": INT32, "leader": {"type": "integer", "minimum": NO_LEADER}, "replicas": list_of(_REPLICA)}
    ),
)
PARTITIONS: Final = Shape("Partitions", list_of(PARTITION))
TOPIC: Final = Shape(
    "Topic", open_object({"name": STRING, "configs": map_of(nullable(STRING)), "partitions": PARTITIONS})
)
_TAG: Final = "Topics (v2)"
_EMPTY: Final = {HTTPStatus.OK: content({**OBJECT, "maxProperties": 0}, *ANSWER_TYPES), **READ_ERRORS}
_GET_ROOT: Final = Operation(
    "getRoot",
    SERVICE_TAG,
    "Check that the service responds; browsers are redirected to the page for people",
    {**_EMPTY, HTTPStatus.SEE_OTHER: NO_BODY},
)
_POST_ROOT: Final = Operation("postRoot", SERVICE_TAG, "Check that the service responds", _EMPTY)
_BROKERS: Final = read(
    "listBrokers",
    "Brokers (v2)",
    "List the ids of brokers",
    Shape("Brokers", open_object({"brokers": list_of(INT32)})),
)
_NAMES: Final = read("listTopics", _TAG, "List the names of topics", Shape("TopicNames", list_of(STRING)))
_GET: Final = read("getTopic", _TAG, "Describe a topic with its configs and partitions", TOPIC)
_PARTITIONS: Final = read("listPartitions", _TAG, "List the partitions of a topic", PARTITIONS)
_PARTITION: Final = read("getPartition", _TAG, "Describe a partition", PARTITION)
_OFFSETS: Final = read(
    "getPartitionOffsets",
    _TAG,
    "Get the first offset of a partition, and the next one",
    Shape("PartitionOffsets", open_object({"beginning_offset": INT64, "end_offset": INT64})),
)


def routes(proxy: Proxy) -> Iterator[Route]:
    topics = Topics(proxy.clients.admin)
    yield Route("GET", "/", topics.root, _GET_ROOT)
    yield Route("POST", "/", topics.root, _POST_ROOT)
    yield Route("GET", "/brokers", topics.brokers, _BROKERS)
    yield Route("GET", "/topics", topics.names, _NAMES)
    yield Route("GET", "/topics/{topic}", topics.topic, _GET)
    yield Route("GET", "/topics/{topic}/partitions", topics.partitions, _PARTITIONS)
    yield Route("GET", "/topics/{topic}/partitions/{partition}", topics.partition, _PARTITION)
    yield Route("GET", "/topics/{topic}/partitions/{partition}/offsets", topics.offsets, _OFFSETS)


class Topics:
    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    async def root(self, request: Request) -> Response:
        """Clients ask for it to see that somebody is there; people are shown what there is."""
        if request.method == "GET" and HTML in request.header(b"accept"):
            return RedirectResponse("docs", HTTPStatus.SEE_OTHER)
        return answer(request, {})

    async def brokers(self, request: Request) -> Response:
        cluster = await self._admin.one(lambda client: client.describe_cluster(request_timeout=REQUEST_TIMEOUT_S))
        return answer(request, {"brokers": sorted(node.id for node in cluster.nodes)})

    async def names(self, request: Request) -> Response:
        metadata = await self._admin.metadata()
        return answer(request, sorted(metadata.topics.keys() - INTERNAL_TOPICS))

    async def topic(self, request: Request) -> Response:
        name = request.path_value("topic")
        description = await describe_topic(self._admin, name)
        configs = await self._configs(name)
        partitions = [_partition_shape(each) for each in description.partitions]
        return answer(request, {"name": name, "configs": configs, "partitions": partitions})

    async def partitions(self, request: Request) -> Response:
        description = await describe_topic(self._admin, request.path_value("topic"))
        return answer(request, [_partition_shape(each) for each in description.partitions])

    async def partition(self, request: Request) -> Response:
        return answer(request, _partition_shape(await self._find_partition(request)))

    async def offsets(self, request: Request) -> Response:
        found = await self._find_partition(request)
        place = request.path_value("topic"), found.id
        beginning = await partition_offsets(self._admin, [place], EARLIEST)
        end = await partition_offsets(self._admin, [place], LATEST)
        return answer(request, {"beginning_offset": beginning[place], "end_offset": end[place]})

    async def _find_partition(self, request: Request) -> Any:
        number = partition_number(request)
        description = await describe_topic(self._admin, request.path_value("topic"))
        for each in description.partitions:
            if each.id == number:
                return each
        raise HttpError(NOT_FOUND, "Partition not found.", code=PARTITION_NOT_FOUND)

    async def _configs(self, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        found = await self._admin.each(
            lambda client: client.describe_configs([resource], request_timeout=REQUEST_TIMEOUT_S)
        )
        return {name: entry.value for name, entry in _only(found[resource]).items()}


def _only(found: Any) -> Any:
    if isinstance(found, KafkaFailure):
        raise found
    return found


def _partition_shape(partition: Any) -> dict[str, Any]:
    leader = NO_LEADER if partition.leader is None else partition.leader.id
    in_sync = {node.id for node in partition.isr}
    return {
        "partition": partition.id,
        "leader": leader,
        "replicas": [
            {"broker": node.id, "leader": node.id == leader, "in_sync": node.id in in_sync}
            for node in partition.replicas
        ],
    }
