"""Every setting of the service, under Confluent's names where Confluent has one."""

from __future__ import annotations

from barnabas.kernel.http.http_catalogue import HTTP_SETTINGS
from barnabas.kernel.settings import Catalogue, Kind, Setting

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
        "host.name",
        Kind.STRING,
        "",
        "The name in the addresses that clients are told; the host that they asked when empty.",
    ),
    Setting(
        "client.*",
        Kind.STRING,
        None,
        "Settings of all Kafka clients of this service, such as client.security.protocol.",
        secret=True,
    ),
    Setting(
        "producer.*", Kind.STRING, None, "Settings of its producer, such as producer.compression.type.", secret=True
    ),
    Setting(
        "consumer.*",
        Kind.STRING,
        None,
        "Settings of its consumers, such as consumer.max.poll.interval.ms.",
        secret=True,
    ),
    Setting("admin.*", Kind.STRING, None, "Settings of its admin client.", secret=True),
    Setting(
        "schema.registry.*",
        Kind.STRING,
        None,
        "Settings of its registry client, such as schema.registry.basic.auth.user.info.",
        secret=True,
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

REST_CATALOGUE: Catalogue[Setting] = Catalogue([*_SERVICES, *_CONSUMERS, *_PRODUCE, *_HTTP, *HTTP_SETTINGS])
