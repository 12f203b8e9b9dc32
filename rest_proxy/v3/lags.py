"""How far consumer groups are behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from confluent_kafka import IsolationLevel

from barnabas.kernel.http.schema import INT32, INT64, INTEGER, STRING, nullable
from rest_proxy.kafka.admin import Admin
from rest_proxy.kafka.admin_types import ConsumerGroupDescription, MemberDescription
from rest_proxy.kafka.group_offsets import GroupOffsets
from rest_proxy.kafka.partition_offsets import LATEST, partition_offsets
from rest_proxy.v3.cluster import Cluster
from rest_proxy.v3.refusals import not_found
from rest_proxy.v3.resource import LINK, Resource, kind_of, resource

LAG: Final = kind_of(
    "KafkaConsumerLag",
    {
        "cluster_id": STRING,
        "consumer_group_id": STRING,
        "topic_name": STRING,
        "partition_id": INT32,
        "consumer_id": STRING,
        "instance_id": nullable(STRING),
        "client_id": STRING,
        "current_offset": INT64,
        "log_end_offset": INT64,
        "lag": INTEGER,
    },
)
LAG_SUMMARY: Final = kind_of(
    "KafkaConsumerGroupLagSummary",
    {
        "cluster_id": STRING,
        "consumer_group_id": STRING,
        "max_lag": INTEGER,
        "total_lag": INTEGER,
        "max_lag_consumer_id": STRING,
        "max_lag_consumer": LINK,
        "max_lag_client_id": STRING,
        "max_lag_instance_id": nullable(STRING),
        "max_lag_topic_name": STRING,
        "max_lag_partition_id": INT32,
        "max_lag_partition": LINK,
    },
)


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """A partition that a group has committed an offset of. Nobody may read it at the moment."""

    topic: str
    partition: int
    member: MemberDescription | None
    current_offset: int
    end_offset: int

    @property
    def lag(self) -> int:
        return self.end_offset - self.current_offset

    @property
    def consumer_id(self) -> str:
        return "" if self.member is None else self.member.member_id

    @property
    def client_id(self) -> str:
        return "" if self.member is None else self.member.client_id

    @property
    def instance_id(self) -> str | None:
        return None if self.member is None else self.member.group_instance_id


@dataclass(frozen=True, slots=True)
class GroupLag:
    """At least one partition, in the order of topics and numbers."""

    group_id: str
    partitions: tuple[PartitionLag, ...]

    @property
    def worst(self) -> PartitionLag:
        return max(self.partitions, key=lambda partition: partition.lag)


async def measure_lag(admin: Admin, offsets: GroupOffsets, group: ConsumerGroupDescription) -> GroupLag:
    metadata = await admin.metadata()
    places = [(name, number) for name, topic in sorted(metadata.topics.items()) for number in sorted(topic.partitions)]
    committed = await offsets.committed(group.group_id, places)
    ends = await partition_offsets(admin, committed, LATEST, IsolationLevel.READ_COMMITTED)
    readers = {
        (place.topic, place.partition): member
        for member in group.members
        for place in member.assignment.topic_partitions
    }
    partitions = tuple(
        PartitionLag(*place, readers.get(place), offset, ends[place]) for place, offset in sorted(committed.items())
    )
    if not partitions:
        raise not_found("Consumer group offsets could not be found.")
    return GroupLag(group.group_id, partitions)


def lag_resource(cluster: Cluster, group_id: str, partition: PartitionLag) -> Resource:
    topic, number = partition.topic, partition.partition
    return resource(
        LAG,
        cluster.url("consumer-groups", group_id, "lags", topic, "partitions", number),
        cluster.name(("consumer-group", group_id), ("lag", topic), ("partition", number)),
        {
            "cluster_id": cluster.id,
            "consumer_group_id": group_id,
            "topic_name": topic,
            "partition_id": number,
            "consumer_id": partition.consumer_id,
            "instance_id": partition.instance_id,
            "client_id": partition.client_id,
            "current_offset": partition.current_offset,
            "log_end_offset": partition.end_offset,
            "lag": partition.lag,
        },
    )


def summary_resource(cluster: Cluster, lag: GroupLag) -> Resource:
    worst = lag.worst
    group = ("consumer-groups", lag.group_id)
    # Nobody reads the partition: the link leads to all consumers of the group.
    consumer = (worst.consumer_id,) if worst.consumer_id else ()
    return resource(
        LAG_SUMMARY,
        cluster.url(*group, "lag-summary"),
        cluster.name(("consumer-group", lag.group_id), ("lag-summary", None)),
        {
            "cluster_id": cluster.id,
            "consumer_group_id": lag.group_id,
            "max_lag": worst.lag,
            "total_lag": sum(partition.lag for partition in lag.partitions),
            "max_lag_consumer_id": worst.consumer_id,
            "max_lag_consumer": cluster.related(*group, "consumers", *consumer),
            "max_lag_client_id": worst.client_id,
            "max_lag_instance_id": worst.instance_id,
            "max_lag_topic_name": worst.topic,
            "max_lag_partition_id": worst.partition,
            "max_lag_partition": cluster.related("topics", worst.topic, "partitions", worst.partition),
        },
    )
