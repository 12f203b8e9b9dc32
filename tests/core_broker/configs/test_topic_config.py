"""Which value a topic's configuration has, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from barnabas.kernel.settings import resolve
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.configs.broker import BROKER_CATALOGUE
from core_broker.configs.broker_config import BrokerConfig
from core_broker.configs.described import ConfigSource, Described, SourcedValue
from core_broker.configs.topic_config import TopicConfig, check_topic_configs
from core_broker.configs.topics import TOPIC_CATALOGUE
from core_broker.log.config import LogConfig

NOTHING: Mapping[str, str] = {}
WEEK_MS = 604_800_000
HOUR_MS = 3_600_000


def broker(
    static: Mapping[str, str] = NOTHING, cluster: Mapping[str, str] = NOTHING, node: Mapping[str, str] = NOTHING
) -> BrokerConfig:
    return BrokerConfig(resolve(BROKER_CATALOGUE, static, {}, None), cluster, node)


def described(config: TopicConfig, name: str) -> Described:
    return next(entry for entry in config.described() if entry.setting.name == name)


def test_each_layer_wins_over_the_one_below() -> None:
    static, cluster, node = ({"log.retention.ms": str(value)} for value in (10, 20, 30))
    layers = [
        (broker(), {}, WEEK_MS, ConfigSource.DEFAULT),
        (broker(static), {}, 10, ConfigSource.STATIC_BROKER),
        (broker(static, cluster), {}, 20, ConfigSource.DYNAMIC_DEFAULT_BROKER),
        (broker(static, cluster, node), {}, 30, ConfigSource.DYNAMIC_BROKER),
        (broker(static, cluster, node), {"retention.ms": "40"}, 40, ConfigSource.TOPIC),
    ]
    for config, overrides, value, source in layers:
        assert TopicConfig(config, overrides).in_force("retention.ms") == (value, source)


def test_milliseconds_win_over_minutes_and_minutes_over_hours() -> None:
    hours = {"log.retention.hours": "2"}
    minutes = {**hours, "log.retention.minutes": "3"}
    assert TopicConfig(broker(hours), {}).integer("retention.ms") == 2 * HOUR_MS
    assert TopicConfig(broker(minutes), {}).integer("retention.ms") == 180_000
    assert TopicConfig(broker({**minutes, "log.retention.ms": "4"}), {}).integer("retention.ms") == 4
    assert TopicConfig(broker({"log.retention.hours": "-1"}), {}).integer("retention.ms") == -1


def test_a_weaker_name_that_was_changed_at_run_time_wins_over_a_stronger_one_from_the_file() -> None:
    config = broker({"log.flush.interval.ms": "5"}, node={"log.flush.scheduler.interval.ms": "6"})
    assert TopicConfig(config, {}).in_force("flush.ms") == (6, ConfigSource.DYNAMIC_BROKER)


def test_synonyms_are_listed_by_strength() -> None:
    config = broker({"compression.type": "lz4"}, {"compression.type": "zstd"}, {"compression.type": "gzip"})
    entry = described(TopicConfig(config, {"compression.type": "snappy"}), "compression.type")
    assert (entry.text, entry.source) == ("snappy", ConfigSource.TOPIC)
    assert entry.synonyms == (
        SourcedValue("compression.type", "snappy", ConfigSource.TOPIC),
        SourcedValue("compression.type", "gzip", ConfigSource.DYNAMIC_BROKER),
        SourcedValue("compression.type", "zstd", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        SourcedValue("compression.type", "lz4", ConfigSource.STATIC_BROKER),
        SourcedValue("compression.type", "producer", ConfigSource.DEFAULT),
    )


def test_only_the_hours_are_set_and_kafka_lists_no_synonym_of_the_milliseconds() -> None:
    config = TopicConfig(broker({"log.retention.hours": "1"}), {})
    entry = described(config, "retention.ms")
    assert (entry.text, entry.source, entry.synonyms) == (str(HOUR_MS), ConfigSource.DEFAULT, ())
    # The answer to CreateTopics names the source of the value itself.
    created = next(entry for entry in config.created() if entry.setting.name == "retention.ms")
    assert (created.text, created.source) == (str(HOUR_MS), ConfigSource.STATIC_BROKER)


def test_a_topics_own_value_is_shown_as_it_was_written() -> None:
    config = TopicConfig(broker(), {"retention.ms": " 77 "})
    assert described(config, "retention.ms").text == " 77 "
    assert config.integer("retention.ms") == 77


def test_internal_configurations_are_listed_only_where_they_are_set() -> None:
    names = [entry.setting.name for entry in TopicConfig(broker(), {}).described()]
    assert "internal.segment.bytes" not in names
    assert names == sorted(set(TOPIC_CATALOGUE) - {"internal.segment.bytes"})
    assert described(TopicConfig(broker(), {"internal.segment.bytes": "9"}), "internal.segment.bytes").text == "9"


def test_the_log_learns_what_it_needs() -> None:
    assert TopicConfig(broker(), {}).log_config() == LogConfig()
    config = TopicConfig(
        broker({"log.segment.bytes": "2097152"}),
        {"retention.bytes": "5", "cleanup.policy": "compact", "segment.ms": "7", "file.delete.delay.ms": "0"},
    )
    assert config.log_config() == LogConfig(
        segment_bytes=2_097_152,
        retention_bytes=5,
        segment_ms=7,
        file_delete_delay_ms=0,
        deletes_old_segments=False,
        compacts=True,
    )
    assert TopicConfig(broker(), {"internal.segment.bytes": "10"}).log_config().segment_bytes == 10


def test_the_log_learns_when_to_compact() -> None:
    config = TopicConfig(
        broker({"log.cleaner.min.compaction.lag.ms": "3", "log.cleaner.delete.retention.ms": "4"}),
        {"cleanup.policy": "delete,compact", "max.compaction.lag.ms": "5", "min.cleanable.dirty.ratio": "0.25"},
    )
    assert config.log_config() == LogConfig(
        compacts=True,
        delete_retention_ms=4,
        min_compaction_lag_ms=3,
        max_compaction_lag_ms=5,
        min_cleanable_dirty_ratio=0.25,
    )


def test_a_value_of_another_type_than_asked_for_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match=r"compression\.type"):
        TopicConfig(broker(), {}).integer("compression.type")


@pytest.mark.parametrize(
    ("configs", "complaint"),
    [
        ({"retention.ms": "soon"}, "retention.ms='soon': expected a whole number"),
        ({"retention.mx": "1"}, "did you mean retention.ms?"),
        ({"cleanup.policy": "delete,"}, "expected one of compact, delete"),
        ({"retention.ms": None}, "without a value: retention.ms"),
        ({"remote.storage.enable": "true"}, "no remote storage"),
        ({"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"}, "min.compaction.lag.ms=10 is above"),
        ({"leader.replication.throttled.replicas": "0:1,1"}, "PARTITION:BROKER"),
    ],
)
def test_configurations_that_a_topic_cannot_have(configs: dict[str, str | None], complaint: str) -> None:
    with pytest.raises(KafkaError) as caught:
        check_topic_configs(configs)
    assert caught.value.code is ErrorCode.INVALID_CONFIG
    assert complaint in caught.value.message


def test_configurations_that_a_topic_can_have() -> None:
    check_topic_configs({"cleanup.policy": "", "retention.ms": "-1", "leader.replication.throttled.replicas": "*"})


def test_dynamic_values_reach_those_who_act_on_settings() -> None:
    config = broker(
        {"max.connections": "5"}, {"max.connections": "6", "max.connections.per.ip": "2"}, {"max.connections": "7"}
    )
    effective = config.effective()
    assert (effective["max.connections"], effective["max.connections.per.ip"]) == (7, 2)
    assert str(effective.source("max.connections")) == "changed while running"
    assert config.static["max.connections"] == 5


def test_a_broker_describes_every_listed_setting_and_hides_secrets() -> None:
    config = broker({"ssl.keystore.password": "secret", "num.partitions": "3"})
    entries = {entry.setting.name: entry for entry in config.described()}
    assert "log.initial.task.delay.ms" not in entries
    assert entries["ssl.keystore.password"].text is None
    assert entries["ssl.keystore.password"].synonyms == (
        SourcedValue("ssl.keystore.password", None, ConfigSource.STATIC_BROKER),
    )
    partitions = entries["num.partitions"]
    assert (partitions.text, partitions.source, partitions.read_only) == ("3", ConfigSource.STATIC_BROKER, True)
    assert not entries["log.retention.ms"].read_only
