"""The configuration of the broker as it is in force: what was given at start, below what was changed since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from barnabas.kernel.settings import Origin, Settings, Source, Value
from core_broker.configs.broker import BROKER_CATALOGUE, DYNAMIC_CATALOGUE
from core_broker.configs.described import ConfigSource, Described, SourcedValue, describe
from core_broker.configs.setting import UpdateMode

# Settings that stand in for each other, the strongest first.
_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "log.roll.ms": ("log.roll.ms", "log.roll.hours"),
    "log.roll.hours": ("log.roll.ms", "log.roll.hours"),
    "log.roll.jitter.ms": ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    "log.roll.jitter.hours": ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    "log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    "log.retention.ms": ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    "log.retention.minutes": ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    "log.retention.hours": ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
}

DYNAMIC_SOURCE = Source(Origin.FLAG, "changed while running")


class InForce(NamedTuple):
    """A value with the place that it comes from."""

    value: Value
    source: ConfigSource


class BrokerConfig:
    """Three layers: `node` (set for this broker at run time) over `cluster` (set for all at run time) over `static`."""

    def __init__(self, static: Settings, cluster: Mapping[str, str], node: Mapping[str, str]) -> None:
        self.static = static
        self.cluster = cluster
        self.node = node

    def effective(self) -> Settings:
        """The settings with the changes in them, for whoever acts on them."""
        settings = self.static
        for layer in (self.cluster, self.node):
            for name, text in layer.items():
                if settings.catalogue.find(name) is not None:
                    settings = settings.replaced(name, _read(name, text), DYNAMIC_SOURCE)
        return settings

    def in_force(self, name: str) -> InForce:
        for layer, source in self._dynamic_layers():
            if name in layer:
                return InForce(_read(name, layer[name]), source)
        given = self.static.is_given(name)
        return InForce(self.static[name], ConfigSource.STATIC_BROKER if given else ConfigSource.DEFAULT)

    def is_set(self, name: str) -> bool:
        """Whether somebody set this, at start or since."""
        return name in self.node or name in self.cluster or self.static.is_given(name)

    def synonyms(self, name: str) -> list[SourcedValue]:
        """Every value that this setting and its stand-ins have, by strength. What is stronger than the setting's own first
        value is left out, as in Kafka: so log.retention.ms has no synonyms while only log.retention.hours is set."""
        names = _SYNONYMS.get(name, (name,))
        found = [
            SourcedValue(synonym, layer[synonym], source)
            for layer, source in self._dynamic_layers()
            for synonym in names
            if synonym in layer
        ]
        for synonym in names:
            if self.static.is_given(synonym):
                setting = DYNAMIC_CATALOGUE.require(synonym)
                text = setting.format(self.static[synonym])
                found.append(SourcedValue(synonym, text, ConfigSource.STATIC_BROKER))
        for synonym in names:
            default = _default_text(synonym)
            if default is not None:
                found.append(SourcedValue(synonym, default, ConfigSource.DEFAULT))
        first = next((position for position, value in enumerate(found) if value.name == name), len(found))
        return found[first:]

    def described(self) -> Iterator[Described]:
        """Every configuration of this broker that Kafka would list."""
        for name, setting in sorted(BROKER_CATALOGUE.items()):
            if not setting.internal and not setting.many:
                text = setting.format(self.in_force(name).value)
                yield describe(setting, text, self.synonyms(name), read_only=setting.mode is UpdateMode.READ_ONLY)

    def described_cluster(self) -> Iterator[Described]:
        """What was set at run time for all brokers."""
        for name, text in sorted(self.cluster.items()):
            setting = DYNAMIC_CATALOGUE.find(name)
            if setting is not None:
                value = SourcedValue(name, text, ConfigSource.DYNAMIC_DEFAULT_BROKER)
                yield describe(setting, text, [value], read_only=setting.mode is UpdateMode.READ_ONLY)

    def _dynamic_layers(self) -> tuple[tuple[Mapping[str, str], ConfigSource], ...]:
        return (self.node, ConfigSource.DYNAMIC_BROKER), (self.cluster, ConfigSource.DYNAMIC_DEFAULT_BROKER)


def _read(name: str, text: str) -> Value:
    return DYNAMIC_CATALOGUE.require(name).read(text)


def _default_text(name: str) -> str | None:
    setting = DYNAMIC_CATALOGUE.require(name)
    return setting.format(setting.default_value())
