"""A configuration as DescribeConfigs shows it: its value, where the value comes from, and what would stand in for it."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from barnabas.kernel.settings import Kind
from core_broker.configs.setting import KafkaSetting


class ConfigSource(IntEnum):
    """Where a value comes from, with Kafka's wire codes."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


KIND_CODES = {
    Kind.BOOLEAN: 1,
    Kind.STRING: 2,
    Kind.INT: 3,
    Kind.SHORT: 4,
    Kind.LONG: 5,
    Kind.DOUBLE: 6,
    Kind.LIST: 7,
    Kind.CLASS: 8,
    Kind.PASSWORD: 9,
}


class SourcedValue(NamedTuple):
    """A value under the name and at the place where it stands."""

    name: str
    text: str | None
    source: ConfigSource


class Described(NamedTuple):
    """`text` is None where there is no value, and where it must not be shown. `synonyms` begins with what is in force."""

    setting: KafkaSetting
    text: str | None
    source: ConfigSource
    synonyms: tuple[SourcedValue, ...]
    read_only: bool = False


def describe(
    setting: KafkaSetting, text: str | None, synonyms: list[SourcedValue], *, read_only: bool = False
) -> Described:
    """As Kafka does it: the source is that of the first synonym, also where the value was computed from another one."""
    if setting.hidden:
        text = None
        synonyms = [synonym._replace(text=None) for synonym in synonyms]
    source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
    return Described(setting, text, source, tuple(synonyms), read_only)
