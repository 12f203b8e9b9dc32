"""What the source's settings say about values that do not fit."""

from __future__ import annotations

import pytest

from connect.api.plugin import PluginKind
from connect.api.settings import keys_of, read
from connect.connectors.jdbc.plugins import PLUGINS
from connect.connectors.jdbc.source_settings import JdbcSourceSettings
from connect.errors import InvalidSettings

VALID = {"connection.url": "jdbc:sqlite:x.db", "topic.prefix": "t-", "mode": "bulk"}


@pytest.mark.parametrize(
    ("given", "name", "message"),
    [
        ({"mode": "increment"}, "mode", "did you mean incrementing?"),
        ({"connection.url": "jdbc:db2://h/x"}, "connection.url", "no kind of database"),
        ({"db.timezone": "Mars/Olympus"}, "db.timezone", "no time zone"),
        ({"dialect.name": "x"}, "dialect.name", "is not one of PostgreSqlDatabaseDialect"),
        ({"mode": "timestamp"}, "timestamp.column.name", "needs the name of a column"),
        ({"mode": "incrementing", "query": "SELECT 1"}, "incrementing.column.name", "of the query"),
        ({"query": "SELECT 1", "table.whitelist": "a"}, "query", "together with table.whitelist"),
        ({"query": "SELECT 1", "query.masked": "SELECT 2"}, "query.masked", "together with query"),
        ({"table.whitelist": "a", "table.blacklist": "b"}, "table.blacklist", "together with table.whitelist"),
        ({"table.whitelist": "a", "table.include.list": "b"}, "table.include.list", "together with table.whitelist"),
        ({"table.include.list": "("}, "table.include.list", "'(' is no pattern: missing )"),
        ({"incrementing.column.mapping": "x"}, "incrementing.column.mapping", "pattern:column"),
        ({"timestamp.columns.mapping": "(:[a]"}, "timestamp.columns.mapping", "'(' is no pattern: missing )"),
        ({"timestamp.lookback.ms": "5"}, "timestamp.lookback.ms", "no times"),
        ({"incrementing.lookback": "5"}, "incrementing.lookback", "belongs to mode incrementing"),
        ({"batch.max.rows": "0"}, "batch.max.rows", "at least 1"),
        ({"transaction.isolation.mode": "NONE"}, "transaction.isolation.mode", "expected one of"),
    ],
)
def test_a_value_that_does_not_fit_is_named(given: dict[str, str], name: str, message: str) -> None:
    with pytest.raises(InvalidSettings) as raised:
        read(JdbcSourceSettings, VALID | given)
    (problem,) = [problem for problem in raised.value.problems if problem.name == name]
    assert message in problem.message


def test_a_configuration_of_the_java_connector_is_taken_whole() -> None:
    given = {
        "connection.user": "u",
        "connection.password": "p",
        "connection.ssl": "true",
        "connection.attempts": "5",
        "dialect.name": "PostgreSqlDatabaseDialect",
        "jdbc.credentials.provider.class": "x.Y",
        "max.buffer.size": "10",
        "poll.linger.ms": "1",
        "table.monitoring.startup.polling.limit.ms": "1",
        "date.calendar.system": "PROLEPTIC_GREGORIAN",
        "numeric.precision.mapping": "true",
        "quote.sql.identifiers": "NEVER",
    }
    settings = read(JdbcSourceSettings, VALID | {"connection.url": "jdbc:postgresql://h/db"} | given)
    assert settings.database_url().url.query == {"sslmode": "verify-full"}
    catalogue = keys_of(JdbcSourceSettings)
    assert all(catalogue.find(name) is not None for name in given)
    assert catalogue.require("connection.sslpassword").hidden


def test_the_plugin_has_the_names_of_the_java_connectors() -> None:
    (source,) = [plugin for plugin in PLUGINS if plugin.kind is PluginKind.SOURCE]
    assert source.class_name == "io.confluent.connect.jdbc.JdbcSourceConnector"
    assert set(source.aliases) == {"JdbcSource", "io.aiven.connect.jdbc.JdbcSourceConnector"}
