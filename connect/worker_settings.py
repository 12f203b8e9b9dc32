"""What the settings of the service come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Final

from barnabas.kernel.kafka_clients.librdkafka import addresses as plain_addresses
from barnabas.kernel.kafka_clients.tls import tls_context
from barnabas.kernel.kafka_clients.topic_shape import TopicShape
from barnabas.kernel.leadership.identity import Identity as InstanceIdentity
from barnabas.kernel.logging import configured
from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings
from barnabas.wire.client import Client
from connect.cluster.worker_group import Identity, WorkerGroupSettings
from connect.storage.stores import TopicShapes
from connect.tasks.spec import WorkerConfig
from connect.worker.restarts import RestartPolicy

MS_PER_S: Final = 1000
OFFSETS_FILE: Final = "offset.storage.file.filename"
DEFAULT_OFFSETS_FILE: Final = "connect.offsets"

_JSON_UNLESS_GIVEN: Final = ("key.converter", "value.converter")
_FOR_TASKS: Final = frozenset({"bootstrap.servers", "header.converter", "schema.registry.url", *_JSON_UNLESS_GIVEN})
_OWN_LISTENERS: Final = frozenset({"ssl.certificate", "ssl.key"})
_STORAGE_OWN: Final = frozenset({"topic", "partitions", "replication.factor", "file.filename"})


class WorkerSettings:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.group_id = settings.text("group.id")
        self.grace_s = settings.integer("task.shutdown.graceful.timeout.ms") / MS_PER_S
        self.key_lifetime_ms = settings.integer("inter.worker.key.ttl.ms")
        self.tracks_topics = settings.boolean("topic.tracking.enable")
        self.commit = f"barnabas-{version('barnabas')}"
        if not self.is_standalone:
            self._check_security()

    @property
    def is_standalone(self) -> bool:
        return bool(self._settings.text(OFFSETS_FILE) or self._settings.items_of("standalone.connectors"))

    @property
    def offsets_file(self) -> Path:
        return Path(self._settings.text(OFFSETS_FILE) or DEFAULT_OFFSETS_FILE)

    @cached_property
    def properties(self) -> Mapping[str, str]:
        """The worker's configuration under Kafka Connect's names, for tasks."""
        settings = self._settings
        found = {
            name: text
            for name, value in settings.items()
            if name in _FOR_TASKS or (settings.is_given(name) and name not in _OWN_LISTENERS)
            if (text := settings.catalogue.require(name).format(value)) is not None
        }
        for converter in _JSON_UNLESS_GIVEN:
            if not settings.is_given(converter):
                found.setdefault(f"{converter}.schemas.enable", "false")
        return found

    @property
    def restart_policy(self) -> RestartPolicy:
        settings = self._settings
        return RestartPolicy(
            settings.integer("task.restart.attempts.max"),
            settings.integer("task.restart.backoff.ms"),
            settings.integer("task.restart.backoff.max.ms"),
        )

    @property
    def group(self) -> WorkerGroupSettings:
        settings = self._settings
        return WorkerGroupSettings(
            self.group_id,
            settings.integer("session.timeout.ms"),
            settings.integer("rebalance.timeout.ms"),
            settings.integer("heartbeat.interval.ms"),
            settings.integer("scheduled.rebalance.max.delay.ms"),
        )

    @property
    def topics(self) -> TopicShapes:
        return TopicShapes(
            self._shape("config", 1),
            self._shape("offset", self._settings.integer("offset.storage.partitions")),
            self._shape("status", self._settings.integer("status.storage.partitions")),
        )

    def identity(self, addresses: Sequence[tuple[str, int]]) -> Identity:
        """How other workers reach this one: at its first listener, unless another address is advertised."""
        settings, listeners = self._settings, self._settings.items_of("listeners")
        schemes = [listener.partition("://")[0].lower() for listener in listeners]
        wanted = settings.text("rest.advertised.listener").lower()
        place = schemes.index(wanted) if wanted in schemes else 0
        host, port = settings.text("rest.advertised.host.name"), settings.integer("rest.advertised.port")
        reached = InstanceIdentity.at(listeners[place], addresses[place], host, port)
        return Identity(reached.address, reached.url)

    def worker_config(self, worker_id: str) -> WorkerConfig:
        settings = self._settings
        return WorkerConfig(
            worker_id=worker_id,
            group_id=self.group_id,
            properties=self.properties,
            offsets_topic=None if self.is_standalone else settings.text("offset.storage.topic"),
            exactly_once_source=not self.is_standalone and settings.text("exactly.once.source.support") == "enabled",
            offset_flush_interval_ms=settings.integer("offset.flush.interval.ms"),
            offset_flush_timeout_ms=settings.integer("offset.flush.timeout.ms"),
            topic_creation=settings.boolean("topic.creation.enable"),
            log=configured(),
        )

    def wire_client(self) -> Client:
        """A client of the group protocol."""
        servers = plain_addresses(self._settings.items_of("bootstrap.servers"))
        return Client(servers, client_id="barnabas-connect", tls=tls_context(self.properties))

    def _shape(self, kind: str, partitions: int) -> TopicShape:
        prefix = f"{kind}.storage."
        further = {
            name.removeprefix(prefix): text
            for name, text in self.properties.items()
            if name.startswith(prefix) and name.removeprefix(prefix) not in _STORAGE_OWN
        }
        return TopicShape(
            self._settings.text(f"{prefix}topic"),
            partitions,
            self._settings.integer(f"{prefix}replication.factor"),
            further,
        )

    def _check_security(self) -> None:
        protocol = self.properties.get("security.protocol", "PLAINTEXT").upper()
        if protocol.startswith("SASL"):
            raise SettingError(
                "security.protocol",
                protocol,
                "workers cannot log in to their group yet: use PLAINTEXT or SSL, or a standalone worker",
            )
