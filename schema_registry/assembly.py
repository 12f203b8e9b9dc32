"""Puts an instance together from its settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from barnabas.kernel.http import http_settings
from barnabas.kernel.http.request import BodyLimits
from barnabas.kernel.http.server import Server
from barnabas.kernel.kafka_clients.bootstrap import bootstrap_servers
from barnabas.kernel.kafka_clients.tls import tls_context
from barnabas.kernel.leadership.election import Election, ElectionSettings
from barnabas.kernel.leadership.forwarding import Forwarder, ForwardingRules
from barnabas.kernel.leadership.identity import Identity
from barnabas.kernel.leadership.routing import settle_s
from barnabas.kernel.settings import Settings
from barnabas.wire.client import Client
from barnabas.wire.messages.metadata import MetadataRequest, MetadataResponse
from schema_registry.canonical_texts import CanonicalTexts
from schema_registry.http.application import Profile, RegistryApplication
from schema_registry.http.parameters import PageLimits
from schema_registry.http.resource import ListLimits
from schema_registry.http.service import ClusterNames, ServiceStatus
from schema_registry.node import OFFSET_HEADER, Node
from schema_registry.registry import Registry
from schema_registry.schema import Schema
from schema_registry.scopes import Defaults
from schema_registry.state.replay import replay
from schema_registry.state.state import State
from schema_registry.store.failures import Fenced
from schema_registry.store.keys import Key, SchemaKey
from schema_registry.store.store import Applied, Store
from schema_registry.store.topic import TopicSettings
from schema_registry.store.topic_log import TopicLog
from schema_registry.store.values import SchemaValue

ELECTION_PROTOCOL = "sr"
"""The type of group in which registries elect their leader."""

_TLS = (
    "security.protocol",
    "ssl.truststore.location",
    "ssl.keystore.location",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
)


class Instance:
    """One instance of the registry: what it is made of, in the order in which it starts and stops."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._state = State()
        self._client = _client(settings)
        timeout_ms = settings.integer("kafkastore.timeout.ms")
        group = settings.text("schema.registry.group.id")
        log = TopicLog(
            self._client,
            TopicSettings(
                settings.text("kafkastore.topic"), settings.integer("kafkastore.topic.replication.factor"), {}
            ),
            fencing_id=f"{group}-leader",
        )
        self._store = Store(
            log,
            self._apply,
            start_again=self._start_again,
            on_fenced=self._on_fenced,
            timeout_ms=timeout_ms,
            init_timeout_ms=settings.integer("kafkastore.init.timeout.ms"),
        )
        self._forwarder = Forwarder(_forwarding(settings))
        self._node = Node(self._store, self._forwarder, settle_s(settings.integer("kafkagroup.session.timeout.ms")))
        self._registry = Registry(
            self._state, self._node, _defaults(settings), modes_may_change=settings.boolean("mode.mutability")
        )
        self._canonical_texts = CanonicalTexts(self._state, self._registry.parser)
        self._names = ClusterNames(group)
        self._application = RegistryApplication(
            self._registry,
            self._node,
            ServiceStatus(self._state, self._node, self._names),
            _list_limits(settings),
            http_settings.policy(
                settings, BodyLimits(max_bytes=settings.integer("size.limit.filter.max.request.body.size"))
            ),
            Profile(
                settings.integer("incompatible.schema.error.code"), settings.boolean("response.new.members.for.all")
            ),
        )

    def server(self) -> Server:
        return http_settings.server(self._application, self._settings)

    async def start(self, addresses: Sequence[tuple[str, int]]) -> None:
        """Read the topic and join the group. Writes wait for the election, reads need not."""
        await self._store.start()
        self._names.kafka_cluster = await _cluster_id(self._client)
        settings = self._settings
        election = Election(
            self._client,
            _identity(settings, addresses),
            ElectionSettings(
                self._names.registry_group,
                ELECTION_PROTOCOL,
                settings.integer("kafkagroup.session.timeout.ms"),
                settings.integer("kafkagroup.rebalance.timeout.ms"),
                settings.integer("kafkagroup.heartbeat.interval.ms"),
                settings.boolean("leader.election.sticky"),
            ),
            on_elected=self._store.lead,
            on_deposed=self._store.resign,
            fenced=Fenced,
        )
        self._node.take_part(election)
        self._canonical_texts.start()

    async def stop(self) -> None:
        await self._canonical_texts.stop()
        await self._node.leave()
        await self._store.stop()
        await self._forwarder.close()
        await self._client.close()

    def _apply(self, applied: Applied) -> None:
        before = self._schema_at(applied.key)
        replay(self._state, applied.key, applied.value, applied.timestamp_ms)
        if isinstance(applied.value, SchemaValue):
            self._canonical_texts.note(applied.value)
        if before is not None and self._schema_at(applied.key) != before:
            # Gone, or another one since an import: what references to it mean is not what was parsed.
            self._registry.parser.clear()
        self._application.changed()

    def _schema_at(self, key: Key) -> Schema | None:
        """The schema in the place that a record is about."""
        if not isinstance(key, SchemaKey):
            return None
        version = self._state.version(key.subject, key.version, deleted=True)
        return None if version is None else version.schema

    def _start_again(self) -> None:
        self._state.reset()
        self._registry.parser.clear()
        self._application.changed()

    def _on_fenced(self) -> None:
        self._node.election.rejoin()


def _defaults(settings: Settings) -> Defaults:
    level = settings.text_or_none("avro.compatibility.level") or settings.text("schema.compatibility.level")
    return Defaults(
        level.upper(), settings.boolean("schema.validate.fields"), settings.boolean("schema.validate.new.schemas")
    )


def _list_limits(settings: Settings) -> ListLimits:
    return ListLimits(
        *(
            PageLimits(settings.integer(f"{kind}.search.default.limit"), settings.integer(f"{kind}.search.max.limit"))
            for kind in ("schema", "subject.version", "subject", "context")
        )
    )


def _identity(settings: Settings, addresses: Sequence[tuple[str, int]]) -> Identity:
    """How the other instances reach this one: at its first listener, unless another address is advertised."""
    listener, host, port = settings.items_of("listeners")[0], settings.text("host.name"), settings.integer("host.port")
    eligible = settings["master.eligibility"]
    return replace(
        Identity.at(listener, addresses[0], host, port),
        eligible=settings.boolean("leader.eligibility") if eligible is None else bool(eligible),
    )


def _forwarding(settings: Settings) -> ForwardingRules:
    default = ForwardingRules()
    return replace(
        default,
        request_headers=(
            *default.request_headers,
            "Confluent-Accept-Unknown-Properties",
            *settings.items_of("inter.instance.headers.whitelist"),
        ),
        response_headers=(*default.response_headers, OFFSET_HEADER),
        connect_timeout_ms=settings.integer("leader.connect.timeout.ms"),
        timeout_ms=settings.integer("leader.read.timeout.ms"),
    )


def _client(settings: Settings) -> Client:
    tls = {name: text for name in _TLS if (text := settings.text_or_none(f"kafkastore.{name}")) is not None}
    servers = bootstrap_servers(settings, "kafkastore.bootstrap.servers", "bootstrap.servers")
    return Client(servers, client_id="barnabas-registry", tls=tls_context(tls))


async def _cluster_id(client: Client) -> str:
    answer = await client.send(MetadataRequest(topics=[]), MetadataResponse)
    return answer.cluster_id or ""
