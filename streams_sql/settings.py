"""Every setting of the service, under ksqlDB's names where ksqlDB has one."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http.http_catalogue import HTTP_SETTINGS, inert
from barnabas.kernel.kafka_clients.client_names import TAKEN
from barnabas.kernel.kafka_clients.topic_shape import BROKER_DEFAULT
from barnabas.kernel.settings import Catalogue, Kind, Setting
from streams_sql.client_names import PLAIN_NAMES, QUERY_CHOICES, QUERY_NAMES, STREAMS_NAMES

REGISTRY_URL: Final = "ksql.schema.registry.url"
PLAIN_REGISTRY_URL: Final = "schema.registry.url"
SERVICE_ID: Final = "ksql.service.id"
CONNECT_URL: Final = "ksql.connect.url"
PROCESSING_LOG_PREFIX: Final = "ksql.logging.processing."
FORMATS: Final = ("none", "delimited", "json", "json_sr", "avro", "kafka", "protobuf", "protobuf_nosr")

_QUERY_DOCS: Final = {
    "auto.offset.reset": "Where a query begins that says nothing of it; latest without this.",
    "processing.guarantee": "Whether results may be written twice after a failure (at_least_once, without this) or not (exactly_once_v2).",
}
"""Of names that there are with and without `ksql.streams.`; with it wins."""

_SERVICES = (
    Setting("bootstrap.servers", Kind.LIST, "127.0.0.1:9092", "Addresses of some brokers of the Kafka cluster."),
    Setting(
        REGISTRY_URL,
        Kind.STRING,
        "",
        "Address of the Schema Registry; the formats AVRO, JSON_SR and PROTOBUF need it, others do not.",
    ),
    Setting(
        PLAIN_REGISTRY_URL,
        Kind.STRING,
        "",
        "The same as other services call it; ksql.schema.registry.url goes before it.",
    ),
    Setting(
        "ksql.schema.registry.basic.auth.user.info",
        Kind.PASSWORD,
        None,
        "User and password for the registry, with a colon between them.",
    ),
    Setting(
        CONNECT_URL,
        Kind.STRING,
        "http://127.0.0.1:8083",
        "Address of Connect, ours or Apache Kafka's; the statements about connectors need it, others do not.",
    ),
    Setting(
        "ksql.connect.request.timeout.ms", Kind.INT, 5_000, "How long Connect may take to answer.", "ms", minimum=1
    ),
    Setting(
        "ksql.connect.basic.auth.credentials.source",
        Kind.STRING,
        "none",
        "Where the user and password for Connect stand: in a FILE, or there is none.",
        choices=("none", "file"),
        any_case=True,
    ),
    Setting(
        "ksql.connect.basic.auth.credentials.file",
        Kind.STRING,
        "",
        "That file: properties with the names username and password.",
    ),
    Setting(
        SERVICE_ID,
        Kind.STRING,
        "default_",
        "Servers of one id share a catalogue: one of them runs the queries, the others answer reads and take over.",
    ),
    Setting(
        "ksql.advertised.listener",
        Kind.STRING,
        "",
        "Where the other servers reach this one; its first listener when empty.",
    ),
    Setting(
        "ksql.queries.file",
        Kind.STRING,
        "",
        "A file of statements that this server runs, and no others: clients may only read then.",
    ),
    *(
        Setting(f"{prefix}{name}", Kind.STRING, None, doc, choices=QUERY_CHOICES[name], any_case=True)
        for prefix in ("ksql.streams.", "")
        for name, doc in _QUERY_DOCS.items()
    ),
    Setting(
        "ksql.streams.*",
        Kind.STRING,
        None,
        "How queries reach Kafka, in the names of Kafka Streams: replication.factor, session.timeout.ms (after which another server takes "
        "over), security.protocol and the like, and settings of clients such as producer.compression.type and consumer.max.partition.fetch.bytes.",
        secret=True,
        members=STREAMS_NAMES - QUERY_NAMES,
    ),
    Setting(
        "*",
        Kind.STRING,
        None,
        "Settings of clients without ksql.streams. before them.",
        members=PLAIN_NAMES - QUERY_NAMES,
    ),
    *(
        Setting(
            f"{family}.*",
            Kind.STRING,
            None,
            f"How to reach the brokers, such as {family}.{example}.",
            secret=True,
            members=frozenset(name.removeprefix(f"{family}.") for name in TAKEN if name.startswith(f"{family}.")),
        )
        for family, example in (("security", "protocol"), ("sasl", "mechanism"), ("ssl", "ca.location"))
    ),
)

_STATEMENTS = (
    Setting(
        "ksql.persistence.default.format.key",
        Kind.STRING,
        "kafka",
        "The format of keys where a statement names none.",
        choices=FORMATS,
        any_case=True,
    ),
    Setting(
        "ksql.persistence.default.format.value",
        Kind.STRING,
        None,
        "The format of values where a statement names none.",
        choices=FORMATS,
        any_case=True,
    ),
    Setting(
        "ksql.persistence.wrap.single.values",
        Kind.BOOLEAN,
        None,
        "Whether a single column stands in a record of its own where a statement does not say it.",
    ),
    Setting(
        "sql.names.keep.case",
        Kind.BOOLEAN,
        False,
        "Whether fields of JSON, Avro and Protobuf records have their names as statements write them; else they are in capitals.",
    ),
    *(
        Setting(
            f"ksql.functions.{name.lower()}.limit",
            Kind.INT,
            None,
            f"How many values {name} keeps of a group; all of them when it is not set.",
            minimum=1,
        )
        for name in ("COLLECT_LIST", "COLLECT_SET")
    ),
    *(
        Setting(
            f"ksql.assert.{what}.default.timeout.ms",
            Kind.INT,
            1_000,
            f"How long ASSERT {what.upper()} waits where it has no TIMEOUT.",
            "ms",
            minimum=0,
        )
        for what in ("topic", "schema")
    ),
    Setting(
        "ksql.output.topic.name.prefix", Kind.STRING, "", "The beginning of topics that a statement does not name."
    ),
    Setting(
        "ksql.internal.topic.replicas",
        Kind.INT,
        BROKER_DEFAULT,
        "Replicas of the command topic and of new topics. -1: the command topic has 3, or one on each broker if these are fewer; the topic "
        "of a query has as many as the one that it reads, and any other topic as many as the brokers' default.replication.factor says.",
        minimum=BROKER_DEFAULT,
    ),
    Setting(
        "ksql.fail.on.deserialization.error",
        Kind.BOOLEAN,
        False,
        "Whether a record that cannot be decoded ends its query; else it is passed over, counted and told.",
    ),
)

_QUERIES = (
    Setting("sql.data.dir", Kind.STRING, "sql", "Folder of views and of checkpoints."),
    Setting(
        "sql.checkpoint.uri",
        Kind.STRING,
        "",
        "Where Spark keeps what queries have read and know; a cluster needs a place that all its machines share. Without it, a folder "
        "in sql.data.dir.",
    ),
    Setting("spark.master", Kind.STRING, "", "Spark's master; local with four tasks for each core when empty."),
    Setting("spark.*", Kind.STRING, None, "Settings of Spark, such as spark.driver.memory.", secret=True),
    Setting("sql.trigger.interval.ms", Kind.INT, 200, "How often a query looks for new records.", "ms", minimum=0),
    Setting(
        "sql.batch.max.records",
        Kind.INT,
        2_000_000,
        "Records that one batch of a query reads at most: what waits for longer comes in several.",
        "records",
        minimum=1,
    ),
    Setting(
        "max.task.idle.ms",
        Kind.INT,
        0,
        "How long rows of a query with state wait for a partition without unread records, in case an earlier record arrives there. A "
        "partition with unread records is always waited for. -1 is the same as 0.",
        "ms",
        minimum=-1,
    ),
    Setting(
        "sql.state.memory.max.rows",
        Kind.INT,
        1_000_000,
        "Rows, groups and values that an operator which Spark has none for keeps in memory, in each shard; about 0.5 KB each. Those used "
        "longest ago lie in a file below spark.local.dir, and are read again when they are needed. It is looked at whenever as many rows "
        "have come as there are.",
        "rows",
        minimum=1,
    ),
    Setting(
        "sql.trigger.real.time",
        Kind.BOOLEAN,
        False,
        "Whether new queries without state that Spark can run by itself run in real-time mode: milliseconds, for a task slot for each "
        "partition that they read. Their records bear the times at which they are written, and come at least once.",
    ),
    Setting("ksql.max.push.queries", Kind.INT, 100, "Push queries that may run at once.", minimum=0),
    Setting(
        "ksql.query.pull.max.concurrent.requests", Kind.INT, 100, "Scans of views that may run at once.", minimum=1
    ),
    Setting(
        "sql.pull.scan.max.rows",
        Kind.INT,
        10_000_000,
        "Rows that one pull query may take out of a view, or records out of a topic.",
        "rows",
        minimum=1,
    ),
    Setting("sql.pull.scan.max.ms", Kind.INT, 60_000, "How long one pull query may look for rows.", "ms", minimum=1),
    Setting(
        "sql.pull.memory.max.bytes",
        Kind.INT,
        256 * 1024 * 1024,
        "What one pull query may keep in memory to sort, group and join rows; sizes are estimates.",
        "bytes",
        minimum=1,
    ),
)

_FUNCTIONS = (
    Setting(
        "sql.functions.modules",
        Kind.LIST,
        "",
        "Python packages and modules whose functions CREATE FUNCTION may name, each with all that is in it. They must be installed here and "
        "where Spark's workers run.",
    ),
    Setting(
        "sql.functions.inline.enabled",
        Kind.BOOLEAN,
        False,
        "Whether CREATE FUNCTION may bring its code along: then whoever reaches this server can run anything in it.",
    ),
)

_ERRORS = (
    Setting(
        f"{PROCESSING_LOG_PREFIX}topic.auto.create",
        Kind.BOOLEAN,
        False,
        "Whether errors of queries are written to a topic, which is made at the start. SHOW ERRORS tells the newest of them without it.",
    ),
    Setting(
        f"{PROCESSING_LOG_PREFIX}topic.name",
        Kind.STRING,
        "",
        "The topic of errors; when empty, the service id with ksql_processing_log behind it.",
    ),
    Setting(f"{PROCESSING_LOG_PREFIX}topic.partitions", Kind.INT, 1, "Partitions of that topic.", minimum=1),
    Setting(
        f"{PROCESSING_LOG_PREFIX}topic.replication.factor",
        Kind.INT,
        BROKER_DEFAULT,
        "Its replicas; -1 is the brokers' default.",
        minimum=BROKER_DEFAULT,
    ),
    Setting(
        f"{PROCESSING_LOG_PREFIX}stream.auto.create",
        Kind.BOOLEAN,
        False,
        "Whether a stream over the topic of errors is made at the start, and the topic with it.",
    ),
    Setting(f"{PROCESSING_LOG_PREFIX}stream.name", Kind.STRING, "KSQL_PROCESSING_LOG", "The name of that stream."),
    Setting(
        f"{PROCESSING_LOG_PREFIX}rows.include",
        Kind.BOOLEAN,
        False,
        "Whether errors are told with the data that caused them: the first 1,024 bytes of a record, or of a row as JSON.",
    ),
)

_HTTP = (Setting("listeners", Kind.LIST, "http://127.0.0.1:8088", "Where to listen; port 0 is any free port."),)

# Those who are to be kept out must not come in without a word.
_REFUSED = tuple(
    Setting(
        name,
        Kind.STRING,
        None,
        "A class of Java's that decides who may do what; there is none here.",
        choices=("none",),
    )
    for name in ("ksql.authentication.plugin.class", "ksql.security.extension.class")
)

_INERT = (
    *inert("the registry is asked over http or with the system's certificates", ("ksql.schema.registry.ssl.*",)),
    *inert("there is nothing like it here, or Spark does it", ("ksql.*", "confluent.*")),
    *inert(
        "Spark runs the queries here",
        ("num.stream.threads", "cache.max.bytes.buffering", "state.dir", "commit.interval.ms"),
    ),
)

SQL_CATALOGUE: Catalogue[Setting] = Catalogue(
    [*_SERVICES, *_STATEMENTS, *_QUERIES, *_FUNCTIONS, *_ERRORS, *_HTTP, *HTTP_SETTINGS, *_REFUSED, *_INERT]
)
