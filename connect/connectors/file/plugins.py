"""The plugins of this package."""

from __future__ import annotations

from typing import Final

from connect.api.plugin import Plugin, PluginKind
from connect.connectors.file.sink import FileSink
from connect.connectors.file.source import FileSource
from connect.version import VERSION

PLUGINS: Final = (
    Plugin(
        PluginKind.SOURCE,
        "file-source",
        "org.apache.kafka.connect.file.FileStreamSourceConnector",
        FileSource.settings_type,
        FileSource,
        VERSION,
        doc="Follows files: lines of text, CSV or JSON.",
    ),
    Plugin(
        PluginKind.SINK,
        "file-sink",
        "org.apache.kafka.connect.file.FileStreamSinkConnector",
        FileSink.settings_type,
        FileSink,
        VERSION,
        doc="Appends a line for each record.",
    ),
)
