"""The configurations of groups and of client metrics subscriptions as DescribeConfigs shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core_broker.configs.broker_config import BrokerConfig
from core_broker.configs.described import ConfigSource, Described, SourcedValue, describe
from core_broker.configs.group_overrides import GROUP_CATALOGUE
from core_broker.configs.metrics import CLIENT_METRICS_CATALOGUE


def described_group(broker: BrokerConfig, own: Mapping[str, str]) -> Iterator[Described]:
    """A group's own values, over those of the broker."""
    for name, setting in sorted(GROUP_CATALOGUE.items()):
        if setting.synonym is None:
            default = setting.format(setting.default_value())
            synonyms = [SourcedValue(name, default, ConfigSource.DEFAULT)]
        else:
            synonyms = broker.synonyms(setting.synonym)
        if name in own:
            synonyms.insert(0, SourcedValue(name, own[name], ConfigSource.GROUP))
        yield describe(setting, synonyms[0].text, synonyms)


def described_client_metrics(own: Mapping[str, str]) -> Iterator[Described]:
    for name, setting in sorted(CLIENT_METRICS_CATALOGUE.items()):
        default = setting.format(setting.default_value())
        synonyms = [SourcedValue(name, own[name], ConfigSource.CLIENT_METRICS)] if name in own else []
        yield describe(setting, own.get(name, default), synonyms)
