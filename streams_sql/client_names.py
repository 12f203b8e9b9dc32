"""Which settings of Kafka's clients act here, in the names of Kafka Streams: `consumer.` and `producer.` before them for one kind alone."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.kafka_clients.client_names import TAKEN

SECURITY: Final = ("security.", "sasl.", "ssl.")
CONSUMER_PREFIXES: Final = ("consumer.", "main.consumer.")
PRODUCER_PREFIXES: Final = ("producer.",)

SOURCE_NAMES: Final = frozenset(
    {
        "client.dns.lookup",
        "client.rack",
        "connections.max.idle.ms",
        "default.api.timeout.ms",
        "fetch.max.bytes",
        "fetch.max.wait.ms",
        "fetch.min.bytes",
        "isolation.level",
        "max.partition.fetch.bytes",
        "max.poll.records",
        "metadata.max.age.ms",
        "receive.buffer.bytes",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "request.timeout.ms",
        "retry.backoff.ms",
        "send.buffer.bytes",
    }
)
"""For those that read sources: Java's in real-time mode, else librdkafka's."""
JAVA_ALONE: Final = frozenset({"default.api.timeout.ms", "request.timeout.ms"})
"""Those of them that librdkafka's consumers do not know."""
SINK_NAMES: Final = frozenset(
    {
        "batch.size",
        "buffer.memory",
        "compression.level",
        "compression.type",
        "linger.ms",
        "max.request.size",
        "message.max.bytes",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "request.timeout.ms",
        "retry.backoff.ms",
    }
)
"""For those that write results. Acknowledgements, idempotence and the partitioner are not to be chosen: results would be lost, or joins
would not find them. How long is tried is the batch's to say."""
QUERY_CHOICES: Final = {
    "auto.offset.reset": ("earliest", "latest"),
    "processing.guarantee": ("at_least_once", "exactly_once", "exactly_once_beta", "exactly_once_v2"),
}
"""What queries do, and the values that there are, in any case."""
QUERY_NAMES: Final = frozenset(QUERY_CHOICES)
SERVER_NAMES: Final = frozenset({"heartbeat.interval.ms", "replication.factor", "session.timeout.ms"})
"""For the election of the server that runs the queries, and for topics that are made."""

_ACCESS: Final = frozenset(name for name in TAKEN if name.startswith(SECURITY))
STREAMS_NAMES: Final = (
    QUERY_NAMES
    | SERVER_NAMES
    | _ACCESS
    | SOURCE_NAMES
    | SINK_NAMES
    | {f"{prefix}{name}" for prefix in CONSUMER_PREFIXES for name in SOURCE_NAMES}
    | {f"{prefix}{name}" for prefix in PRODUCER_PREFIXES for name in SINK_NAMES}
)
"""Behind `ksql.streams.`."""
PLAIN_NAMES: Final = STREAMS_NAMES - SERVER_NAMES - _ACCESS - {"request.timeout.ms"}
"""Those that ksqlDB takes without that prefix, too; requests have a time of their own."""
