"""How the service reaches Kafka: in this process by librdkafka, in Spark by Java's clients."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import KafkaException, Producer

from barnabas.kernel.kafka_clients.bootstrap import bootstrap_servers
from barnabas.kernel.kafka_clients.client_log import OneOfAKind
from barnabas.kernel.kafka_clients.client_names import TAKEN
from barnabas.kernel.kafka_clients.librdkafka import librdkafka_settings
from barnabas.kernel.kafka_clients.tls import tls_context
from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings
from barnabas.wire.client import Client
from streams_sql.client_names import (
    CONSUMER_PREFIXES,
    JAVA_ALONE,
    PLAIN_NAMES,
    PRODUCER_PREFIXES,
    SECURITY,
    SINK_NAMES,
    SOURCE_NAMES,
)
from streams_sql.engine.queries.query_settings import STREAMS_PREFIX
from streams_sql.spark.sources.broker_access import KafkaAccess

_ASKING: Final = {
    # Clients ask for the topics that they know of again and again; who asks must not make one anew that was deleted.
    "allow.auto.create.topics": "false",
}

CLIENT_LOG: Final = logging.getLogger("streams_sql.kafka")
CLIENT_LOG.addFilter(OneOfAKind())


@dataclass(frozen=True, slots=True)
class Kafka:
    """`given` are the settings of clients that somebody gave, by the names of Java's clients or librdkafka's."""

    servers: str
    given: Mapping[str, str]

    @classmethod
    def of(cls, settings: Settings) -> Kafka:
        taken = [name for name in settings if settings.is_given(name)]
        plain = {name: settings.text(name) for name in taken if name.startswith(SECURITY) or name in PLAIN_NAMES}
        prefixed = {
            name.removeprefix(STREAMS_PREFIX): settings.text(name) for name in taken if name.startswith(STREAMS_PREFIX)
        }
        return cls(bootstrap_servers(settings, "bootstrap.servers"), {**plain, **prefixed})

    def client_settings(self) -> dict[str, Any]:
        """What clients of librdkafka are made with here."""
        return {
            **self._librdkafka(),
            "bootstrap.servers": self.servers,
            "client.id": "barnabas-sql",
            "logger": CLIENT_LOG,
        }

    def for_spark(self) -> KafkaAccess:
        """SettingError when results could not be written with what was given."""
        security = {name: value for name, value in self.given.items() if name.startswith(SECURITY)}
        sinks = librdkafka_settings(self._chosen(SINK_NAMES, PRODUCER_PREFIXES))
        try:
            # It connects to nobody, since it knows none.
            Producer({**sinks, "logger": CLIENT_LOG})
        except KafkaException as problem:
            raise SettingError(f"{STREAMS_PREFIX}producer.*", None, problem.args[0].str()) from None
        sources = self._chosen(SOURCE_NAMES, CONSUMER_PREFIXES)
        consumer = librdkafka_settings({name: value for name, value in sources.items() if name not in JAVA_ALONE})
        return KafkaAccess(self.servers, self._librdkafka(), {**sources, **security}, sinks, consumer)

    def _chosen(self, names: Collection[str], prefixes: Sequence[str]) -> dict[str, str]:
        """What was given for one kind of client; with its prefix it is said more exactly."""
        found = {name: value for name, value in self.given.items() if name in names}
        for prefix in prefixes:
            exact = {name.removeprefix(prefix): value for name, value in self.given.items() if name.startswith(prefix)}
            found |= {name: value for name, value in exact.items() if name in names}
        return found

    def wire_client(self) -> Client:
        protocol = self.given.get("security.protocol", "PLAINTEXT").upper()
        if protocol.startswith("SASL"):
            raise SettingError(
                "security.protocol", protocol, "servers cannot log in to elect their leader yet: use PLAINTEXT or SSL"
            )
        return Client(self.servers, client_id="barnabas-sql", tls=self._tls())

    def _tls(self) -> ssl.SSLContext | None:
        return tls_context(self.given)

    def _librdkafka(self) -> dict[str, str]:
        own = {name: value for name, value in self.given.items() if name in TAKEN and name.startswith(SECURITY)}
        return {**librdkafka_settings(own), **_ASKING}
