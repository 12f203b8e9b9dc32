"""What SET may change for the statements behind it."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.kafka_clients.client_names import TAKEN
from barnabas.kernel.setting_errors import SettingError
from streams_sql.analysis.catalogue_view import nearest_hint
from streams_sql.analysis.defaults import AGGREGATE_LIMITS, KEEP_CASE, KEY_FORMAT, VALUE_FORMAT, WRAP_SINGLE_VALUES
from streams_sql.client_names import QUERY_CHOICES
from streams_sql.engine.queries.query_settings import (
    BATCH_RECORDS,
    FAILS_ON_BAD_RECORD,
    REAL_TIME,
    SPARK_PREFIX,
    STATE_ROWS,
    TASK_IDLE,
    TRIGGER,
    plain_name,
)
from streams_sql.settings import SQL_CATALOGUE

_OF_STATEMENTS: Final = frozenset(
    {
        FAILS_ON_BAD_RECORD,
        BATCH_RECORDS,
        STATE_ROWS,
        TASK_IDLE,
        TRIGGER,
        REAL_TIME,
        KEY_FORMAT,
        VALUE_FORMAT,
        WRAP_SINGLE_VALUES,
        KEEP_CASE,
        *AGGREGATE_LIMITS,
    }
)
"""Settings of the server that each statement may have otherwise."""

_WITHOUT_EFFECT: Final = frozenset(
    {
        "acceptable.recovery.lag",
        "application.server",
        "buffered.records.per.partition",
        "cache.max.bytes.buffering",
        "commit.interval.ms",
        "default.deserialization.exception.handler",
        "default.production.exception.handler",
        "default.timestamp.extractor",
        "max.poll.records",
        "max.warmup.replicas",
        "metrics.recording.level",
        "num.standby.replicas",
        "num.stream.threads",
        "poll.ms",
        "probing.rebalance.interval.ms",
        "replication.factor",
        "rocksdb.config.setter",
        "state.cleanup.delay.ms",
        "state.dir",
        "statestore.cache.max.bytes",
        "task.timeout.ms",
        "topology.optimization",
        "windowstore.changelog.additional.retention.ms",
    }
)
"""Names of Kafka Streams, which scripts written for it set. Spark runs the queries here, and has nothing like them."""
_WITHOUT_EFFECT_PREFIXES: Final = (
    "admin.",
    "consumer.",
    "global.consumer.",
    "main.consumer.",
    "producer.",
    "restore.consumer.",
    "topic.",
)

_OF_SERVERS: Final = frozenset({"application.id", "bootstrap.servers", "metadata.broker.list", "spark.master"})
_OF_SERVERS_PREFIXES: Final = ("sasl.", "security.", "ssl.")


def property_problem(name: str, value: str) -> str | None:
    """What is wrong with a property and its value, which may be empty where nobody knows it yet; None if nothing is."""
    plain = plain_name(name)
    choices = QUERY_CHOICES.get(plain)
    if choices is not None:
        is_good = not value or value.lower() in choices
        return None if is_good else f"{name}={value} is not one of {', '.join(choices)}."
    if plain in _OF_SERVERS or plain.startswith(_OF_SERVERS_PREFIXES):
        return _servers_own(name)
    if plain in TAKEN or plain in _WITHOUT_EFFECT or plain.startswith((SPARK_PREFIX, *_WITHOUT_EFFECT_PREFIXES)):
        return None
    declared = SQL_CATALOGUE.find(plain)
    if declared is None:
        hint = nearest_hint(plain, [*SQL_CATALOGUE, *QUERY_CHOICES, *_WITHOUT_EFFECT])
        return f"Not recognizable as ksql, streams, consumer, or producer property: '{name}'.{hint}"
    if not declared.inert and plain not in _OF_STATEMENTS:
        return _servers_own(name)
    if value and not declared.many:
        try:
            declared.parse(value)
        except SettingError as problem:
            return f"{name}={value}: {problem.reason}."
    return None


def _servers_own(name: str) -> str:
    return f"Cannot override property '{name}': it is the server's own, and set where that is started."
