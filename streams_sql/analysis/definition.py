"""CREATE STREAM and CREATE TABLE with columns of their own, or with those that the registry has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from streams_sql.analysis.defaults import Defaults
from streams_sql.analysis.format_rules import (
    check_key,
    check_value,
    key_format,
    value_format,
    with_case,
    with_key_wrapping,
    with_value_wrapping,
)
from streams_sql.analysis.scope import SYSTEM_COLUMNS
from streams_sql.analysis.timestamp_rules import timestamp_rule
from streams_sql.analysis.type_names import known_type
from streams_sql.analysis.with_clause import WithClause
from streams_sql.formats.capabilities import CAPABILITIES
from streams_sql.language.statements import ColumnDefinition, ColumnRole, CreateSource, Kind
from streams_sql.problem import SqlProblem, placed_at
from streams_sql.sources import (
    HEADERS_TYPE,
    Column,
    FormatUse,
    HeaderColumn,
    InferredSchema,
    MissingSchema,
    Schema,
    Source,
)
from streams_sql.sql_types import BYTES

_KEYS = {Kind.STREAM: ColumnRole.KEY, Kind.TABLE: ColumnRole.PRIMARY_KEY}


def missing_schema(statement: CreateSource, defaults: Defaults) -> MissingSchema | None:
    """What define_source needs to be told."""
    with placed_at(statement.position):
        return _missing_schema(statement, defaults)


def _missing_schema(statement: CreateSource, defaults: Defaults) -> MissingSchema | None:
    clause = WithClause(statement.properties, is_source=True)
    key, value = _formats(statement, clause, defaults)
    roles = {column.role for column in statement.columns}
    has_keys = bool(roles & set(_KEYS.values()))
    asks_key = CAPABILITIES[key.name].has_schemas and not has_keys
    asks_value = CAPABILITIES[value.name].has_schemas and ColumnRole.VALUE not in roles
    if not asks_key and not asks_value:
        return None
    key = with_key_wrapping(key, 1)
    value = replace(value, is_wrapped=clause.wrap_single_value)
    return MissingSchema(_topic(clause), key if asks_key else None, value if asks_value else None)


def define_source(statement: CreateSource, defaults: Defaults, inferred: InferredSchema | None) -> Source:
    """The source that a statement makes. Its text is for who has it to add."""
    with placed_at(statement.position):
        return _defined(statement, defaults, inferred)


def _defined(statement: CreateSource, defaults: Defaults, inferred: InferredSchema | None) -> Source:
    clause = WithClause(statement.properties, is_source=True)
    topic, window = _topic(clause), clause.window
    key, value = _formats(statement, clause, defaults)
    _check_columns(statement)
    schema = declared_schema(statement, inferred)
    _check_schema(statement, schema)
    if window is not None and not schema.key:
        raise SqlProblem("Windowed sources require a key column.")
    key = with_key_wrapping(key, len(schema.key))
    value = with_value_wrapping(value, schema.value, clause.wrap_single_value, defaults.wrap_single_values)
    check_key(key, schema.key)
    check_value(value, schema.value)
    return Source(
        name=statement.name,
        kind=statement.kind,
        schema=schema,
        topic=topic,
        key_format=key,
        value_format=value,
        statement="",
        key_window=window,
        timestamp=timestamp_rule(clause, schema),
        is_read_only=statement.is_source,
    )


def _topic(clause: WithClause) -> str:
    topic = clause.topic
    if topic is None:
        raise SqlProblem('Missing required property "KAFKA_TOPIC" which has no default value.')
    return topic


def _formats(statement: CreateSource, clause: WithClause, defaults: Defaults) -> tuple[FormatUse, FormatUse]:
    key_name = clause.key_format.name or defaults.key_format
    value_name = clause.value_format.name or defaults.value_format
    if key_name is None:
        raise _missing_format("KEY_FORMAT", "ksql.persistence.default.format.key")
    if value_name is None:
        raise _missing_format("VALUE_FORMAT", "ksql.persistence.default.format.value")
    key = key_format(clause.key_format, key_name, statement.name)
    value = value_format(clause.value_format, value_name)
    key, value = with_case(key, defaults), with_case(value, defaults)
    _check_schema_ids(statement, key, value)
    return key, value


def _missing_format(name: str, setting: str) -> SqlProblem:
    return SqlProblem(
        f"Statement is missing the '{name}' property from the WITH clause. "
        f"Either provide one or set a default via the '{setting}' config."
    )


def _check_columns(statement: CreateSource) -> None:
    names: set[str] = set()
    for column in statement.columns:
        if column.name in names:
            raise SqlProblem(f"Duplicate column names: `{column.name}`", column.position)
        names.add(column.name)
        if column.name in SYSTEM_COLUMNS:
            raise SqlProblem(
                f"'{column.name}' is a reserved column name. You cannot use it as a name for a column.", column.position
            )
        if column.role in _KEYS.values() and column.role is not _KEYS[statement.kind]:
            wanted = f"'{_KEYS[statement.kind].value}' for {statement.kind.value.lower()}s"
            raise SqlProblem(
                f"Column `{column.name}` is a '{column.role.value}' column: please use {wanted}.", column.position
            )
        if column.role is ColumnRole.HEADERS:
            _check_header(column)
    _check_headers(column for column in statement.columns if column.role is ColumnRole.HEADERS)


def _check_header(column: ColumnDefinition) -> None:
    found = known_type(column.type, column.position)
    wanted = HEADERS_TYPE if column.header is None else BYTES
    if found != wanted:
        word = "HEADERS" if column.header is None else f"HEADER('{column.header}')"
        raise SqlProblem(f"Invalid type for {word} column: expected {wanted}, got {found}", column.position)


def _check_headers(columns: Iterable[ColumnDefinition]) -> None:
    seen: set[str | None] = set()
    for column in columns:
        if column.header in seen or None in seen or (column.header is None and seen):
            is_same = column.header is not None and column.header in seen
            there = f"HEADER('{column.header}')" if is_same else "HEADERS"
            raise SqlProblem(
                f"Schema already contains a {there} column. Leave `{column.name}` out, or the other one.",
                column.position,
            )
        seen.add(column.header)


def _check_schema_ids(statement: CreateSource, key: FormatUse, value: FormatUse) -> None:
    roles = {column.role for column in statement.columns}
    if key.schema_id is not None and roles & set(_KEYS.values()):
        raise SqlProblem("Table elements and KEY_SCHEMA_ID cannot both exist for create statement.")
    if value.schema_id is not None and ColumnRole.VALUE in roles:
        raise SqlProblem("Table elements and VALUE_SCHEMA_ID cannot both exist for create statement.")


def declared_schema(statement: CreateSource, inferred: InferredSchema | None = None) -> Schema:
    """The columns of a statement, and those that the registry has where it declares none."""

    def declared(*roles: ColumnRole) -> tuple[Column, ...]:
        found = [column for column in statement.columns if column.role in roles]
        return tuple(Column(column.name, known_type(column.type, column.position), column.written) for column in found)

    key, value = declared(*_KEYS.values()), declared(ColumnRole.VALUE)
    if inferred is not None:
        key = key or inferred.key or ()
        value = value or inferred.value or ()
    headers = [column for column in statement.columns if column.role is ColumnRole.HEADERS]
    return Schema(key, value, tuple(HeaderColumn(column.name, column.header) for column in headers))


def _check_schema(statement: CreateSource, schema: Schema) -> None:
    names = [column.name for column in schema.columns()]
    if not names:
        raise SqlProblem(
            "No columns supplied. The statement does not define any columns, and the formats have no schema in the registry. "
            "Write the columns behind the name: (id INT, name STRING)."
        )
    if len(set(names)) < len(names):
        again = next(name for name in names if names.count(name) > 1)
        raise SqlProblem(f"Duplicate column names: `{again}` is in the key and in the value.")
    if statement.kind is Kind.TABLE and not schema.key:
        raise SqlProblem(f"Tables require a PRIMARY KEY. {_primary_key_advice(statement)}", statement.position)


def _primary_key_advice(statement: CreateSource) -> str:
    if not statement.columns:
        return (
            "Name the column of the key, and the others still come from the Schema Registry: "
            f"CREATE TABLE {statement.name} (ID INT PRIMARY KEY) WITH (…);"
        )
    first = statement.columns[0]
    return (
        "Write PRIMARY KEY behind the column that is the key of the records, such as "
        f"CREATE TABLE {statement.name} ({first.name} {first.type} PRIMARY KEY, …); a topic whose records are no rows "
        "under a key is a STREAM."
    )
