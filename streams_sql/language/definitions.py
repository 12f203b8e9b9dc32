"""CREATE, ALTER, INSERT and DROP of streams, tables and types."""

from __future__ import annotations

from dataclasses import replace

from streams_sql.language.connectors import read_create_connector, read_drop_connector
from streams_sql.language.expressions import Expression, Literal, NamedLiteral
from streams_sql.language.external_statements import (
    CreateConnector,
    DropConnector,
)
from streams_sql.language.function_statements import CreateFunction, DropFunction
from streams_sql.language.functions import read_create_function, read_drop_function
from streams_sql.language.queries import read_query
from streams_sql.language.reader import Reader
from streams_sql.language.statements import (
    AlterSource,
    AlterSystem,
    ColumnDefinition,
    ColumnRole,
    CreateAsSelect,
    CreateSource,
    CreateType,
    DropSource,
    DropType,
    InsertSelect,
    InsertValues,
    Kind,
    Properties,
)
from streams_sql.language.table_changes import read_create_index, read_drop_index
from streams_sql.language.table_statements import CreateIndex, DropIndex
from streams_sql.language.type_names import TYPE_NAMES, read_type
from streams_sql.problem import Position
from streams_sql.sql_types import quoted


def read_create(
    reader: Reader,
) -> CreateSource | CreateAsSelect | CreateType | CreateIndex | CreateConnector | CreateFunction:
    reader.expect("CREATE")
    if (function := read_create_function(reader)) is not None:
        return function
    if reader.accept("INDEX"):
        return read_create_index(reader)
    if reader.accept("TYPE"):
        return _read_type_definition(reader)
    connector = read_create_connector(reader)
    return _read_create_source(reader) if connector is None else connector


def _read_type_definition(reader: Reader) -> CreateType:
    if_not_exists = reader.accept("IF", "NOT", "EXISTS")
    position = reader.position
    name = reader.name()
    if name in TYPE_NAMES:
        raise reader.problem(f"{name} is a type of the language: choose another name.", position)
    reader.expect("AS")
    return CreateType(name, read_type(reader), if_not_exists, position)


def _read_create_source(reader: Reader) -> CreateSource | CreateAsSelect:
    or_replace = reader.accept("OR", "REPLACE")
    is_source = reader.accept("SOURCE")
    kind = Kind(reader.expect_one_of(*Kind.__members__))
    if_not_exists = reader.accept("IF", "NOT", "EXISTS")
    declared = read_declaration(reader, kind)
    name, properties = declared.name, declared.properties
    if declared.columns or is_source or not reader.accept("AS"):
        return replace(declared, or_replace=or_replace, if_not_exists=if_not_exists, is_source=is_source)
    query = read_query(reader)
    if query.limit is not None:
        raise reader.problem(
            f"CREATE {kind.value} AS SELECT statements don't support LIMIT clause.", reader.last_position
        )
    return CreateAsSelect(kind, name, query, properties, or_replace, if_not_exists, declared.position)


def read_declaration(reader: Reader, kind: Kind) -> CreateSource:
    """Name, columns and properties of a source."""
    position = reader.position
    name = reader.source_name()
    columns = tuple(reader.in_parentheses(lambda: _read_column(reader, kind))) if reader.is_next("(") else ()
    return CreateSource(kind, name, columns, read_properties(reader), position=position)


def _read_column(reader: Reader, kind: Kind) -> ColumnDefinition:
    position = reader.position
    name, written = reader.name(), reader.last_text
    type_name = read_type(reader)
    role, header = _read_role(reader)
    foreign = ColumnRole.KEY if kind is Kind.TABLE else ColumnRole.PRIMARY_KEY
    if role is foreign:
        right = "'PRIMARY KEY' for tables" if kind is Kind.TABLE else "'KEY' for streams"
        raise reader.problem(f"Column {quoted(name)} is a '{role.value}' column: please use {right}.", position)
    return ColumnDefinition(name, type_name, role, header, position, written)


def _read_role(reader: Reader) -> tuple[ColumnRole, str | None]:
    """What a column is for, and of which header."""
    if reader.accept("PRIMARY"):
        reader.expect("KEY")
        return ColumnRole.PRIMARY_KEY, None
    if reader.accept("KEY"):
        return ColumnRole.KEY, None
    if reader.accept("HEADERS"):
        return ColumnRole.HEADERS, None
    if reader.accept("HEADER"):
        reader.expect("(")
        header = reader.string().strip()
        reader.expect(")")
        return ColumnRole.HEADERS, header or None
    return ColumnRole.VALUE, None


def read_properties(reader: Reader) -> Properties:
    """WITH (NAME = literal, …), if there is one."""
    properties: dict[str, Literal] = {}

    def read_property() -> None:
        position = reader.position
        name = (reader.accept_string() or reader.accept_reserved() or reader.name()).upper()
        if name in properties:
            raise reader.problem(f"The property {name} is given twice.", position)
        reader.expect("=")
        literal = reader.literal()
        properties[name] = NamedLiteral(literal.value, position=literal.position, name_position=position)

    if reader.accept("WITH"):
        reader.in_parentheses(read_property)
    return properties


def read_insert(reader: Reader) -> InsertSelect | InsertValues:
    reader.expect("INSERT", "INTO")
    position = reader.position
    target = reader.source_name()
    columns, places = _read_columns(reader)
    if not columns:
        is_query = reader.word() == "WITH" and reader.word(ahead=1) != "("
        properties = {} if is_query else read_properties(reader)
        if is_query or properties or reader.is_next("SELECT"):
            return InsertSelect(target, read_query(reader), properties, position)
    reader.expect("VALUES")
    return InsertValues(target, columns, tuple(reader.listed(lambda: _read_row(reader))), position, places)


def read_rows(reader: Reader, word: str) -> InsertValues:
    """The rows that a source is to have: its name, columns and, behind the word, values."""
    position = reader.position
    target = reader.source_name()
    columns, places = _read_columns(reader)
    reader.expect(word)
    return InsertValues(target, columns, tuple(reader.listed(lambda: _read_row(reader))), position, places)


def _read_columns(reader: Reader) -> tuple[tuple[str, ...], tuple[Position, ...]]:
    """Names in parentheses, if there are some, and where they stand."""
    if not reader.is_next("("):
        return (), ()
    names, places = zip(*reader.in_parentheses(lambda: (reader.name(), reader.last_position)), strict=True)
    return names, places


def _read_row(reader: Reader) -> tuple[Expression, ...]:
    reader.expect("(")
    values = () if reader.is_next(")") else tuple(reader.listed(reader.value))
    reader.expect(")")
    return values


def read_alter(reader: Reader) -> AlterSource | AlterSystem:
    reader.expect("ALTER")
    if reader.accept("SYSTEM"):
        name = reader.string()
        reader.expect("=")
        return AlterSystem(name, reader.string())
    kind = Kind(reader.expect_one_of(*Kind.__members__))
    position = reader.position
    name = reader.source_name()
    return AlterSource(kind, name, tuple(reader.listed(lambda: _read_added(reader))), position)


def _read_added(reader: Reader) -> ColumnDefinition:
    reader.expect("ADD")
    reader.accept("COLUMN")
    position = reader.position
    name, written = reader.name(), reader.last_text
    return ColumnDefinition(name, read_type(reader), position=position, written=written)


def read_drop(reader: Reader) -> DropSource | DropType | DropIndex | DropConnector | DropFunction:
    reader.expect("DROP")
    if (function := read_drop_function(reader)) is not None:
        return function
    if reader.accept("INDEX"):
        return read_drop_index(reader)
    if reader.accept("TYPE"):
        is_lenient = reader.accept("IF", "EXISTS")
        position = reader.position
        return DropType(reader.name(), is_lenient, position)
    if reader.accept("CONNECTOR"):
        return read_drop_connector(reader)
    kind = Kind(reader.expect_one_of(*Kind.__members__))
    if_exists = reader.accept("IF", "EXISTS")
    position = reader.position
    return DropSource(kind, reader.source_name(), if_exists, reader.accept("DELETE", "TOPIC"), position)
