"""Every setting of the service, under Kafka Connect's names where Kafka Connect has one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from barnabas.kernel.http.http_catalogue import HTTP_SETTINGS, inert
from barnabas.kernel.kafka_clients.client_names import JAAS, TAKEN, WITHOUT_EQUAL
from barnabas.kernel.settings import Catalogue, Kind, Setting

JSON_CONVERTER: Final = "org.apache.kafka.connect.json.JsonConverter"
HEADER_CONVERTER: Final = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
REQUEST_TIMEOUT_MS: Final = 90_000

_SECURITY: Final = ("security.", "sasl.", "ssl.")
_CLIENT_KINDS: Final = ("producer", "consumer", "admin")
_ALSO_TAKEN: Final = frozenset({"group.instance.id", "max.poll.records", "transaction.timeout.ms", "transactional.id"})


def _ms(name: str, default: int, doc: str, minimum: int = 1) -> Setting:
    return Setting(name, Kind.LONG, default, doc, "ms", minimum=minimum)


_CLUSTER: Final = (
    Setting("bootstrap.servers", Kind.LIST, "127.0.0.1:9092", "Addresses of some brokers of the Kafka cluster."),
    Setting("group.id", Kind.STRING, "connect-cluster", "The group of workers that share out connectors and tasks."),
    _ms("session.timeout.ms", 10_000, "When a silent worker counts as gone."),
    _ms("heartbeat.interval.ms", 3_000, "How often a worker says that it is there."),
    _ms("rebalance.timeout.ms", 60_000, "How long workers may take to share out work."),
    _ms(
        "scheduled.rebalance.max.delay.ms", 300_000, "How long the work of a worker that has gone waits for its return.", 0
    ),
    _ms("inter.worker.key.ttl.ms", 3_600_000, "How long workers sign calls to each other with the same key."),
    Setting(
        "exactly.once.source.support",
        Kind.STRING,
        "disabled",
        "Whether sources write records and offsets in one transaction. To switch it on in a running group, set preparing everywhere first.",
        choices=("disabled", "preparing", "enabled"),
        any_case=True,
    ),
    Setting(
        "rest.advertised.host.name", Kind.STRING, "", "The host under which other workers reach this one; the listener's own when empty."
    ),
    Setting(
        "rest.advertised.port", Kind.INT, 0, "The port of the same; the listener's own when 0.", minimum=0, maximum=65_535
    ),
    Setting(
        "rest.advertised.listener", Kind.STRING, "", "The scheme of the listener that other workers call: http or https; the first when empty.",
        choices=("", "http", "https"), any_case=True,
    ),
)  # fmt: skip


def _topic(kind: str, name: str, what: str) -> Iterator[Setting]:
    yield Setting(f"{kind}.storage.topic", Kind.STRING, name, f"The topic that holds {what}.")
    yield Setting(
        f"{kind}.storage.replication.factor",
        Kind.SHORT,
        3,
        "Its replicas when it is created; as many as there are brokers when these are fewer.",
        minimum=1,
    )
    yield Setting(f"{kind}.storage.*", Kind.STRING, None, "Further settings of that topic when it is created.")


_TOPICS: Final = (
    *_topic("config", "connect-configs", "connectors, tasks and what workers decide"),
    *_topic("offset", "connect-offsets", "how far sources have been read"),
    *_topic("status", "connect-status", "how connectors and tasks are"),
    Setting("offset.storage.partitions", Kind.INT, 25, "Partitions of the topic for offsets.", minimum=1),
    Setting("status.storage.partitions", Kind.INT, 5, "Partitions of the topic for statuses.", minimum=1),
    Setting("topic.tracking.enable", Kind.BOOLEAN, True, "Note which topics connectors use."),
    Setting("topic.tracking.allow.reset", Kind.BOOLEAN, True, "Let clients have that forgotten."),
    Setting("topic.creation.enable", Kind.BOOLEAN, True, "Let sources create topics as topic.creation.… says."),
)

_STANDALONE: Final = (
    Setting(
        "offset.storage.file.filename",
        Kind.STRING,
        "",
        "The file in which a standalone worker keeps the offsets of sources; given, the worker is one.",
    ),
    Setting(
        "standalone.connectors",
        Kind.LIST,
        "",
        "Files with connectors that a standalone worker starts with, as properties or JSON; given, the worker is one.",
    ),
)

_TASKS: Final = (
    Setting(
        "key.converter",
        Kind.CLASS,
        JSON_CONVERTER,
        "Class for keys of connectors that name none. Not given, it is JSON without schemas, unless key.converter.schemas.enable=true; "
        "given, JsonConverter has schemas unless that is false, as in Kafka Connect.",
    ),
    Setting("value.converter", Kind.CLASS, JSON_CONVERTER, "The same for values."),
    Setting("header.converter", Kind.CLASS, HEADER_CONVERTER, "The same for headers."),
    Setting("key.converter.*", Kind.STRING, None, "Settings of key.converter.", secret=True),
    Setting("value.converter.*", Kind.STRING, None, "Settings of value.converter.", secret=True),
    Setting("header.converter.*", Kind.STRING, None, "Settings of header.converter."),
    Setting(
        "schema.registry.url",
        Kind.LIST,
        "http://127.0.0.1:8081",
        "Addresses of the Schema Registry, for converters that name none.",
    ),
    _ms("offset.flush.interval.ms", 60_000, "How often tasks commit how far they are."),
    _ms("offset.flush.timeout.ms", 5_000, "How long a commit may take before it is put off."),
    _ms("task.shutdown.graceful.timeout.ms", 5_000, "How long tasks may take to stop before they are killed.", 0),
    Setting(
        "task.restart.attempts.max",
        Kind.INT,
        -1,
        "How often in a row a task that fails is started again by itself; -1: always, 0: never.",
        minimum=-1,
    ),
    _ms("task.restart.backoff.ms", 1_000, "How soon it is started again the first time; each next time takes twice as long."),
    _ms("task.restart.backoff.max.ms", 300_000, "The longest pause before it is started again."),
    Setting(
        "plugin.path", Kind.LIST, "", "Python files and folders of such files with further connectors, converters and transforms."
    ),
    Setting("config.providers", Kind.LIST, "", "Names of providers of values that configurations refer to."),
    Setting("config.providers.*", Kind.STRING, None, "Their classes and parameters.", secret=True),
    *(
        Setting(
            f"{kind}.*",
            Kind.STRING,
            None,
            f"Settings of the {kind}s of all connectors, in librdkafka's names or those of Java's clients.",
            secret=True,
            members=TAKEN | _ALSO_TAKEN,
        )
        for kind in _CLIENT_KINDS
    ),
)  # fmt: skip

_CLIENTS: Final = tuple(
    Setting(
        name,
        Kind.STRING,
        None,
        "Setting of all Kafka clients of this service.",
        secret="password" in name or "secret" in name or name == JAAS,
    )
    for name in sorted(TAKEN)
    if name.startswith(_SECURITY)
)

_INERT: Final = (
    *inert(
        "librdkafka does this otherwise, or not at all",
        (
            *(name for name in WITHOUT_EQUAL if name.startswith(_SECURITY)),
            *(f"{kind}.{name}" for kind in _CLIENT_KINDS for name in WITHOUT_EQUAL if name not in _ALSO_TAKEN),
            "client.dns.lookup",
            "client.id",
            "connections.max.idle.ms",
            "metadata.max.age.ms",
            "metadata.recovery.rebootstrap.trigger.ms",
            "metadata.recovery.strategy",
            "receive.buffer.bytes",
            "reconnect.backoff.max.ms",
            "reconnect.backoff.ms",
            "retry.backoff.max.ms",
            "retry.backoff.ms",
            "send.buffer.bytes",
            "socket.connection.setup.timeout.max.ms",
            "socket.connection.setup.timeout.ms",
        ),
    ),
    *inert(
        "workers have a protocol of their own",
        (
            "connect.protocol",
            "inter.worker.key.generation.algorithm",
            "inter.worker.key.size",
            "inter.worker.signature.algorithm",
            "inter.worker.verification.algorithms",
            "worker.sync.timeout.ms",
            "worker.unsync.backoff.ms",
        ),
    ),
    *inert("plugins are Python packages and files", ("plugin.discovery",)),
    *inert("connectors may set everything of their clients", ("connector.client.config.override.policy",)),
    *inert("everything is served at listeners", ("admin.listeners", "admin.listeners.*")),
    *inert("certificates are PEM files, in ssl.certificate and ssl.key", ("listeners.https.*",)),
    *inert("it names a class of Java", ("rest.extension.classes", "auto.include.jmx.reporter")),
    *inert("metrics are for Prometheus, at /metrics", ("metrics.context.*", "metrics.recording.level")),
    *inert("there is one converter for what workers write", ("internal.key.converter*", "internal.value.converter*")),
)


def _http() -> Iterator[Setting]:
    """What every HTTP service has. Here `ssl.…` is about Kafka, but for the two files of https listeners."""
    taken = {setting.name for setting in (*_CLIENTS, *_INERT)}
    for setting in HTTP_SETTINGS:
        if setting.name == "request.timeout.ms":
            yield replace(setting, default=REQUEST_TIMEOUT_MS)
        elif setting.name not in taken:
            yield setting


_LISTENERS: Final = (
    Setting("listeners", Kind.LIST, "http://127.0.0.1:8083", "Where to listen; port 0 is any free port."),
)

CONNECT_CATALOGUE: Final[Catalogue[Setting]] = Catalogue(
    [*_CLUSTER, *_TOPICS, *_STANDALONE, *_TASKS, *_LISTENERS, *_CLIENTS, *_INERT, *_http()]
)
