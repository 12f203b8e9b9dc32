"""Broker settings of what is told of requests and metrics: ours, and those in Kafka's own form."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.service_settings import REQUEST_SETTINGS
from barnabas.kernel.settings import Catalogue, Kind
from core_broker.configs.checks import distinct
from core_broker.configs.metrics_address import check_metrics_listener
from core_broker.configs.setting import BrokerSetting, Effect, KafkaSetting, UpdateMode

_NO_JAVA = "this broker runs no Java classes; its metrics do not go through reporters"
_NO_TELEMETRY = "clients are not asked for their metrics"

_inert = partial(BrokerSetting, effect=Effect.INERT, why=_NO_JAVA)

LISTENER = (
    BrokerSetting(
        "metrics.listener",
        Kind.STRING,
        None,
        "Where metrics can be read in Prometheus' format, such as http://127.0.0.1:9404; unset: nowhere.",
        check=check_metrics_listener,
    ),
    BrokerSetting("metrics.per.partition", Kind.BOOLEAN, False, "Whether metrics tell of every single partition, too."),
)

REQUEST_LOG = tuple(
    BrokerSetting(
        shared.name,
        shared.kind,
        shared.default,
        shared.doc,
        shared.unit,
        choices=shared.choices,
        minimum=shared.minimum,
        mode=UpdateMode.CLUSTER_WIDE,
    )
    for shared in REQUEST_SETTINGS
)

KAFKAS = (
    _inert(
        "metric.reporters",
        Kind.LIST,
        "org.apache.kafka.common.metrics.JmxReporter",
        "Java classes that report metrics.",
        mode=UpdateMode.CLUSTER_WIDE,
        check=distinct,
    ),
    _inert("kafka.metrics.reporters", Kind.LIST, "", "Java classes that report the older metrics.", check=distinct),
    _inert("kafka.metrics.polling.interval.secs", Kind.INT, 10, "Time between two of their reports.", "s", minimum=1),
    _inert("metrics.num.samples", Kind.INT, 2, "Windows that a rate is measured over.", minimum=1),
    _inert("metrics.recording.level", Kind.STRING, "INFO", "How much is recorded."),
    _inert("metrics.sample.window.ms", Kind.LONG, 30000, "Length of such a window.", "ms", minimum=1),
    _inert(
        "telemetry.max.bytes", Kind.INT, 1 << 20, "Largest report of a client.", "bytes", minimum=1, why=_NO_TELEMETRY
    ),
)

SETTINGS = (*LISTENER, *REQUEST_LOG, *KAFKAS)

# What a client metrics subscription holds.
CLIENT_METRICS_CATALOGUE: Catalogue[KafkaSetting] = Catalogue(
    [
        KafkaSetting(
            "interval.ms",
            Kind.INT,
            300000,
            "Time between two reports of a client.",
            "ms",
            minimum=100,
            maximum=3600000,
            effect=Effect.INERT,
            why=_NO_TELEMETRY,
        ),
        KafkaSetting("match", Kind.LIST, "", "Which clients report.", effect=Effect.INERT, why=_NO_TELEMETRY),
        KafkaSetting("metrics", Kind.LIST, "", "What they report.", effect=Effect.INERT, why=_NO_TELEMETRY),
    ]
)
