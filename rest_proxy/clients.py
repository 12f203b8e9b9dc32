"""The Kafka clients that all requests share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings
from rest_proxy.kafka.admin import Admin
from rest_proxy.kafka.client_settings import ADMIN, CONSUMER, ONE_OF_MANY, PRODUCER, client_settings, given_names
from rest_proxy.kafka.cluster_configs import ClusterConfigs
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.producer import SharedProducer
from rest_proxy.kafka.reachability import Reachability
from rest_proxy.kafka.threads import Threads
from rest_proxy.kafka.topic_finder import CREATES

DELIVERY_TIMEOUT_MS = 30_000
"""A record that no broker has taken by then fails in its place; a request may take longer."""

# librdkafka would wait for up to ten seconds until it tries again to connect.
_SOON_BACK = {"reconnect.backoff.max.ms": 1_000}

_ASKING = {**_SOON_BACK, CREATES: False}

# Everything that is acknowledged is on the disks of all replicas, once and in order. librdkafka collects records by itself while
# requests are under way, so that a lone record need not wait for others.
_DURABLE = {
    **_SOON_BACK,
    "acks": "all",
    "enable.idempotence": True,
    "linger.ms": 0,
    "delivery.timeout.ms": DELIVERY_TIMEOUT_MS,
    # As Java's clients choose by the key, Confluent's proxy among them.
    "partitioner": "murmur2_random",
}

# Values of an operator with which no producer is idempotent. Who sets one of them does without.
_NOT_IDEMPOTENT = (("acks", ("0", "1")), ("request.required.acks", ("0", "1")), ("retries", ("0",)))


logger = logging.getLogger(__name__)


class Clients:
    """Made in the running event loop, once."""

    def __init__(self, settings: Settings) -> None:
        self.reachability = Reachability()
        # Consumers are made when they are needed. That they cannot be made should not wait until then.
        _check(settings, CONSUMER)
        try:
            self.admin = Admin(_admin_settings(settings), self.reachability)
            self.cluster_configs = ClusterConfigs(_admin_settings(settings), self.reachability)
            self.producer = SharedProducer(_producer_settings(settings), self._suspect)
        except KafkaException:
            _check(settings, ADMIN)
            _check(settings, PRODUCER)
            raise
        self.threads = Threads("consumer", settings.integer("consumer.threads"))

    async def stop(self) -> None:
        await self.producer.stop()
        await self.reachability.stop()
        self.threads.stop()

    def _suspect(self, reason: str) -> None:
        self.reachability.suspect(reason, self.admin.probe)


def _consumer_settings(settings: Settings, without: str = "") -> dict[str, Any]:
    return {**client_settings(settings, CONSUMER, ONE_OF_MANY, without=without), "group.id": "barnabas-rest"}


def _admin_settings(settings: Settings, without: str = "") -> dict[str, Any]:
    return client_settings(settings, ADMIN, _ASKING, without=without)


def _producer_settings(settings: Settings, without: str = "") -> dict[str, Any]:
    found = client_settings(settings, PRODUCER, _DURABLE, without=without)
    if found["enable.idempotence"] is True and any(found.get(name) in values for name, values in _NOT_IDEMPOTENT):
        found["enable.idempotence"] = False
    return found


_TRIED: Mapping[str, tuple[Callable[[Settings, str], dict[str, Any]], type[Consumer | Producer]]] = {
    CONSUMER: (_consumer_settings, Consumer),
    ADMIN: (_admin_settings, Producer),
    PRODUCER: (_producer_settings, Producer),
}
"""What each kind of client is made from. librdkafka makes an admin client in the way of a producer."""


def _check(settings: Settings, kind: str) -> None:
    """SettingError when librdkafka refuses to make such a client. It speaks of its own names: the setting that is meant is the one
    without which it does not refuse."""
    reason = _refusal(settings, kind)
    if reason is None:
        return
    given = given_names(settings, kind)
    meant = [name for name in given if _refusal(settings, kind, without=name) is None][:1] or given
    place = str(settings.source(meant[0])) if len(meant) == 1 else ""
    raise SettingError(", ".join(meant) or f"{kind}.*", None, reason, place)


def _refusal(settings: Settings, kind: str, *, without: str = "") -> str | None:
    """Why librdkafka does not make a client, perhaps without one of the settings."""
    found, client = _TRIED[kind]
    try:
        client(found(settings, without), logger=logger)
    except KafkaException as problem:
        return KafkaFailure.of_exception(problem).message
    return None
