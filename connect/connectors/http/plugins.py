"""The plugin of this package. The sink is loaded when one is made, since its client is large."""

from __future__ import annotations

from typing import Final

from connect.api.plugin import Plugin, PluginKind
from connect.connectors.http.settings import HttpSinkSettings
from connect.version import VERSION

PLUGINS: Final = (
    Plugin(
        PluginKind.SINK,
        "http-sink",
        "io.aiven.kafka.connect.http.HttpSinkConnector",
        HttpSinkSettings,
        "connect.connectors.http.sink:HttpSink",
        VERSION,
        doc="Sends records to an HTTP service.",
    ),
)
