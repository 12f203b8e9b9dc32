"""What databases can do, in one record for each, so that no other module asks which database it talks to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from connect.connectors.jdbc.identifiers import TableName


class Upsert(Enum):
    """How a row is written whose key may exist already."""

    ON_CONFLICT = "INSERT … ON CONFLICT (key) DO UPDATE SET column = excluded.column"
    ON_DUPLICATE_KEY = "INSERT … ON DUPLICATE KEY UPDATE column = VALUES(column)"
    MERGE = "MERGE INTO … USING … WHEN MATCHED … WHEN NOT MATCHED"
    EMULATED = "UPDATE, then INSERT where there was no row"


class BulkPath(Enum):
    """The quickest way of many rows into a table."""

    COPY = "COPY … FROM STDIN"
    LOAD_DATA = "LOAD DATA LOCAL INFILE"
    UNNEST = "INSERT … SELECT unnest(column), …"
    EXECUTE_MANY = "the driver's executemany"


class StreamingRead(Enum):
    """How the driver reads a long answer without keeping all of it in memory."""

    NAMED_CURSOR = "a cursor with a name, which lives in the server"
    UNBUFFERED_CURSOR = "a cursor that leaves rows in the network"
    ANY_CURSOR = "each cursor does"


class ColumnSource(Enum):
    """Who knows the columns of a table."""

    INSPECTOR = "SQLAlchemy's inspector"
    INFORMATION_SCHEMA = "the standard's views, in the words of DuckDB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """`session` are statements for each new connection; `now` is a query for the database's clock; `limit` ends a query that wants
    no more than so many rows. `column_types` are the names of column types for new tables, by Connect's types and logical names.
    """

    name: str
    upsert: Upsert = Upsert.EMULATED
    bulk_path: BulkPath = BulkPath.EXECUTE_MANY
    streaming_read: StreamingRead = StreamingRead.ANY_CURSOR
    column_source: ColumnSource = ColumnSource.INSPECTOR
    has_arrays: bool = False
    has_native_boolean: bool = True
    has_loose_types: bool = False
    """Whether a column may hold values of any type: times are what somebody wrote, text or numbers."""
    has_infinite_times: bool = False
    has_blocking_reads: bool = False
    """Whether nobody can write while an answer is being read."""
    has_merge_holdlock: bool = False
    has_savepoints: bool = True
    has_session_timestamps: bool = False
    """Whether a TIMESTAMP is a time that each session sees in its own time zone, unlike a DATETIME."""
    begin: str = ""
    """What begins a transaction that writes, where the driver begins it too late."""
    row_lock: str = " FOR UPDATE"
    """What stands behind a SELECT to keep others from its rows."""
    add_column: str = "ADD COLUMN"
    key_text_type: str | None = None
    """The type of text in a primary key, where the usual one cannot be in an index."""
    now: str = "SELECT CURRENT_TIMESTAMP"
    limit: str = "LIMIT {rows}"
    subquery_alias: str = "AS "
    session: tuple[str, ...] = ()
    text_types: tuple[str, ...] = ()
    """Types whose values are read as the database writes them, and not made into objects by the driver."""
    own_schema_only: bool = False
    """Whether tables are looked for in the schema of the connection alone, unless a pattern names others."""
    default_schema: str | None = None
    """The schema whose name is not part of a table's full name."""
    system_schemas: frozenset[str] = frozenset()
    column_types: Mapping[str, str] = field(default_factory=dict)

    def full_name(self, table: TableName) -> TableName:
        return TableName(None, table.name) if table.schema == self.default_schema else table


_POSTGRESQL_TEXT_TYPES: Final = (
    "json", "jsonb", "uuid", "inet", "cidr", "interval", "timetz",
    "int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange",
    "int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange", "tstzmultirange",
)  # fmt: skip
POSTGRESQL: Final = Capabilities(
    name="postgresql",
    upsert=Upsert.ON_CONFLICT,
    bulk_path=BulkPath.COPY,
    streaming_read=StreamingRead.NAMED_CURSOR,
    has_arrays=True,
    has_infinite_times=True,
    session=("SET TIME ZONE 'UTC'",),
    text_types=_POSTGRESQL_TEXT_TYPES,
    system_schemas=frozenset({"information_schema", "pg_catalog", "pg_toast"}),
    column_types={
        "int8": "SMALLINT",
        "int16": "SMALLINT",
        "int32": "INT",
        "int64": "BIGINT",
        "float": "REAL",
        "double": "DOUBLE PRECISION",
        "boolean": "BOOLEAN",
        "string": "TEXT",
        "bytes": "BYTEA",
        "decimal": "DECIMAL",
        "date": "DATE",
        "time": "TIME",
        "timestamp": "TIMESTAMP",
    },
)
MYSQL: Final = Capabilities(
    name="mysql",
    has_session_timestamps=True,
    upsert=Upsert.ON_DUPLICATE_KEY,
    bulk_path=BulkPath.LOAD_DATA,
    streaming_read=StreamingRead.UNBUFFERED_CURSOR,
    has_native_boolean=False,
    key_text_type="VARCHAR(256)",
    now="SELECT UTC_TIMESTAMP(6)",
    session=("SET time_zone = '+00:00'",),
    own_schema_only=True,
    system_schemas=frozenset({"information_schema", "mysql", "performance_schema", "sys"}),
    column_types={
        "int8": "TINYINT",
        "int16": "SMALLINT",
        "int32": "INT",
        "int64": "BIGINT",
        "float": "FLOAT",
        "double": "DOUBLE",
        "boolean": "TINYINT",
        "string": "TEXT",
        "bytes": "VARBINARY(1024)",
        "decimal": "DECIMAL(65, {scale})",
        "date": "DATE",
        "time": "TIME(3)",
        "timestamp": "DATETIME(3)",
    },
)
SQLITE: Final = Capabilities(
    name="sqlite",
    begin="BEGIN IMMEDIATE",
    row_lock="",
    upsert=Upsert.ON_CONFLICT,
    has_loose_types=True,
    has_blocking_reads=True,
    has_native_boolean=False,
    now="SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')",
    own_schema_only=True,
    default_schema="main",
    column_types={
        "int8": "INTEGER",
        "int16": "INTEGER",
        "int32": "INTEGER",
        "int64": "INTEGER",
        "float": "REAL",
        "double": "REAL",
        "boolean": "INTEGER",
        "string": "TEXT",
        "bytes": "BLOB",
        "decimal": "NUMERIC",
        "date": "NUMERIC",
        "time": "NUMERIC",
        "timestamp": "NUMERIC",
    },
)
DUCKDB: Final = Capabilities(
    name="duckdb",
    has_savepoints=False,
    row_lock="",
    upsert=Upsert.ON_CONFLICT,
    bulk_path=BulkPath.UNNEST,
    column_source=ColumnSource.INFORMATION_SCHEMA,
    has_arrays=True,
    now="SELECT now()::TIMESTAMP",
    session=("SET TimeZone = 'UTC'",),
    default_schema="main",
    system_schemas=frozenset({"information_schema", "pg_catalog"}),
    column_types={
        "int8": "TINYINT",
        "int16": "SMALLINT",
        "int32": "INTEGER",
        "int64": "BIGINT",
        "float": "FLOAT",
        "double": "DOUBLE",
        "boolean": "BOOLEAN",
        "string": "VARCHAR",
        "bytes": "BLOB",
        "decimal": "DECIMAL(38, {scale})",
        "date": "DATE",
        "time": "TIME",
        "timestamp": "TIMESTAMP",
    },
)
SQL_SERVER: Final = Capabilities(
    name="mssql",
    row_lock="",
    add_column="ADD",
    upsert=Upsert.MERGE,
    has_native_boolean=False,
    has_merge_holdlock=True,
    key_text_type="varchar(900)",
    now="SELECT SYSUTCDATETIME()",
    limit="OFFSET 0 ROWS FETCH NEXT {rows} ROWS ONLY",
    system_schemas=frozenset({"INFORMATION_SCHEMA", "sys", "guest"}),
    column_types={
        "int8": "tinyint",
        "int16": "smallint",
        "int32": "int",
        "int64": "bigint",
        "float": "real",
        "double": "float",
        "boolean": "bit",
        "string": "varchar(max)",
        "bytes": "varbinary(max)",
        "decimal": "decimal(38,{scale})",
        "date": "date",
        "time": "time",
        "timestamp": "datetime2",
    },
)
ORACLE: Final = Capabilities(
    name="oracle",
    add_column="ADD",
    upsert=Upsert.MERGE,
    has_native_boolean=False,
    key_text_type="VARCHAR2(256)",
    now="SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) FROM DUAL",
    limit="FETCH FIRST {rows} ROWS ONLY",
    subquery_alias="",
    own_schema_only=True,
    column_types={
        "int8": "NUMBER(3,0)",
        "int16": "NUMBER(5,0)",
        "int32": "NUMBER(10,0)",
        "int64": "NUMBER(19,0)",
        "float": "BINARY_FLOAT",
        "double": "BINARY_DOUBLE",
        "boolean": "NUMBER(1,0)",
        "string": "CLOB",
        "bytes": "BLOB",
        "decimal": "NUMBER(*,{scale})",
        "date": "DATE",
        "time": "DATE",
        "timestamp": "TIMESTAMP",
    },
)
GENERIC: Final = Capabilities(name="generic", column_types=POSTGRESQL.column_types)
"""What a database can do of which nothing is known."""

_BY_NAME: Final[Mapping[str, Capabilities]] = {
    **{each.name: each for each in (POSTGRESQL, MYSQL, SQLITE, DUCKDB, SQL_SERVER, ORACLE)},
    "mariadb": MYSQL,
}
_BY_DIALECT_NAME: Final[Mapping[str, Capabilities]] = {
    "PostgreSqlDatabaseDialect": POSTGRESQL,
    "MySqlDatabaseDialect": MYSQL,
    "SqliteDatabaseDialect": SQLITE,
    "SqlServerDatabaseDialect": SQL_SERVER,
    "OracleDatabaseDialect": ORACLE,
    "GenericDatabaseDialect": GENERIC,
    **_BY_NAME,
}
DIALECT_NAMES: Final = tuple(_BY_DIALECT_NAME)
"""What the setting `dialect.name` may say: the words of the Java connector, or SQLAlchemy's."""


def capabilities_of(backend: str, dialect_name: str = "") -> Capabilities:
    """What a database can do, by the name of SQLAlchemy's dialect, or by the name that a setting gives instead."""
    return _BY_DIALECT_NAME.get(dialect_name) or _BY_NAME.get(backend, GENERIC)
