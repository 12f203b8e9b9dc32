"""The configuration of a topic as it is in force: its own values, over those of the broker that stand in for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Value
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.configs.broker_config import BrokerConfig, InForce
from core_broker.configs.described import ConfigSource, Described, SourcedValue, describe
from core_broker.configs.setting import Synonym, TopicSetting
from core_broker.configs.topics import TOPIC_CATALOGUE
from core_broker.log.config import LogConfig

UNLIMITED = -1

TypedT = TypeVar("TypedT")


class TopicConfig:
    """The values of one topic. Read it while the topic's and the broker's configuration stay as they are; then make a new one."""

    def __init__(self, broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
        self._broker = broker
        self._overrides = overrides

    def in_force(self, name: str) -> InForce:
        """The topic's own value, else the first of the broker's that somebody set, at run time before at start, else the default."""
        setting = TOPIC_CATALOGUE[name]
        own = self._overrides.get(name)
        if own is not None:
            return InForce(setting.read(own), ConfigSource.TOPIC)
        strongest: tuple[Synonym, InForce] | None = None
        for synonym in setting.synonyms:
            if self._broker.is_set(synonym.name):
                found = self._broker.in_force(synonym.name)
                if strongest is None or found.source < strongest[1].source:
                    strongest = synonym, found
        if strongest is None:
            return InForce(setting.default_value(), ConfigSource.DEFAULT)
        synonym, found = strongest
        return InForce(_converted(found.value, synonym.factor), found.source)

    def integer(self, name: str) -> int:
        return _typed(name, self.in_force(name).value, int)

    def boolean(self, name: str) -> bool:
        return _typed(name, self.in_force(name).value, bool)

    def number(self, name: str) -> float:
        return _typed(name, self.in_force(name).value, float)

    def text(self, name: str) -> str:
        return _typed(name, self.in_force(name).value, str)

    def items_of(self, name: str) -> tuple[str, ...]:
        return _typed(name, self.in_force(name).value, tuple)

    def log_config(self) -> LogConfig:
        """What the partition's log needs to know."""
        segment_bytes = self.in_force("internal.segment.bytes").value
        return LogConfig(
            segment_bytes=self.integer("segment.bytes") if segment_bytes is None else _typed("", segment_bytes, int),
            segment_ms=self.integer("segment.ms"),
            segment_jitter_ms=self.integer("segment.jitter.ms"),
            segment_index_bytes=self.integer("segment.index.bytes"),
            index_interval_bytes=self.integer("index.interval.bytes"),
            retention_ms=max(self.integer("retention.ms"), UNLIMITED),
            retention_bytes=max(self.integer("retention.bytes"), UNLIMITED),
            file_delete_delay_ms=self.integer("file.delete.delay.ms"),
            deletes_old_segments="delete" in self.items_of("cleanup.policy"),
            compacts="compact" in self.items_of("cleanup.policy"),
            delete_retention_ms=self.integer("delete.retention.ms"),
            min_compaction_lag_ms=self.integer("min.compaction.lag.ms"),
            max_compaction_lag_ms=self.integer("max.compaction.lag.ms"),
            min_cleanable_dirty_ratio=self.number("min.cleanable.dirty.ratio"),
        )

    def described(self) -> Iterator[Described]:
        """Every configuration, as DescribeConfigs lists them."""
        for setting in self._listed():
            text = self._text(setting, self.in_force(setting.name).value)
            synonyms = self._broker.synonyms(setting.synonyms[0].name) if setting.synonyms else []
            if setting.name in self._overrides:
                synonyms.insert(0, SourcedValue(setting.name, text, ConfigSource.TOPIC))
            yield describe(setting, text, synonyms)

    def created(self) -> Iterator[Described]:
        """Every configuration, as the answer to CreateTopics lists them: with the source of the value itself."""
        for setting in self._listed():
            value, source = self.in_force(setting.name)
            yield Described(setting, self._text(setting, value), source, ())

    def _listed(self) -> Iterator[TopicSetting]:
        for name, setting in sorted(TOPIC_CATALOGUE.items()):
            if not setting.internal or name in self._overrides:
                yield setting

    def _text(self, setting: TopicSetting, value: Value) -> str | None:
        own = self._overrides.get(setting.name)
        return setting.format(value) if own is None else own


def check_topic_configs(configs: Mapping[str, str | None]) -> None:
    """Whether a topic may have exactly these configurations of its own; KafkaError says which one may not be, and why."""
    without_value = sorted(name for name, text in configs.items() if text is None)
    if without_value:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"topic configurations without a value: {', '.join(without_value)}; leave them out to have their defaults",
        )
    values = {name: _parse(name, text or "") for name, text in configs.items()}
    shortest, longest = (
        values.get(name, TOPIC_CATALOGUE[name].default) for name in ("min.compaction.lag.ms", "max.compaction.lag.ms")
    )
    if isinstance(shortest, int) and isinstance(longest, int) and shortest > longest:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"min.compaction.lag.ms={shortest} is above max.compaction.lag.ms={longest}; raise the one or lower the other",
        )


def _parse(name: str, text: str) -> Value:
    try:
        return TOPIC_CATALOGUE.require(name, text).parse(text)
    except SettingError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None


def _converted(value: Value, factor: int) -> Value:
    if factor == 1 or not isinstance(value, int):
        return value
    return max(value * factor, UNLIMITED)


def _typed(name: str, value: Value, expected: type[TypedT]) -> TypedT:
    if not isinstance(value, expected):
        raise TypeError(f"topic configuration {name} is {value!r}, which is not of the type that the caller expects")
    return value
