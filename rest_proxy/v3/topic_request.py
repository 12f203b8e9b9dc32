"""A topic that a client wants to have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from barnabas.kernel.http.request import Request
from barnabas.kernel.http.schema import BOOLEAN, INT32, NAME, STRING, TOPIC_NAME, Shape, closed_object, list_of, map_of
from rest_proxy.kafka.admin_types import NewTopic
from rest_proxy.kafka.topic_name import TOPIC_NAME_RULE, invalid_topic
from rest_proxy.v3.members import INT16_MAX, INT32_MAX, Members
from rest_proxy.v3.refusals import bad_kafka_request, bad_request, invalid_payload
from rest_proxy.whole_number import as_integer

BROKER_DEFAULT: Final = -1
PARTITIONS_MAX: Final = 100_000
REPLICATION_FACTOR_MAX: Final = 10_000
"""More than these librdkafka does not ask for."""

_CONFIG: Final = Shape("NewTopicConfig", closed_object({"name": NAME, "value": STRING}))
NEW_TOPIC: Final = Shape(
    "NewTopic",
    closed_object(
        {"topic_name": TOPIC_NAME},
        {
            "partitions_count": {"type": "integer", "minimum": BROKER_DEFAULT, "maximum": PARTITIONS_MAX},
            "replication_factor": {"type": "integer", "minimum": BROKER_DEFAULT, "maximum": REPLICATION_FACTOR_MAX},
            "replicas_assignments": map_of(list_of(INT32)),
            "configs": list_of(_CONFIG),
            "validate_only": BOOLEAN,
        },
    ),
)


@dataclass(frozen=True, slots=True)
class TopicRequest:
    """No count: what the brokers do by default."""

    name: str
    partitions_count: int | None
    replication_factor: int | None
    replicas: tuple[tuple[int, ...], ...]
    """Which brokers keep each partition; empty: the brokers decide."""
    configs: Mapping[str, str]
    validate_only: bool

    @classmethod
    async def of(cls, request: Request) -> TopicRequest:
        members = await Members.of(request, NEW_TOPIC, empty="Request body is empty. Data is required.")
        name = members.text("topic_name")
        if invalid_topic(name) is not None:
            raise invalid_payload(f"Invalid topic name. {TOPIC_NAME_RULE}")
        replicas = _replicas(members.optional_object("replicas_assignments"))
        partitions_count = _count(members.optional_integer("partitions_count"))
        replication_factor = _factor(members.optional_integer("replication_factor", INT16_MAX))
        if replicas:
            partitions_count, replication_factor = _count(len(replicas)), len(replicas[0])
        configs = _configs(members)
        return cls(name, partitions_count, replication_factor, replicas, configs, members.flag("validate_only"))

    def new_topic(self) -> NewTopic:
        """As librdkafka wants it told."""
        if self.replicas:
            replicas = [list(brokers) for brokers in self.replicas]
            return NewTopic(self.name, len(replicas), replica_assignment=replicas, config=dict(self.configs))
        return NewTopic(
            self.name,
            BROKER_DEFAULT if self.partitions_count is None else self.partitions_count,
            BROKER_DEFAULT if self.replication_factor is None else self.replication_factor,
            config=dict(self.configs),
        )


def check_partitions_count(count: int) -> None:
    if not 1 <= count <= PARTITIONS_MAX:
        raise bad_kafka_request(
            f"The number of partitions must be from 1 to {PARTITIONS_MAX}, but {count} is asked for."
        )


def _count(count: int | None) -> int | None:
    if count is None or count == BROKER_DEFAULT:
        return None
    check_partitions_count(count)
    return count


def _factor(factor: int | None) -> int | None:
    if factor is None or factor == BROKER_DEFAULT:
        return None
    if not 1 <= factor <= REPLICATION_FACTOR_MAX:
        raise bad_kafka_request(
            f"The replication factor must be from 1 to {REPLICATION_FACTOR_MAX}, but {factor} is asked for."
        )
    return factor


def _replicas(given: Mapping[str, Any]) -> tuple[tuple[int, ...], ...]:
    """The brokers of each partition, in the order of the partitions."""
    by_partition: dict[int, tuple[int, ...]] = {}
    for key, brokers in given.items():
        partition = as_integer(key)
        if partition is None:
            raise bad_request(f"replicas_assignments has the partition {key!r}, which is not a number")
        by_partition[partition] = _brokers(partition, brokers)
    if sorted(by_partition) != list(range(len(given))):
        raise bad_kafka_request("partitions should be a consecutive 0-based integer sequence")
    return tuple(by_partition[partition] for partition in range(len(by_partition)))


def _brokers(partition: int, given: object) -> tuple[int, ...]:
    found = [as_integer(broker) for broker in given] if isinstance(given, list) else [None]
    brokers = tuple(broker for broker in found if broker is not None and 0 <= broker <= INT32_MAX)
    if len(brokers) < len(found):
        raise bad_request(f"replicas_assignments must have a list of broker ids for partition {partition}")
    _factor(len(brokers))
    return brokers


def _configs(members: Members) -> dict[str, str]:
    configs: dict[str, str] = {}
    for entry in members.optional_objects("configs", _CONFIG):
        name, value = entry.text("name"), entry.optional_text("value")
        if value is None:
            raise bad_kafka_request(f"Null value not supported for topic configs: {name}")
        if name in configs:
            raise bad_request(f"configs names {name} twice")
        configs[name] = value
    return configs
