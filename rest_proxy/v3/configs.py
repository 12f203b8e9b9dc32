"""Configs of topics, of brokers, and of all brokers together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import NO_BODY, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import INTEGER, STRING, Shape, list_of, open_object
from rest_proxy.clients import Clients
from rest_proxy.kafka.admin import Admin
from rest_proxy.kafka.admin_types import ConfigEntry, ResourceType
from rest_proxy.kafka.descriptions import describe_all_topics
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.problems import translate
from rest_proxy.proxy import Proxy
from rest_proxy.v3.brokers import find_broker
from rest_proxy.v3.cluster import NO_CONTENT, Cluster, ClusterRoutes, no_content
from rest_proxy.v3.config_changes import (
    CONFIG_CHANGES,
    CONFIG_VALUE,
    TOPIC_CONFIG_CHANGES,
    ChangeBatch,
    ConfigChange,
    apply_batch,
    apply_changes,
    read_batch,
    read_topics,
    read_value,
    reset,
)
from rest_proxy.v3.config_entries import (
    ALL_BROKERS,
    BROKER_CONFIG,
    CLUSTER_CONFIG,
    TOPIC_CONFIG,
    ConfigOwner,
    broker_owner,
    cluster_wide,
    configs_of_broker,
    configs_of_topic,
    configs_of_topics,
    synonym_shape,
    topic_owner,
)
from rest_proxy.v3.operation import read, write
from rest_proxy.v3.refusals import not_found
from rest_proxy.v3.resource import Resource, collection, list_kind

MULTI_STATUS: Final = 207


_FAILURES: Final = Shape(
    "TopicConfigFailures",
    open_object({"failures": list_of(open_object({"topic_name": STRING, "error_code": INTEGER, "message": STRING}))}),
)
_CHANGED: Final = {NO_CONTENT: NO_BODY}


class _Configs(Protocol):
    """The handlers of the configs of one owner."""

    async def list_all(self, request: Request, cluster: Cluster, /) -> Response: ...

    async def get(self, request: Request, cluster: Cluster, /) -> Response: ...

    async def update(self, request: Request, cluster: Cluster, /) -> Response: ...

    async def reset(self, request: Request, cluster: Cluster, /) -> Response: ...

    async def alter(self, request: Request, cluster: Cluster, /) -> Response: ...


def routes(proxy: Proxy) -> Iterator[Route]:
    below = ClusterRoutes(proxy)
    topics, brokers = TopicConfigs(proxy.clients.admin), BrokerConfigs(proxy.clients.admin)
    yield below.route(
        "GET",
        "/topics/-/configs",
        topics.list_all_topics,
        read("listKafkaAllTopicConfigs", "Topic configs", "List the configs of all topics", list_kind(TOPIC_CONFIG)),
    )
    yield below.route(
        "POST",
        "/topics/-/configs:alter",
        topics.alter_topics,
        write(
            "updateKafkaTopicConfigsOfTopics",
            "Topic configs",
            "Change the configs of several topics",
            {**_CHANGED, MULTI_STATUS: content(_FAILURES)},
            content(TOPIC_CONFIG_CHANGES),
        ),
    )
    yield from _routes(below, "/topics/{topic_name}/configs", topics, TOPIC_CONFIG, "Topic configs")
    yield below.route(
        "GET",
        "/brokers/-/configs",
        brokers.list_all_brokers,
        read(
            "listKafkaAllBrokerConfigs", "Broker configs", "List the configs of all brokers", list_kind(BROKER_CONFIG)
        ),
    )
    yield from _routes(below, "/brokers/{broker_id}/configs", brokers, BROKER_CONFIG, "Broker configs")
    yield from _routes(
        below, "/broker-configs", ClusterConfigs(proxy.clients), CLUSTER_CONFIG, "Configs of all brokers"
    )


def _routes(below: ClusterRoutes, path: str, configs: _Configs, kind: Shape, tag: str) -> Iterator[Route]:
    one, name = f"{path}/{{name}}", kind.name
    changes, value = content(CONFIG_CHANGES), content(CONFIG_VALUE)
    yield below.route("GET", path, configs.list_all, read(f"list{name}s", tag, "List configs", list_kind(kind)))
    yield below.route(
        "POST",
        f"{path}:alter",
        configs.alter,
        write(f"update{name}s", tag, "Change several configs", _CHANGED, changes),
    )
    yield below.route("GET", one, configs.get, read(f"get{name}", tag, "Get a config", kind))
    yield below.route("PUT", one, configs.update, write(f"update{name}", tag, "Set a config", _CHANGED, value))
    yield below.route(
        "DELETE", one, configs.reset, write(f"delete{name}", tag, "Reset a config to its default", _CHANGED)
    )


class TopicConfigs:
    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    async def list_all(self, request: Request, cluster: Cluster) -> Response:
        topic = request.path_value("topic_name")
        entries = _entries(cluster, topic_owner(topic), await configs_of_topic(self._admin, topic))
        return json_answer(collection(TOPIC_CONFIG, cluster.url("topics", topic, "configs"), entries))

    async def list_all_topics(self, request: Request, cluster: Cluster) -> Response:
        topics = await describe_all_topics(self._admin)
        found = await configs_of_topics(self._admin, [topic.name for topic in topics if not topic.is_internal])
        entries = [
            entry
            for topic, configs in sorted(found.items())
            if not isinstance(configs, KafkaFailure)
            for entry in _entries(cluster, topic_owner(topic), configs)
        ]
        return json_answer(collection(TOPIC_CONFIG, cluster.url("topics", "-", "configs"), entries))

    async def get(self, request: Request, cluster: Cluster) -> Response:
        topic, name = request.path_value("topic_name"), request.path_value("name")
        entry = (await configs_of_topic(self._admin, topic)).get(name)
        if entry is None:
            raise not_found()
        return json_answer(topic_owner(topic).entry(cluster, entry))

    async def update(self, request: Request, cluster: Cluster) -> Response:
        return await self._apply(request, cluster, await read_value(request, request.path_value("name")))

    async def reset(self, request: Request, cluster: Cluster) -> Response:
        return await self._apply(request, cluster, reset(request.path_value("name")))

    async def alter(self, request: Request, cluster: Cluster) -> Response:
        return await self._apply(request, cluster, await read_batch(request))

    async def alter_topics(self, request: Request, cluster: Cluster) -> Response:
        batches = await read_topics(request)
        for topic, configs in (await configs_of_topics(self._admin, batches)).items():
            if isinstance(configs, KafkaFailure):
                raise configs
            _check_names(cluster, "TOPIC", topic, configs, batches[topic].changes)
        failures = await apply_changes(self._admin, ResourceType.TOPIC, batches)
        if not failures:
            return no_content()
        return json_answer({"failures": [_failure(*failed) for failed in failures.items()]}, MULTI_STATUS)

    async def _apply(self, request: Request, cluster: Cluster, batch: ChangeBatch) -> Response:
        topic = request.path_value("topic_name")
        _check_names(cluster, "TOPIC", topic, await configs_of_topic(self._admin, topic), batch.changes)
        await apply_batch(self._admin, ResourceType.TOPIC, topic, batch)
        return no_content()


class BrokerConfigs:
    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    async def list_all(self, request: Request, cluster: Cluster) -> Response:
        broker_id = find_broker(request, cluster).id
        entries = await self._of_broker(cluster, broker_id)
        return json_answer(collection(BROKER_CONFIG, cluster.url("brokers", broker_id, "configs"), entries))

    async def list_all_brokers(self, request: Request, cluster: Cluster) -> Response:
        found = await asyncio.gather(*(self._of_broker(cluster, broker.id) for broker in cluster.brokers))
        entries = [entry for entries in found for entry in entries]
        return json_answer(collection(BROKER_CONFIG, cluster.url("brokers", "-", "configs"), entries))

    async def get(self, request: Request, cluster: Cluster) -> Response:
        broker_id = find_broker(request, cluster).id
        entry = (await configs_of_broker(self._admin, broker_id)).get(request.path_value("name"))
        if entry is None:
            raise not_found()
        return json_answer(broker_owner(broker_id).entry(cluster, entry))

    async def update(self, request: Request, cluster: Cluster) -> Response:
        return await self._apply(request, cluster, await read_value(request, request.path_value("name")))

    async def reset(self, request: Request, cluster: Cluster) -> Response:
        return await self._apply(request, cluster, reset(request.path_value("name")))

    async def alter(self, request: Request, cluster: Cluster) -> Response:
        return await self._apply(request, cluster, await read_batch(request))

    async def _of_broker(self, cluster: Cluster, broker_id: int) -> list[Resource]:
        return _entries(cluster, broker_owner(broker_id), await configs_of_broker(self._admin, broker_id))

    async def _apply(self, request: Request, cluster: Cluster, batch: ChangeBatch) -> Response:
        broker_id = find_broker(request, cluster).id
        known = await configs_of_broker(self._admin, broker_id)
        _check_names(cluster, "BROKER", str(broker_id), known, batch.changes)
        await apply_batch(self._admin, ResourceType.BROKER, str(broker_id), batch)
        return no_content()


class ClusterConfigs:
    """Values that are set for all brokers at once.

    librdkafka cannot ask for them as such. Brokers tell them among the sources of their own values, so that they are
    known unless no broker knows the name.
    """

    def __init__(self, clients: Clients) -> None:
        self._admin = clients.admin
        self._changed = clients.cluster_configs

    async def list_all(self, request: Request, cluster: Cluster) -> Response:
        found = await self._find(cluster)
        return json_answer(collection(CLUSTER_CONFIG, cluster.url("broker-configs"), found.values()))

    async def get(self, request: Request, cluster: Cluster) -> Response:
        found = (await self._find(cluster)).get(request.path_value("name"))
        if found is None:
            raise not_found()
        return json_answer(found)

    async def update(self, request: Request, _cluster: Cluster) -> Response:
        return await self._apply(await read_value(request, request.path_value("name")))

    async def reset(self, request: Request, cluster: Cluster) -> Response:
        name = request.path_value("name")
        if name not in await self._find(cluster):
            raise _unknown_config(cluster, "BROKER", "", name)
        return await self._apply(reset(name))

    async def alter(self, request: Request, _cluster: Cluster) -> Response:
        return await self._apply(await read_batch(request))

    async def _apply(self, batch: ChangeBatch) -> Response:
        changes = {change.name: change.value for change in batch.changes}
        await self._changed.change(changes, validate_only=batch.validate_only)
        return no_content()

    async def _find(self, cluster: Cluster) -> dict[str, Resource]:
        brokers = await asyncio.gather(*(configs_of_broker(self._admin, broker.id) for broker in cluster.brokers))
        known = {
            name: wide
            for configs in brokers
            for name, entry in configs.items()
            if (wide := cluster_wide(entry)) is not None
        }
        return {
            name: ALL_BROKERS.shape(cluster, wide, name, [synonym_shape(wide, name)])
            for name, wide in sorted(known.items())
        }


def _entries(cluster: Cluster, owner: ConfigOwner, configs: Mapping[str, ConfigEntry]) -> list[Resource]:
    return [owner.entry(cluster, entry) for _, entry in sorted(configs.items())]


def _check_names(
    cluster: Cluster, kind: str, owner: str, known: Mapping[str, ConfigEntry], changes: Iterable[ConfigChange]
) -> None:
    for change in changes:
        if change.name not in known:
            raise _unknown_config(cluster, kind, owner, change.name)


def _unknown_config(cluster: Cluster, kind: str, owner: str, name: str) -> HttpError:
    return not_found(f"Config {name} cannot be found for {kind} {owner} in cluster {cluster.id}.")


def _failure(topic: str, failure: KafkaFailure) -> Resource:
    error = translate(failure)
    assert error is not None, "failures of Kafka always have a meaning"
    return {"topic_name": topic, "error_code": error.code, "message": error.message}
