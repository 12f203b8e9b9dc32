"""The JDBC connectors. They are loaded when one is configured, since SQLAlchemy is large."""

from __future__ import annotations

from typing import Final

from connect.api.plugin import Plugin, PluginKind
from connect.version import VERSION

PLUGINS: Final = (
    Plugin(
        PluginKind.SOURCE,
        "jdbc-source",
        "io.confluent.connect.jdbc.JdbcSourceConnector",
        "connect.connectors.jdbc.source_settings:JdbcSourceSettings",
        "connect.connectors.jdbc.source:JdbcSource",
        VERSION,
        aliases=("JdbcSource", "io.aiven.connect.jdbc.JdbcSourceConnector"),
        doc="Reads rows of tables, or of a query, from a database.",
    ),
    Plugin(
        PluginKind.SINK,
        "jdbc-sink",
        "io.confluent.connect.jdbc.JdbcSinkConnector",
        "connect.connectors.jdbc.sink_settings:JdbcSinkSettings",
        "connect.connectors.jdbc.sink:JdbcSink",
        VERSION,
        aliases=("JdbcSink", "io.aiven.connect.jdbc.JdbcSinkConnector", "io.debezium.connector.jdbc.JdbcSinkConnector"),
        doc="Writes records to tables of a database.",
    ),
)
