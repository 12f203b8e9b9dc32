"""Every setting of the service, under Confluent's names where Confluent has one."""

from __future__ import annotations

from barnabas.kernel.http.http_catalogue import HTTP_SETTINGS, inert
from barnabas.kernel.kafka_clients.client_names import TAKEN, WITHOUT_EQUAL
from barnabas.kernel.settings import Catalogue, Kind, Setting
from rest_proxy.kafka.client_settings import KINDS

_SERVICES = (
    Setting("bootstrap.servers", Kind.LIST, "127.0.0.1:9092", "Addresses of some brokers of the Kafka cluster."),
    Setting(
        "schema.registry.url",
        Kind.LIST,
        "http://127.0.0.1:8081",
        "Addresses of the Schema Registry; records with a schema need it, others do not.",
    ),
    Setting("id", Kind.STRING, "", "Name of this instance; consumer instances carry it in their names."),
    Setting(
        "advertised.listeners",
        Kind.LIST,
        "",
        "Where clients reach this service, one for each scheme: the beginning of the addresses that they are told.",
    ),
    Setting(
        "host.name",
        Kind.STRING,
        "",
        "The name in the addresses that clients are told when no listener is advertised; the host that they asked when empty.",
    ),
    Setting(
        "port",
        Kind.INT,
        0,
        "The port beside host.name for requests of a scheme that no listener has; the one that they asked when 0.",
        minimum=0,
        maximum=65_535,
    ),
    *(
        Setting(
            f"{kind}.*",
            Kind.STRING,
            None,
            f"Settings of {whose}, in librdkafka's names or those of Java's clients, such as {example}.",
            secret=True,
            members=TAKEN,
        )
        for kind, whose, example in (
            ("client", "all Kafka clients of this service", "client.security.protocol"),
            ("producer", "its producer", "producer.compression.type"),
            ("consumer", "its consumers", "consumer.isolation.level"),
            ("admin", "its admin client", "admin.request.timeout.ms"),
        )
    ),
    Setting(
        "schema.registry.basic.auth.user.info",
        Kind.PASSWORD,
        None,
        "User and password for the registry, with a colon between them.",
    ),
)

_CONSUMERS = (
    Setting(
        "consumer.instance.timeout.ms",
        Kind.INT,
        300_000,
        "When a consumer instance that nobody asked counts as forgotten.",
        "ms",
        minimum=1,
    ),
    Setting(
        "consumer.request.timeout.ms",
        Kind.INT,
        1_000,
        "The longest wait for records when the client names none.",
        "ms",
        minimum=0,
    ),
    Setting(
        "consumer.request.max.bytes",
        Kind.LONG,
        64 * 1024 * 1024,
        "The most bytes of records in one answer.",
        "bytes",
        minimum=1,
    ),
    Setting("consumer.threads", Kind.INT, 50, "Reads of consumer instances that may run at once.", minimum=1),
    Setting("consumer.instances.max", Kind.INT, 1_000, "Consumer instances that may be open at once.", minimum=1),
    Setting(
        "fetch.min.bytes",
        Kind.INT,
        -1,
        "Bytes that a read waits for, unless the time is up; -1: any record will do.",
        "bytes",
        minimum=-1,
    ),
)

_PRODUCE = (
    Setting(
        "producer.request.max.bytes", Kind.INT, 16 * 1024 * 1024, "The largest body of a request.", "bytes", minimum=1
    ),
    Setting(
        "stream.records.in.flight.max",
        Kind.INT,
        10_000,
        "Records of one streaming upload that may wait for receipts.",
        minimum=1,
    ),
)

_HTTP = (
    Setting("listeners", Kind.LIST, "http://127.0.0.1:8082", "Where to listen; port 0 is any free port."),
    Setting("api.v2.enable", Kind.BOOLEAN, True, "Serve the v2 paths."),
    Setting("api.v3.enable", Kind.BOOLEAN, True, "Serve the v3 paths."),
)

_INERT = (
    *inert(
        "librdkafka does this otherwise, or not at all",
        (f"{kind}.{name}" for kind in KINDS for name in WITHOUT_EQUAL),
    ),
    *inert(
        "no thread waits for records here",
        (
            "api.v3.produce.response.thread.pool.size",
            "client.init.timeout.ms",
            "consumer.iterator.backoff.ms",
            "consumer.iterator.timeout.ms",
            "producer.threads",
            "simpleconsumer.*",
        ),
    ),
    *inert("records:batch takes ten records", ("api.v3.produce.batch.maximum.entries",)),
    *inert("there are no limits of rates yet", ("api.v3.produce.rate.limit.*", "rate.limit.*")),
    *inert("a stream may last as long as its client likes", ("streaming.connection.*",)),
    *inert(
        "producer.request.max.bytes limits each record of an upload", ("api.v3.produce.request.size.limit.max.bytes",)
    ),
    *inert("it names a class of Java", ("kafka.rest.*",)),
    *inert(
        "there is nothing like it here",
        (
            "confluent.*",
            "null.request.body.always.publishes.empty.record",
            "use.custom.request.logging",
            "zookeeper.connect",
        ),
    ),
    *inert(
        "schemas are taken as requests name them, and the registry is asked over http or with the system's certificates",
        ("schema.registry.*",),
    ),
)

REST_CATALOGUE: Catalogue[Setting] = Catalogue([*_SERVICES, *_CONSUMERS, *_PRODUCE, *_HTTP, *HTTP_SETTINGS, *_INERT])
