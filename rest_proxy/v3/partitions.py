"""Partitions of a topic, their offsets and their replicas."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final, cast

from confluent_kafka import KafkaError, Node, TopicPartitionInfo
from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import ERROR, Operation, Parameter, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import BOOLEAN, INT32, INT64, STRING, enum, nullable
from rest_proxy.kafka.admin import Admin
from rest_proxy.kafka.descriptions import describe_topic
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.partition_offsets import EARLIEST, LATEST, partition_offsets
from rest_proxy.problems import NOT_FOUND, PARTITION_NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION
from rest_proxy.proxy import Proxy
from rest_proxy.v3.cluster import Cluster, ClusterRoutes
from rest_proxy.v3.operation import READ_ERRORS, read
from rest_proxy.v3.refusals import NOT_IMPLEMENTED, bad_request, not_found
from rest_proxy.v3.resource import LINK, Resource, collection, kind_of, list_kind, resource
from rest_proxy.whole_number import as_integer

BOTH_OFFSETS: Final = "earliest_and_latest"

_PARTITION: Final = "/topics/{topic_name}/partitions/{partition_id}"

_PLACE: Final = {"cluster_id": STRING, "topic_name": STRING, "partition_id": INT32}
PARTITION: Final = kind_of(
    "KafkaPartition", {**_PLACE, "leader": nullable(LINK), "replicas": LINK, "reassignment": LINK}
)
PARTITION_WITH_OFFSETS: Final = kind_of(
    "KafkaPartitionWithOffsets", {**_PLACE, "earliest_offset": INT64, "latest_offset": INT64}
)
REPLICA: Final = kind_of(
    "KafkaReplica", {**_PLACE, "broker_id": INT32, "is_leader": BOOLEAN, "is_in_sync": BOOLEAN, "broker": LINK}
)
_TAG: Final = "Partitions"
_LIST: Final = read("listKafkaPartitions", _TAG, "List the partitions of a topic", list_kind(PARTITION))
_GET: Final = read("getKafkaPartition", _TAG, "Describe a partition", PARTITION)
_OFFSETS: Final = read(
    "getKafkaPartitionOffsets",
    _TAG,
    "Get the first offset of a partition, and the next one",
    PARTITION_WITH_OFFSETS,
    Parameter("offset_type", enum(BOTH_OFFSETS), "Which offsets to return."),
)
_LIST_REPLICAS: Final = read("listKafkaReplicas", _TAG, "List the replicas of a partition", list_kind(REPLICA))
_GET_REPLICA: Final = read("getKafkaReplica", _TAG, "Describe a replica", REPLICA)
_NOT_SUPPORTED: Final = {NOT_IMPLEMENTED: content(ERROR), **READ_ERRORS}
_GET_REASSIGNMENT: Final = Operation(
    "getKafkaReassignment", _TAG, "Get the reassignment of a partition (not implemented)", _NOT_SUPPORTED
)
_LIST_REASSIGNMENTS: Final = Operation(
    "listKafkaReassignments", _TAG, "List the reassignments of a topic (not implemented)", _NOT_SUPPORTED
)


def routes(proxy: Proxy) -> Iterator[Route]:
    below = ClusterRoutes(proxy)
    partitions = Partitions(proxy.clients.admin)
    yield below.route("GET", "/topics/{topic_name}/partitions", partitions.list_all, _LIST)
    yield below.route("GET", _PARTITION, partitions.get, _GET)
    yield below.route("GET", f"{_PARTITION}/offset", partitions.offsets, _OFFSETS)
    yield below.route("GET", f"{_PARTITION}/replicas", partitions.list_replicas, _LIST_REPLICAS)
    yield below.route("GET", f"{_PARTITION}/replicas/{{broker_id}}", partitions.get_replica, _GET_REPLICA)
    yield below.route("GET", f"{_PARTITION}/reassignment", refuse_reassignments, _GET_REASSIGNMENT)
    yield below.route(
        "GET", "/topics/{topic_name}/partitions/-/reassignment", refuse_reassignments, _LIST_REASSIGNMENTS
    )


class Partitions:
    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    async def list_all(self, request: Request, cluster: Cluster) -> Response:
        topic = request.path_value("topic_name")
        description = await describe_topic(self._admin, topic)
        found = (_partition(cluster, topic, partition) for partition in description.partitions)
        return json_answer(collection(PARTITION, cluster.url("topics", topic, "partitions"), found))

    async def get(self, request: Request, cluster: Cluster) -> Response:
        topic, _, partition = await self._find(request)
        if partition is None:
            raise not_found()
        return json_answer(_partition(cluster, topic, partition))

    async def offsets(self, request: Request, cluster: Cluster) -> Response:
        offset_type = request.query_value("offset_type", BOTH_OFFSETS)
        if offset_type != BOTH_OFFSETS:
            raise bad_request(f"offset_type:{offset_type} is invalid")
        topic, number, partition = await self._find(request)
        if partition is None:
            raise HttpError(NOT_FOUND, "Partition not found.", code=PARTITION_NOT_FOUND)
        place = (topic, number)
        earliest, latest = await asyncio.gather(
            partition_offsets(self._admin, [place], EARLIEST), partition_offsets(self._admin, [place], LATEST)
        )
        members = {
            "cluster_id": cluster.id,
            "topic_name": topic,
            "partition_id": number,
            "earliest_offset": earliest[place],
            "latest_offset": latest[place],
        }
        url = cluster.url("topics", topic, "partitions", number, "offset")
        name = cluster.name(("topic", topic), ("partition", number), ("offset_type", offset_type))
        return json_answer(resource(PARTITION_WITH_OFFSETS, url, name, members))

    async def list_replicas(self, request: Request, cluster: Cluster) -> Response:
        topic, number, partition = await self._find(request)
        replicas = _replicas(cluster, topic, number, partition)
        url = cluster.url("topics", topic, "partitions", number, "replicas")
        return json_answer(collection(REPLICA, url, replicas.values()))

    async def get_replica(self, request: Request, cluster: Cluster) -> Response:
        topic, number, partition = await self._find(request)
        replicas = _replicas(cluster, topic, number, partition)
        found = replicas.get(as_integer(request.path_value("broker_id")))
        if found is None:
            raise not_found()
        return json_answer(found)

    async def _find(self, request: Request) -> tuple[str, int, TopicPartitionInfo | None]:
        """The topic, the number of the partition, and the partition if the topic has it."""
        topic = request.path_value("topic_name")
        number = as_integer(request.path_value("partition_id"))
        if number is None:
            raise not_found()
        try:
            description = await describe_topic(self._admin, topic)
        except KafkaFailure as failure:
            if failure.code != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
            message = f"This server does not host topic-partition {number} for topic {topic}"
            raise HttpError(NOT_FOUND, message, code=UNKNOWN_TOPIC_OR_PARTITION) from None
        return topic, number, next((found for found in description.partitions if found.id == number), None)


async def refuse_reassignments(_request: Request, _cluster: Cluster) -> Response:
    """librdkafka cannot ask for them. An empty list would be a guess, so nobody is told one."""
    message = "This service cannot tell which reassignments are going on: ask with kafka-reassign-partitions.sh --list"
    raise HttpError(NOT_IMPLEMENTED, message)


def replica_resource(cluster: Cluster, topic: str, partition: TopicPartitionInfo, broker_id: int) -> Resource:
    place = ("topics", topic, "partitions", partition.id, "replicas", broker_id)
    return resource(
        REPLICA,
        cluster.url(*place),
        cluster.name(("topic", topic), ("partition", partition.id), ("replica", broker_id)),
        {
            "cluster_id": cluster.id,
            "topic_name": topic,
            "partition_id": partition.id,
            "broker_id": broker_id,
            "is_leader": _leader_id(partition) == broker_id,
            "is_in_sync": any(node.id == broker_id for node in partition.isr),
            "broker": cluster.related("brokers", broker_id),
        },
    )


def _replicas(
    cluster: Cluster, topic: str, number: int, partition: TopicPartitionInfo | None
) -> dict[int | None, Resource]:
    """The replicas of a partition by their brokers."""
    if partition is None:
        raise not_found(f"Partition {number} of topic {topic} could not be found on cluster {cluster.id}.")
    return {node.id: replica_resource(cluster, topic, partition, node.id) for node in partition.replicas}


def _leader_id(partition: TopicPartitionInfo) -> int | None:
    """None when it has no leader at the moment, which the library's types do not foresee."""
    leader = cast("Node | None", partition.leader)
    return None if leader is None or leader.id < 0 else leader.id


def _partition(cluster: Cluster, topic: str, partition: TopicPartitionInfo) -> Resource:
    place = ("topics", topic, "partitions", partition.id)
    leader_id = _leader_id(partition)
    return resource(
        PARTITION,
        cluster.url(*place),
        cluster.name(("topic", topic), ("partition", partition.id)),
        {
            "cluster_id": cluster.id,
            "topic_name": topic,
            "partition_id": partition.id,
            "leader": None if leader_id is None else cluster.related(*place, "replicas", leader_id),
            "replicas": cluster.related(*place, "replicas"),
            "reassignment": cluster.related(*place, "reassignment"),
        },
    )
