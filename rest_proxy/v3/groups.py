"""Consumer groups, their members, what these read, and how far behind they are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final

from confluent_kafka import ConsumerGroupState, KafkaError, TopicPartition
from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import BOOLEAN, INT32, STRING, nullable
from rest_proxy.kafka.admin import REQUEST_TIMEOUT_S, Admin
from rest_proxy.kafka.admin_types import ConsumerGroupDescription, MemberDescription
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.group_offsets import GroupOffsets
from rest_proxy.proxy import Proxy
from rest_proxy.v3.cluster import Cluster, ClusterRoutes
from rest_proxy.v3.lags import LAG, LAG_SUMMARY, GroupLag, lag_resource, measure_lag, summary_resource
from rest_proxy.v3.operation import read
from rest_proxy.v3.refusals import not_found
from rest_proxy.v3.resource import LINK, Resource, collection, kind_of, list_kind, resource
from rest_proxy.whole_number import as_integer

COORDINATOR_RETRIES: Final = 25
COORDINATOR_RETRY_S: Final = 0.2
"""A coordinator that has just been chosen, as on a cluster that never had a group, is ready after a moment."""

_GROUP: Final = "/consumer-groups/{group_id}"
_CONSUMER: Final = f"{_GROUP}/consumers/{{consumer_id}}"
_PARTITION: Final = "/{topic_name}/partitions/{partition_id}"

_HIDDEN: Final = frozenset({KafkaError.GROUP_ID_NOT_FOUND, KafkaError.GROUP_AUTHORIZATION_FAILED})
"""Groups that are gone, or that we may not see, are as if they were not there."""

_COORDINATOR_MOVES: Final = frozenset(
    {KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.COORDINATOR_LOAD_IN_PROGRESS}
)

# Where the client library has names of its own.
_STATES: Final[dict[Enum, str]] = {
    ConsumerGroupState.PREPARING_REBALANCING: "PREPARING_REBALANCE",
    ConsumerGroupState.COMPLETING_REBALANCING: "COMPLETING_REBALANCE",
}

GROUP: Final = kind_of(
    "KafkaConsumerGroup",
    {
        "cluster_id": STRING,
        "consumer_group_id": STRING,
        "is_simple": BOOLEAN,
        "partition_assignor": STRING,
        "state": STRING,
        "type": STRING,
        "is_mixed_consumer_group": BOOLEAN,
        "coordinator": LINK,
        "consumers": LINK,
        "lag_summary": LINK,
    },
)
CONSUMER: Final = kind_of(
    "KafkaConsumer",
    {
        "cluster_id": STRING,
        "consumer_group_id": STRING,
        "consumer_id": STRING,
        "instance_id": nullable(STRING),
        "client_id": STRING,
        "assignments": LINK,
    },
)
ASSIGNMENT: Final = kind_of(
    "KafkaConsumerAssignment",
    {
        "cluster_id": STRING,
        "consumer_group_id": STRING,
        "consumer_id": STRING,
        "topic_name": STRING,
        "partition_id": INT32,
        "partition": LINK,
        "lag": LINK,
    },
)
_TAG: Final = "Consumer groups"
_LIST: Final = read("listKafkaConsumerGroups", _TAG, "List consumer groups", list_kind(GROUP))
_GET: Final = read("getKafkaConsumerGroup", _TAG, "Describe a group", GROUP)
_LIST_CONSUMERS: Final = read("listKafkaConsumers", _TAG, "List the members of a group", list_kind(CONSUMER))
_GET_CONSUMER: Final = read("getKafkaConsumer", _TAG, "Describe a member", CONSUMER)
_LIST_ASSIGNMENTS: Final = read(
    "listKafkaConsumerAssignments", _TAG, "List the partitions of a member", list_kind(ASSIGNMENT)
)
_GET_ASSIGNMENT: Final = read("getKafkaConsumerAssignment", _TAG, "Describe a partition of a member", ASSIGNMENT)
_GET_LAG_SUMMARY: Final = read("getKafkaConsumerGroupLagSummary", _TAG, "Get the lag of a group", LAG_SUMMARY)
_LIST_LAGS: Final = read("listKafkaConsumerLags", _TAG, "List the lag of a group by partition", list_kind(LAG))
_GET_LAG: Final = read("getKafkaConsumerLag", _TAG, "Get the lag of a group in a partition", LAG)


def routes(proxy: Proxy) -> Iterator[Route]:
    below = ClusterRoutes(proxy)
    groups = Groups(proxy.clients.admin, GroupOffsets(proxy.settings, proxy.clients.threads))
    yield below.route("GET", "/consumer-groups", groups.list_all, _LIST)
    yield below.route("GET", _GROUP, groups.get, _GET)
    yield below.route("GET", f"{_GROUP}/consumers", groups.list_consumers, _LIST_CONSUMERS)
    yield below.route("GET", _CONSUMER, groups.get_consumer, _GET_CONSUMER)
    yield below.route("GET", f"{_CONSUMER}/assignments", groups.list_assignments, _LIST_ASSIGNMENTS)
    yield below.route("GET", f"{_CONSUMER}/assignments{_PARTITION}", groups.get_assignment, _GET_ASSIGNMENT)
    yield below.route("GET", f"{_GROUP}/lag-summary", groups.lag_summary, _GET_LAG_SUMMARY)
    yield below.route("GET", f"{_GROUP}/lags", groups.list_lags, _LIST_LAGS)
    yield below.route("GET", f"{_GROUP}/lags{_PARTITION}", groups.get_lag, _GET_LAG)


class Groups:
    def __init__(self, admin: Admin, offsets: GroupOffsets) -> None:
        self._admin = admin
        self._offsets = offsets

    async def list_all(self, request: Request, cluster: Cluster) -> Response:
        listing = await self._admin.one(lambda client: client.list_consumer_groups(request_timeout=REQUEST_TIMEOUT_S))
        if listing.errors and not listing.valid:
            raise KafkaFailure.of_exception(listing.errors[0])
        groups = await self._describe(sorted(group.group_id for group in listing.valid))
        found = (_group(cluster, group) for group in groups)
        return json_answer(collection(GROUP, cluster.url("consumer-groups"), found))

    async def get(self, request: Request, cluster: Cluster) -> Response:
        return json_answer(_group(cluster, await self._find(request, "HTTP 404 Not Found")))

    async def list_consumers(self, request: Request, cluster: Cluster) -> Response:
        group = await self._existing(request)
        members = sorted(group.members, key=lambda member: member.member_id)
        found = (_consumer(cluster, group.group_id, member) for member in members)
        url = cluster.url("consumer-groups", group.group_id, "consumers")
        return json_answer(collection(CONSUMER, url, found))

    async def get_consumer(self, request: Request, cluster: Cluster) -> Response:
        group = await self._existing(request)
        member = _member(request, group, "HTTP 404 Not Found")
        return json_answer(_consumer(cluster, group.group_id, member))

    async def list_assignments(self, request: Request, cluster: Cluster) -> Response:
        group, member = await self._existing_member(request)
        places = sorted(member.assignment.topic_partitions, key=lambda place: (place.topic, place.partition))
        found = (_assignment(cluster, group.group_id, member, place) for place in places)
        url = cluster.url("consumer-groups", group.group_id, "consumers", member.member_id, "assignments")
        return json_answer(collection(ASSIGNMENT, url, found))

    async def get_assignment(self, request: Request, cluster: Cluster) -> Response:
        group, member = await self._existing_member(request)
        wanted = (request.path_value("topic_name"), as_integer(request.path_value("partition_id")))
        for place in member.assignment.topic_partitions:
            if (place.topic, place.partition) == wanted:
                return json_answer(_assignment(cluster, group.group_id, member, place))
        raise not_found()

    async def lag_summary(self, request: Request, cluster: Cluster) -> Response:
        return json_answer(summary_resource(cluster, await self._lag(request)))

    async def list_lags(self, request: Request, cluster: Cluster) -> Response:
        lag = await self._lag(request)
        found = (lag_resource(cluster, lag.group_id, partition) for partition in lag.partitions)
        return json_answer(collection(LAG, cluster.url("consumer-groups", lag.group_id, "lags"), found))

    async def get_lag(self, request: Request, cluster: Cluster) -> Response:
        lag = await self._lag(request)
        wanted = (request.path_value("topic_name"), as_integer(request.path_value("partition_id")))
        for partition in lag.partitions:
            if (partition.topic, partition.partition) == wanted:
                return json_answer(lag_resource(cluster, lag.group_id, partition))
        raise not_found()

    async def _lag(self, request: Request) -> GroupLag:
        group = await self._find(request, f"Consumer Group {request.path_value('group_id')} could not be found.")
        return await measure_lag(self._admin, self._offsets, group)

    async def _existing(self, request: Request) -> ConsumerGroupDescription:
        return await self._find(request, f"Consumer Group {request.path_value('group_id')} does not exist.")

    async def _existing_member(self, request: Request) -> tuple[ConsumerGroupDescription, MemberDescription]:
        group = await self._existing(request)
        refusal = f"Consumer {request.path_value('consumer_id')} does not exist."
        return group, _member(request, group, refusal)

    async def _find(self, request: Request, refusal: str) -> ConsumerGroupDescription:
        groups = await self._describe([request.path_value("group_id")])
        if not groups:
            raise not_found(refusal)
        return groups[0]

    async def _describe(self, group_ids: Sequence[str]) -> list[ConsumerGroupDescription]:
        """The groups among these that exist."""
        if not group_ids:
            return []
        answers = await self._ask(group_ids)
        for _ in range(COORDINATOR_RETRIES):
            if not any(map(_is_moving, answers)):
                break
            await asyncio.sleep(COORDINATOR_RETRY_S)
            answers = await self._ask(group_ids)
        groups = []
        for answer in answers:
            if isinstance(answer, KafkaFailure):
                if answer.code not in _HIDDEN:
                    raise answer
            elif answer.state != ConsumerGroupState.DEAD or not answer.is_simple_consumer_group:
                # Brokers describe a classic group that does not exist as a dead one without a protocol.
                groups.append(answer)
        return groups

    async def _ask(self, group_ids: Sequence[str]) -> list[ConsumerGroupDescription | KafkaFailure]:
        answers = await self._admin.each(
            lambda client: client.describe_consumer_groups(list(group_ids), request_timeout=REQUEST_TIMEOUT_S)
        )
        return list(answers.values())


def _is_moving(answer: ConsumerGroupDescription | KafkaFailure) -> bool:
    return isinstance(answer, KafkaFailure) and answer.code in _COORDINATOR_MOVES


def _member(request: Request, group: ConsumerGroupDescription, refusal: str) -> MemberDescription:
    wanted = request.path_value("consumer_id")
    found = next((member for member in group.members if member.member_id == wanted), None)
    if found is None:
        raise not_found(refusal)
    return found


def _group(cluster: Cluster, group: ConsumerGroupDescription) -> Resource:
    place = ("consumer-groups", group.group_id)
    return resource(
        GROUP,
        cluster.url(*place),
        cluster.name(("consumer-group", group.group_id)),
        {
            "cluster_id": cluster.id,
            "consumer_group_id": group.group_id,
            "is_simple": group.is_simple_consumer_group,
            "partition_assignor": group.partition_assignor or "",
            "state": _STATES.get(group.state, group.state.name),
            "type": group.type.name,
            # librdkafka does not tell which members of a group still speak the old protocol.
            "is_mixed_consumer_group": False,
            "coordinator": cluster.related("brokers", group.coordinator.id),
            "consumers": cluster.related(*place, "consumers"),
            "lag_summary": cluster.related(*place, "lag-summary"),
        },
    )


def _consumer(cluster: Cluster, group_id: str, member: MemberDescription) -> Resource:
    place = ("consumer-groups", group_id, "consumers", member.member_id)
    return resource(
        CONSUMER,
        cluster.url(*place),
        cluster.name(("consumer-group", group_id), ("consumer", member.member_id)),
        {
            "cluster_id": cluster.id,
            "consumer_group_id": group_id,
            "consumer_id": member.member_id,
            "instance_id": member.group_instance_id,
            "client_id": member.client_id,
            "assignments": cluster.related(*place, "assignments"),
        },
    )


def _assignment(cluster: Cluster, group_id: str, member: MemberDescription, place: TopicPartition) -> Resource:
    partition = ("partitions", place.partition)
    group = ("consumer-groups", group_id)
    return resource(
        ASSIGNMENT,
        cluster.url(*group, "consumers", member.member_id, "assignments", place.topic, *partition),
        cluster.name(
            ("consumer-group", group_id),
            ("consumer", member.member_id),
            ("assignment", place.topic),
            ("partition", place.partition),
        ),
        {
            "cluster_id": cluster.id,
            "consumer_group_id": group_id,
            "consumer_id": member.member_id,
            "topic_name": place.topic,
            "partition_id": place.partition,
            "partition": cluster.related("topics", place.topic, *partition),
            "lag": cluster.related(*group, "lags", place.topic, *partition),
        },
    )
