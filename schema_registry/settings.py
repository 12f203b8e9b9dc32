"""Every setting of the service, under Confluent's names where Confluent has one."""

from __future__ import annotations

from barnabas.kernel.http.http_catalogue import HTTP_SETTINGS, inert
from barnabas.kernel.settings import Catalogue, Kind, Setting
from schema_registry.config import LEVELS

INT_MAX = (1 << 31) - 1

_LEVELS = tuple(level.lower() for level in LEVELS)

_STORE = (
    Setting(
        "bootstrap.servers",
        Kind.LIST,
        "127.0.0.1:9092",
        "Addresses of some brokers of the Kafka cluster that holds the schemas.",
    ),
    Setting(
        "kafkastore.bootstrap.servers",
        Kind.LIST,
        "",
        "The same under Confluent's name, where a protocol may stand before each address; it wins when both are given.",
    ),
    Setting("kafkastore.topic", Kind.STRING, "_schemas", "The topic that holds the schemas."),
    Setting(
        "kafkastore.topic.replication.factor",
        Kind.INT,
        3,
        "How many copies the topic gets when it is created; no more than there are brokers.",
        minimum=1,
    ),
    Setting(
        "kafkastore.timeout.ms",
        Kind.INT,
        10_000,
        "How long a write may take until it has come back from the topic.",
        "ms",
        minimum=1,
    ),
    Setting(
        "kafkastore.init.timeout.ms",
        Kind.INT,
        60_000,
        "How long the first reading of the topic may take at start-up.",
        "ms",
        minimum=1,
    ),
    Setting(
        "kafkastore.security.protocol",
        Kind.STRING,
        "PLAINTEXT",
        "How to speak to the brokers.",
        choices=("PLAINTEXT", "SSL"),
    ),
    Setting(
        "kafkastore.ssl.truststore.location",
        Kind.STRING,
        "",
        "PEM file with the certificates that brokers are trusted by; the system's own when empty.",
    ),
    Setting(
        "kafkastore.ssl.keystore.location",
        Kind.STRING,
        "",
        "PEM file with the certificate and the key of this client, for brokers that ask for one.",
    ),
    Setting("kafkastore.ssl.key.password", Kind.PASSWORD, None, "Password of the key in that file."),
    Setting(
        "kafkastore.ssl.endpoint.identification.algorithm",
        Kind.STRING,
        "https",
        "Check that a broker's certificate names its host (https), or not (empty).",
    ),
)

_ELECTION = (
    Setting(
        "schema.registry.group.id",
        Kind.STRING,
        "schema-registry",
        "The group in which the instances of one registry elect their leader.",
    ),
    Setting("leader.eligibility", Kind.BOOLEAN, True, "Whether this instance may become the leader."),
    Setting(
        "master.eligibility", Kind.BOOLEAN, None, "The older name of leader.eligibility; it wins when both are given."
    ),
    Setting(
        "leader.election.sticky",
        Kind.BOOLEAN,
        False,
        "A leader stays the leader when instances join, even if their address sorts before its own.",
    ),
    Setting(
        "leader.connect.timeout.ms",
        Kind.INT,
        10_000,
        "How long a follower tries to reach the leader.",
        "ms",
        minimum=1,
    ),
    Setting(
        "leader.read.timeout.ms",
        Kind.INT,
        60_000,
        "How long a follower waits for the leader's answer.",
        "ms",
        minimum=1,
    ),
    Setting(
        "kafkagroup.session.timeout.ms", Kind.INT, 10_000, "When a silent instance counts as gone.", "ms", minimum=1
    ),
    Setting(
        "kafkagroup.heartbeat.interval.ms",
        Kind.INT,
        3_000,
        "How often an instance says that it is there.",
        "ms",
        minimum=1,
    ),
    Setting("kafkagroup.rebalance.timeout.ms", Kind.INT, 300_000, "How long an election may take.", "ms", minimum=1),
    Setting(
        "host.name",
        Kind.STRING,
        "",
        "The name under which the other instances reach this one; the listener's own host, or this machine's name, when empty.",
    ),
    Setting("host.port", Kind.INT, 0, "The port of the same; the listener's own when 0.", minimum=0, maximum=65_535),
    Setting(
        "inter.instance.headers.whitelist",
        Kind.LIST,
        "",
        "Further headers of a request that a follower hands on to the leader.",
    ),
)

_SCHEMAS = (
    Setting(
        "schema.compatibility.level",
        Kind.STRING,
        "backward",
        "How compatible new schemas must be where no scope says otherwise.",
        choices=_LEVELS,
        any_case=True,
    ),
    Setting(
        "avro.compatibility.level",
        Kind.STRING,
        None,
        "The older name of schema.compatibility.level; it wins when both are given.",
        choices=_LEVELS,
        any_case=True,
    ),
    Setting(
        "schema.validate.fields",
        Kind.BOOLEAN,
        False,
        "Refuse fields that have a name which the metadata reserve.",
    ),
    Setting(
        "schema.validate.new.schemas",
        Kind.BOOLEAN,
        True,
        "Check new schemas in full; for Avro, names and defaults too.",
    ),
    Setting("mode.mutability", Kind.BOOLEAN, True, "Whether clients may change modes."),
    Setting(
        "schema.search.default.limit",
        Kind.INT,
        1_000,
        "Schemas in one answer when the client names no limit.",
        minimum=1,
    ),
    Setting("schema.search.max.limit", Kind.INT, 1_000, "Schemas in one answer at most.", minimum=1),
    Setting(
        "subject.version.search.default.limit",
        Kind.INT,
        INT_MAX,
        "Versions in one answer when the client names no limit.",
        minimum=1,
    ),
    Setting("subject.version.search.max.limit", Kind.INT, INT_MAX, "Versions in one answer at most.", minimum=1),
    Setting(
        "subject.search.default.limit",
        Kind.INT,
        INT_MAX,
        "Subjects in one answer when the client names no limit.",
        minimum=1,
    ),
    Setting("subject.search.max.limit", Kind.INT, INT_MAX, "Subjects in one answer at most.", minimum=1),
    Setting(
        "context.search.default.limit",
        Kind.INT,
        INT_MAX,
        "Contexts in one answer when the client names no limit.",
        minimum=1,
    ),
    Setting("context.search.max.limit", Kind.INT, INT_MAX, "Contexts in one answer at most.", minimum=1),
    Setting(
        "incompatible.schema.error.code",
        Kind.INT,
        409,
        "The error code of an incompatible schema beside HTTP's 409: 409 as up to 8.0.2, or 40901 as newer servers tell.",
        choices=("409", "40901"),
    ),
)

_HTTP = (
    Setting(
        "response.new.members.for.all",
        Kind.BOOLEAN,
        False,
        "Tell the members that came with 8.0 (guid, ts, …) to clients that do not ask for them, too: Go's client up to 2.11 needs the guid"
        " for ids in headers and does not ask.",
    ),
    Setting("listeners", Kind.LIST, "http://127.0.0.1:8081", "Where to listen; port 0 is any free port."),
    Setting(
        "size.limit.filter.max.request.body.size",
        Kind.INT,
        8 * 1024 * 1024,
        "The largest body of a request, after it was decompressed.",
        "bytes",
        minimum=1,
    ),
)

_WITHOUT_MEANING = inert(
    "this registry keeps its schemas in its topic and in memory, and speaks HTTP alone to its like",
    (
        "kafkastore.checkpoint.dir",
        "kafkastore.checkpoint.version",
        "kafkastore.group.id",
        "kafkastore.init.wait.for.reader",
        "kafkastore.sasl.*",
        "kafkastore.ssl.enabled.protocols",
        "kafkastore.ssl.keystore.type",
        "kafkastore.ssl.protocol",
        "kafkastore.ssl.truststore.type",
        "kafkastore.topic.skip.validation",
        "kafkastore.write.max.retries",
        "inter.instance.protocol",
        "leader.election.delay",
        "metadata.encoder.secret",
        "schema.cache.expiry.secs",
        "schema.cache.size",
        "schema.registry.inter.instance.protocol",
        "size.limit.filter.enabled",
    ),
)

REGISTRY_CATALOGUE: Catalogue[Setting] = Catalogue(
    [*_STORE, *_ELECTION, *_SCHEMAS, *_HTTP, *HTTP_SETTINGS, *_WITHOUT_MEANING]
)
