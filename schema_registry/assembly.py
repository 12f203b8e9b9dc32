"""Puts an instance together from its settings."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Sequence
from pathlib import Path

from barnabas.kernel.http.application import Policy, RequestLimits
from barnabas.kernel.http.cross_origin import CrossOrigin
from barnabas.kernel.http.extra_headers import parse_extra_headers
from barnabas.kernel.http.listeners import parse_listeners
from barnabas.kernel.http.request import BodyLimits
from barnabas.kernel.http.server import Server
from barnabas.kernel.http.tls import TlsFiles
from barnabas.kernel.settings import SettingError, Settings
from barnabas.wire.client import Client
from barnabas.wire.messages.metadata import MetadataRequest, MetadataResponse
from schema_registry.canonical_texts import CanonicalTexts
from schema_registry.cluster.election import Election, ElectionSettings
from schema_registry.cluster.forwarding import Forwarder
from schema_registry.cluster.identity import Identity
from schema_registry.http.application import Profile, RegistryApplication
from schema_registry.http.parameters import PageLimits
from schema_registry.http.resource import ListLimits
from schema_registry.http.service import ClusterNames, ServiceStatus
from schema_registry.node import Node
from schema_registry.registry import Registry
from schema_registry.scopes import Defaults
from schema_registry.state.replay import replay
from schema_registry.state.state import State
from schema_registry.store.keys import SchemaKey
from schema_registry.store.store import Applied, Store
from schema_registry.store.topic import TopicSettings
from schema_registry.store.topic_log import TopicLog
from schema_registry.store.values import SchemaValue

_EVERY_INTERFACE = ("", "0.0.0.0", "::")  # noqa: S104 - recognised here, not bound to


class Instance:
    """One instance of the registry: what it is made of, in the order in which it starts and stops."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._state = State()
        self._client = Client(_bootstrap(settings), client_id="barnabas-registry", tls=_client_tls(settings))
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
        self._forwarder = Forwarder(
            further_headers=settings.items_of("inter.instance.headers.whitelist"),
            timeout_ms=settings.integer("leader.read.timeout.ms"),
        )
        self._node = Node(self._store, self._forwarder, settle_ms=timeout_ms)
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
            _policy(settings),
            Profile(
                settings.integer("incompatible.schema.error.code"), settings.boolean("response.new.members.for.all")
            ),
        )

    def server(self) -> Server:
        tls = _server_tls(self._settings)
        listeners = parse_listeners("listeners", self._settings.items_of("listeners"), tls=tls is not None)
        return Server(self._application, listeners, tls)

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
                settings.integer("kafkagroup.session.timeout.ms"),
                settings.integer("kafkagroup.rebalance.timeout.ms"),
                settings.integer("kafkagroup.heartbeat.interval.ms"),
                settings.boolean("leader.election.sticky"),
            ),
            on_elected=self._store.lead,
            on_deposed=self._store.resign,
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
        replay(self._state, applied.key, applied.value, applied.timestamp_ms)
        if isinstance(applied.value, SchemaValue):
            self._canonical_texts.note(applied.value)
        elif isinstance(applied.key, SchemaKey):
            # What references to it meant is gone.
            self._registry.parser.clear()
        self._application.changed()

    def _start_again(self) -> None:
        self._state.reset()
        self._registry.parser.clear()
        self._application.changed()

    def _on_fenced(self) -> None:
        self._node.election.rejoin()


def _bootstrap(settings: Settings) -> list[str]:
    """The brokers; Confluent writes a protocol before each address."""
    servers = settings.items_of("kafkastore.bootstrap.servers") or settings.items_of("bootstrap.servers")
    addresses = [server.rpartition("://")[2] for server in servers if server]
    if not addresses:
        raise SettingError(
            "bootstrap.servers", "", "expected the address of at least one broker, such as 127.0.0.1:9092"
        )
    return addresses


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


def _policy(settings: Settings) -> Policy:
    origins = _words(settings.text("access.control.allow.origin"))
    return Policy(
        limits=RequestLimits(
            max_s=settings.integer("request.timeout.ms") / 1000,
            body=BodyLimits(max_bytes=settings.integer("size.limit.filter.max.request.body.size")),
        ),
        cross_origin=CrossOrigin(
            origins,
            _words(settings.text("access.control.allow.methods")),
            _words(settings.text("access.control.allow.headers")),
        ),
        extra_headers=parse_extra_headers(
            "response.http.headers.config", settings.text("response.http.headers.config")
        ),
        authorize_options=not settings.boolean("access.control.skip.options"),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _identity(settings: Settings, addresses: Sequence[tuple[str, int]]) -> Identity:
    """How the other instances reach this one: at its first listener, unless somebody says otherwise."""
    host, port = addresses[0]
    scheme = settings.items_of("listeners")[0].partition("://")[0]
    if host in _EVERY_INTERFACE:
        host = socket.gethostname()
    eligible = settings["master.eligibility"]
    return Identity(
        scheme,
        settings.text("host.name") or host,
        settings.integer("host.port") or port,
        settings.boolean("leader.eligibility") if eligible is None else bool(eligible),
    )


def _client_tls(settings: Settings) -> ssl.SSLContext | None:
    if settings.text("kafkastore.security.protocol") == "PLAINTEXT":
        return None
    context = ssl.create_default_context(cafile=settings.text("kafkastore.ssl.truststore.location") or None)
    context.check_hostname = bool(settings.text("kafkastore.ssl.endpoint.identification.algorithm"))
    certificate = settings.text("kafkastore.ssl.keystore.location")
    if certificate:
        context.load_cert_chain(certificate, password=settings.text_or_none("kafkastore.ssl.key.password"))
    return context


def _server_tls(settings: Settings) -> TlsFiles | None:
    certificate, key = settings.text("ssl.certificate"), settings.text("ssl.key")
    if not certificate and not key:
        return None
    return TlsFiles(Path(certificate), Path(key), settings.text_or_none("ssl.key.password"))


async def _cluster_id(client: Client) -> str:
    answer = await client.send(MetadataRequest(topics=[]), MetadataResponse)
    return answer.cluster_id or ""
