"""The columns that are made for records, and names in statements."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine

from connect.connectors.jdbc.capabilities import (
    DUCKDB,
    GENERIC,
    MYSQL,
    POSTGRESQL,
    SQL_SERVER,
    SQLITE,
    Capabilities,
    capabilities_of,
)
from connect.connectors.jdbc.column_types import column_type
from connect.connectors.jdbc.identifiers import Identifiers, QuoteMode, TableName, parse_table_name
from connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE_SCHEMA,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    array_of,
    decimal,
    map_of,
)
from connect.errors import ConnectError


@pytest.mark.parametrize(
    ("schema", "in_postgresql", "in_mysql", "in_sqlite"),
    [
        (INT8, "SMALLINT", "TINYINT", "INTEGER"),
        (INT16, "SMALLINT", "SMALLINT", "INTEGER"),
        (INT32, "INT", "INT", "INTEGER"),
        (INT64, "BIGINT", "BIGINT", "INTEGER"),
        (FLOAT32, "REAL", "FLOAT", "REAL"),
        (FLOAT64, "DOUBLE PRECISION", "DOUBLE", "REAL"),
        (BOOLEAN, "BOOLEAN", "TINYINT", "INTEGER"),
        (STRING, "TEXT", "TEXT", "TEXT"),
        (BYTES, "BYTEA", "VARBINARY(1024)", "BLOB"),
        (decimal(2), "DECIMAL", "DECIMAL(65, 2)", "NUMERIC"),
        (DATE_SCHEMA, "DATE", "DATE", "NUMERIC"),
        (TIME_SCHEMA, "TIME", "TIME(3)", "NUMERIC"),
        (TIMESTAMP_SCHEMA, "TIMESTAMP", "DATETIME(3)", "NUMERIC"),
    ],
)
def test_each_schema_has_a_column_type(schema: Schema, in_postgresql: str, in_mysql: str, in_sqlite: str) -> None:
    assert column_type(schema, POSTGRESQL) == in_postgresql
    assert column_type(schema, MYSQL) == in_mysql
    assert column_type(schema, SQLITE) == in_sqlite


def test_arrays_and_keys_have_types_where_the_database_has_them() -> None:
    assert column_type(array_of(INT32), POSTGRESQL) == "INT[]"
    assert column_type(array_of(STRING), DUCKDB) == "VARCHAR[]"
    assert column_type(STRING, MYSQL, is_key=True) == "VARCHAR(256)"
    assert column_type(STRING, POSTGRESQL, is_key=True) == "TEXT"


@pytest.mark.parametrize(("schema", "capabilities"), [(array_of(INT32), MYSQL), (map_of(STRING, INT32), POSTGRESQL)])
def test_a_type_that_no_column_holds_is_told(schema: Schema, capabilities: Capabilities) -> None:
    with pytest.raises(ConnectError, match="no column type for a field of type"):
        column_type(schema, capabilities)


@pytest.mark.parametrize(
    ("backend", "dialect_name", "expected"),
    [
        ("mariadb", "", MYSQL),
        ("postgresql", "", POSTGRESQL),
        ("cockroachdb", "", GENERIC),
        ("cockroachdb", "PostgreSqlDatabaseDialect", POSTGRESQL),
        ("mssql", "", SQL_SERVER),
    ],
)
def test_a_database_has_the_capabilities_of_its_kind(backend: str, dialect_name: str, expected: Capabilities) -> None:
    assert capabilities_of(backend, dialect_name) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t", TableName(None, "t")),
        ("s.t", TableName("s", "t")),
        ("c.s.t", TableName("c.s", "t")),
        ('"my.schema"."my table"', TableName("my.schema", "my table")),
        ("`db`.`t`", TableName("db", "t")),
        ("[dbo].[t]", TableName("dbo", "t")),
    ],
)
def test_names_of_tables_are_read(text: str, expected: TableName) -> None:
    assert parse_table_name(text) == expected


def test_names_are_quoted_as_the_dialect_does() -> None:
    postgresql = create_engine("postgresql+psycopg://").dialect
    names = Identifiers(postgresql)
    assert names.table(TableName("s", 'a"b')) == '"s"."a""b"'
    assert names.column("100%") == '"100%"'
    assert Identifiers(create_engine("mysql+pymysql://").dialect).columns(["a", "b"]) == "`a`, `b`"
    assert Identifiers(postgresql, QuoteMode.NEVER).table(TableName("s", "T")) == "s.T"
