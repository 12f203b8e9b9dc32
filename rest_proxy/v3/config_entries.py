"""Configs of topics, brokers and the cluster: how they are asked for, and their shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from barnabas.kernel.http.schema import BOOLEAN, INT32, STRING, Shape, constant, list_of, nullable, open_object
from rest_proxy.kafka.admin import REQUEST_TIMEOUT_S, Admin
from rest_proxy.kafka.admin_types import ConfigEntry, ConfigResource, ResourceType
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.v3.cluster import Cluster
from rest_proxy.v3.resource import Resource, kind_of, resource

DYNAMIC_DEFAULT_BROKER: Final = 3

# By Kafka's numbers for where a value comes from.
_SOURCES: Final = {
    1: "DYNAMIC_TOPIC_CONFIG",
    2: "DYNAMIC_BROKER_CONFIG",
    DYNAMIC_DEFAULT_BROKER: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
    6: "DYNAMIC_BROKER_LOGGER_CONFIG",
    8: "DYNAMIC_GROUP_CONFIG",
}

_CONFIG: Final = {
    "cluster_id": STRING,
    "name": STRING,
    "value": nullable(STRING),
    "is_read_only": BOOLEAN,
    "is_sensitive": BOOLEAN,
    "source": STRING,
    "synonyms": list_of(open_object({"name": STRING, "value": nullable(STRING), "source": STRING})),
    "is_default": BOOLEAN,
}
TOPIC_CONFIG: Final = kind_of("KafkaTopicConfig", {**_CONFIG, "topic_name": STRING})
BROKER_CONFIG: Final = kind_of("KafkaBrokerConfig", {**_CONFIG, "broker_id": INT32})
CLUSTER_CONFIG: Final = kind_of("KafkaClusterConfig", {**_CONFIG, "config_type": constant("BROKER")})


@dataclass(frozen=True, slots=True)
class ConfigOwner:
    """What a config belongs to."""

    kind: Shape
    """Of its entries."""
    path: tuple[str | int, ...]
    """Where its entries are."""
    above: tuple[tuple[str, str | int], ...]
    step: str
    """The names of its entries: those of what is above them, and how their own step is called."""
    member: tuple[str, str | int]
    """The member of each entry that names the owner."""

    def entry(self, cluster: Cluster, entry: ConfigEntry) -> Resource:
        return self.shape(cluster, entry, entry.name, _synonyms(entry))

    def shape(self, cluster: Cluster, entry: ConfigEntry, name: str, synonyms: list[Resource]) -> Resource:
        owner, value = self.member
        return resource(
            self.kind,
            cluster.url(*self.path, name),
            cluster.name(*self.above, (self.step, name)),
            {
                "cluster_id": cluster.id,
                "name": name,
                "value": entry.value,
                "is_read_only": entry.is_read_only,
                "is_sensitive": entry.is_sensitive,
                "source": _source(entry),
                "synonyms": synonyms,
                owner: value,
                "is_default": entry.is_default,
            },
        )


def topic_owner(topic: str) -> ConfigOwner:
    path = ("topics", topic, "configs")
    return ConfigOwner(TOPIC_CONFIG, path, (("topic", topic),), "config", ("topic_name", topic))


def broker_owner(broker_id: int) -> ConfigOwner:
    path = ("brokers", broker_id, "configs")
    return ConfigOwner(BROKER_CONFIG, path, (("broker", broker_id),), "config", ("broker_id", broker_id))


ALL_BROKERS: Final = ConfigOwner(CLUSTER_CONFIG, ("broker-configs",), (), "broker-config", ("config_type", "BROKER"))


async def configs_of_topics(admin: Admin, topics: Iterable[str]) -> dict[str, Mapping[str, ConfigEntry] | KafkaFailure]:
    """The configs of topics, by their names."""
    resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
    return {} if not resources else {found.name: configs for found, configs in (await _ask(admin, resources)).items()}


async def configs_of_topic(admin: Admin, topic: str) -> Mapping[str, ConfigEntry]:
    configs = (await configs_of_topics(admin, [topic]))[topic]
    if isinstance(configs, KafkaFailure):
        raise configs
    return configs


async def configs_of_broker(admin: Admin, broker_id: int) -> Mapping[str, ConfigEntry]:
    answers: dict[ConfigResource, Mapping[str, ConfigEntry] | KafkaFailure]
    answers = await _ask(admin, [ConfigResource(ResourceType.BROKER, str(broker_id))])
    (configs,) = answers.values()
    if isinstance(configs, KafkaFailure):
        raise configs
    return configs


async def _ask(admin: Admin, resources: list[ConfigResource]) -> dict[ConfigResource, Any]:
    return await admin.each(lambda client: client.describe_configs(resources, request_timeout=REQUEST_TIMEOUT_S))


def cluster_wide(entry: ConfigEntry) -> ConfigEntry | None:
    """The cluster-wide value of a broker's config, or None when none is set, or the broker's own one hides it."""
    named = (entry, *(synonym for synonym in entry.synonyms.values() if synonym.name == entry.name))
    return next((found for found in named if _number(found) == DYNAMIC_DEFAULT_BROKER), None)


def synonym_shape(entry: ConfigEntry, name: str) -> Resource:
    return {"name": name, "value": entry.value, "source": _source(entry)}


def _synonyms(entry: ConfigEntry) -> list[Resource]:
    """Where the value could come from, the most telling first.

    The client library keeps one synonym a name, the last one. The first is always the source of the value itself, so it is
    put back when it was lost.
    """
    found = list(entry.synonyms.values())
    shapes = [synonym_shape(synonym, synonym.name) for synonym in found]
    if found and _number(found[0]) != _number(entry):
        shapes.insert(0, synonym_shape(entry, found[0].name))
    return shapes


def _source(entry: ConfigEntry) -> str:
    return _SOURCES.get(_number(entry), "UNKNOWN")


def _number(entry: ConfigEntry) -> int:
    """Where a value comes from; the library's types promise an enumeration, but it is the bare number."""
    return cast("int", entry.source)
