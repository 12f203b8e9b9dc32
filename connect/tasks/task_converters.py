"""The converters of a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from connect.api.plugin import Plugin, PluginKind
from connect.api.settings import read
from connect.config.definition import REGISTRY_URL
from connect.converters.converter import Converter, HeaderConverter
from connect.errors import ConnectError
from connect.plugins.catalogue import Plugins
from connect.tasks.clients import given_settings

KEY: Final = "key.converter"
VALUE: Final = "value.converter"
HEADER: Final = "header.converter"
DEFAULT_HEADER_CONVERTER: Final = "org.apache.kafka.connect.storage.SimpleHeaderConverter"


class Converters(NamedTuple):
    key: Converter
    value: Converter
    headers: HeaderConverter


def converters_of(config: Mapping[str, str], worker: Mapping[str, str], plugins: Plugins) -> Converters:
    """The connector's, and the worker's where the connector names none. Settings come from where the class is named; only
    the address of the registry need not stand there."""
    key, key_settings = _named(KEY, PluginKind.CONVERTER, config, worker, plugins)
    value, value_settings = _named(VALUE, PluginKind.CONVERTER, config, worker, plugins)
    header, header_settings = _named(HEADER, PluginKind.HEADER_CONVERTER, config, worker, plugins)
    return Converters(
        key.made_by(key_settings, is_key=True),
        value.made_by(value_settings, is_key=False),
        header.made_by(header_settings),
    )


def _named(
    prefix: str, kind: PluginKind, config: Mapping[str, str], worker: Mapping[str, str], plugins: Plugins
) -> tuple[Plugin, Any]:
    source = config if prefix in config else worker
    name = source.get(prefix, DEFAULT_HEADER_CONVERTER if prefix == HEADER else None)
    if name is None:
        raise ConnectError(f"neither the connector nor the worker names a {prefix}")
    plugin = plugins.find(name, (kind,))
    registry = {REGISTRY_URL: worker[REGISTRY_URL]} if REGISTRY_URL in worker else {}
    return plugin, read(plugin.settings_type, {**registry, **given_settings(source, f"{prefix}.")})
