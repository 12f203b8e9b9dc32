"""The plugin of this package."""

from __future__ import annotations

from typing import Final

from connect.api.plugin import Plugin, PluginKind
from connect.connectors.datagen.source import DatagenSource
from connect.version import VERSION

PLUGINS: Final = (
    Plugin(
        PluginKind.SOURCE,
        "datagen",
        "io.confluent.kafka.connect.datagen.DatagenConnector",
        DatagenSource.settings_type,
        DatagenSource,
        VERSION,
        doc="Makes records up.",
    ),
)
