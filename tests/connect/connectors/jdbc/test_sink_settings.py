"""What the sink's settings say about values that do not fit, and the statements that they lead to."""

from __future__ import annotations

import pytest
from sqlalchemy.engine import make_url

from connect.api.plugin import PluginKind
from connect.api.settings import keys_of, read
from connect.connectors.jdbc.capabilities import GENERIC, ORACLE, SQL_SERVER, Capabilities
from connect.connectors.jdbc.identifiers import Identifiers, TableName
from connect.connectors.jdbc.plugins import PLUGINS
from connect.connectors.jdbc.sink import JdbcSink
from connect.connectors.jdbc.sink_settings import JdbcSinkSettings
from connect.connectors.jdbc.writing.rows import Target
from connect.connectors.jdbc.writing.statements import Statements
from connect.errors import InvalidSettings
from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.connect.connectors.jdbc.writing import BY_KEY, jdbc_sink, order, rows, write

VALID = {"connection.url": "jdbc:sqlite:x.db"}


@pytest.mark.parametrize(
    ("given", "name", "message"),
    [
        ({"insert.mode": "upserts"}, "insert.mode", "did you mean upsert?"),
        ({"insert.mode": "upsert"}, "pk.mode", "insert.mode=upsert needs a key"),
        ({"insert.mode": "UPDATE"}, "pk.mode", "insert.mode=update needs a key"),
        ({"delete.enabled": "true"}, "delete.enabled", "set pk.mode=record_key"),
        ({"pk.mode": "kafka", "pk.fields": "a,b"}, "pk.fields", "three names"),
        ({"table.name.format": " "}, "table.name.format", "names no table"),
        ({"batch.size": "0"}, "batch.size", "at least 1"),
        ({"connection.url": "jdbc:x"}, "connection.url", "cannot be used"),
        ({"timestamp.precision.mode": "hours"}, "timestamp.precision.mode", "expected one of"),
    ],
)
def test_a_value_that_does_not_fit_is_named(given: dict[str, str], name: str, message: str) -> None:
    with pytest.raises(InvalidSettings) as raised:
        read(JdbcSinkSettings, VALID | given)
    (problem,) = [problem for problem in raised.value.problems if problem.name == name]
    assert message in problem.message


def test_a_configuration_of_the_java_connector_is_taken_whole() -> None:
    given = {
        "insert.mode": "UPSERT",
        "batch.size": "3000",
        "delete.enabled": "true",
        "table.types": "TABLE,PARTITIONED TABLE",
        "table.name.format": "kafka_${topic}",
        "pk.mode": "record_key",
        "pk.fields": "id",
        "fields.whitelist": "a,b",
        "auto.create": "true",
        "auto.evolve": "true",
        "replace.null.with.default": "false",
        "string.output.value.column.name": "v",
        "timestamp.fields.list": "a",
        "timestamp.precision.mode": "nanoseconds",
        "date.timezone": "UTC",
        "max.retries": "3",
        "retry.backoff.ms": "1",
        "mssql.use.merge.holdlock": "false",
        "trim.sensitive.log": "true",
        "dialect.name": "SqliteDatabaseDialect",
    }
    settings = read(JdbcSinkSettings, VALID | given)
    assert settings.table_for("t") == "kafka_t"
    catalogue = keys_of(JdbcSinkSettings)
    assert all(catalogue.find(name) is not None for name in given)


def test_the_plugin_has_the_names_of_the_java_connectors() -> None:
    (plugin,) = [plugin for plugin in PLUGINS if plugin.kind is PluginKind.SINK]
    assert plugin.class_name == "io.confluent.connect.jdbc.JdbcSinkConnector"
    assert "io.aiven.connect.jdbc.JdbcSinkConnector" in plugin.aliases
    assert isinstance(plugin.made_by(read(JdbcSinkSettings, VALID)), JdbcSink)


SQL_SERVER_MERGE = (
    "MERGE INTO [s].[t] WITH (HOLDLOCK) AS target USING (SELECT %s AS [a%%b], %s AS [c] ) AS staged "
    "ON (target.[a%%b] = staged.[a%%b]) WHEN MATCHED THEN UPDATE SET target.[c] = staged.[c] "
    "WHEN NOT MATCHED THEN INSERT ([a%%b], [c]) VALUES (staged.[a%%b], staged.[c]);"
)
ORACLE_MERGE = (
    'MERGE INTO "s"."t" target USING (SELECT :1 AS "a%b", :2 AS "c" FROM DUAL) staged '
    'ON (target."a%b" = staged."a%b") WHEN MATCHED THEN UPDATE SET target."c" = staged."c" '
    'WHEN NOT MATCHED THEN INSERT ("a%b", "c") VALUES (staged."a%b", staged."c")'
)


def identifiers(driver: str, style: str) -> Identifiers:
    dialect = make_url(f"{driver}://").get_dialect()()
    dialect.paramstyle = style
    return Identifiers(dialect)


@pytest.mark.parametrize(
    ("driver", "style", "capabilities", "expected"),
    [
        ("mssql+pymssql", "pyformat", SQL_SERVER, SQL_SERVER_MERGE),
        ("oracle+oracledb", "named", ORACLE, ORACLE_MERGE),
    ],
)
def test_merge_in_the_words_of_each_database(
    driver: str, style: str, capabilities: Capabilities, expected: str
) -> None:
    statements = Statements(capabilities, identifiers(driver, style))
    assert statements.upsert(Target(TableName("s", "t"), ("a%b", "c"), 1)) == expected


def test_merge_may_go_without_the_lock() -> None:
    statements = Statements(SQL_SERVER, identifiers("mssql+pymssql", "pyformat"), uses_holdlock=False)
    assert "HOLDLOCK" not in statements.upsert(Target(TableName(None, "t"), ("a", "c"), 1))


def test_a_database_of_which_nothing_is_known_has_upserts(sqlite: SampleDatabase) -> None:
    with jdbc_sink(sqlite, BY_KEY, insert_mode="upsert", dialect_name="GenericDatabaseDialect") as sink:
        assert sink._database.capabilities is GENERIC
        write(sink, [order(1), order(2), order(1, "b")])
        write(sink, [order(2, "c")])
    assert rows(sqlite) == [(1, "b", 1.5), (2, "c", 1.5)]
