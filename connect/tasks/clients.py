"""The settings of a task's Kafka clients."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from barnabas.kernel.kafka_clients.client_names import TAKEN
from barnabas.kernel.kafka_clients.librdkafka import addresses, librdkafka_settings
from connect.tasks.client_log import CLIENT_LOG
from connect.tasks.spec import WorkerConfig

logger = logging.getLogger(__name__)

BOOTSTRAP_SERVERS: Final = "bootstrap.servers"
MAX_POLL_RECORDS: Final = "max.poll.records"
"""Known to Java's consumers alone; here it bounds the batches of a sink."""

_SECURITY: Final = ("security.", "sasl.", "ssl.")
_ALSO_TAKEN: Final = frozenset({"group.instance.id", "transaction.timeout.ms", "transactional.id"})


class ClientKind(Enum):
    """The value is the prefix of the settings."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    ADMIN = "admin"


def client_settings(
    worker: WorkerConfig,
    config: Mapping[str, str],
    kind: ClientKind,
    client_id: str,
    defaults: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What a client of a connector is made with, in librdkafka's words.

    Each beats those before it: the worker's own address and security, `defaults`, the worker's settings for all clients of the kind
    (`producer.…`), and the connector's (`producer.override.…`).
    """
    properties = worker.properties
    own = {name: value for name, value in properties.items() if name.startswith(_SECURITY)}
    given = {**given_settings(properties, f"{kind.value}."), **given_settings(config, f"{kind.value}.override.")}
    found: dict[str, Any] = {
        **librdkafka_settings(_known(own)),
        "client.id": client_id,
        **(defaults or {}),
        **librdkafka_settings(_known(given)),
    }
    servers = found.get(BOOTSTRAP_SERVERS, properties.get(BOOTSTRAP_SERVERS, ""))
    return {**found, BOOTSTRAP_SERVERS: addresses(servers.split(",")), "logger": CLIENT_LOG}


def given_settings(properties: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Those that begin with the prefix, without it."""
    return {name[len(prefix) :]: value for name, value in properties.items() if name.startswith(prefix)}


def _known(given: Mapping[str, str]) -> dict[str, str]:
    unknown = given.keys() - TAKEN - _ALSO_TAKEN - {MAX_POLL_RECORDS}
    if unknown:
        logger.info("passed over, since librdkafka has nothing like it: %s", ", ".join(sorted(unknown)))
    return {name: value for name, value in given.items() if name not in unknown and name != MAX_POLL_RECORDS}
