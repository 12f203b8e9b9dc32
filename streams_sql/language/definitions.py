"""CREATE, INSERT and DROP."""

from __future__ import annotations

from streams_sql.language.expressions import Literal
from streams_sql.language.queries import read_query
from streams_sql.language.reader import Reader
from streams_sql.language.statements import (
    ColumnDefinition,
    ColumnRole,
    CreateAsSelect,
    CreateSource,
    DropSource,
    InsertSelect,
    InsertValues,
    Kind,
    Properties,
)
from streams_sql.language.type_names import read_type
from streams_sql.sql_types import quoted


def read_create(reader: Reader) -> CreateSource | CreateAsSelect:
    reader.expect("CREATE")
    reader.refuse("CREATE", "TYPE", "SOURCE CONNECTOR", "SINK CONNECTOR", "INDEX", "FUNCTION")
    or_replace = reader.accept("OR", "REPLACE")
    is_source = reader.accept("SOURCE")
    kind = Kind(reader.expect_one_of(*Kind.__members__))
    if_not_exists = reader.accept("IF", "NOT", "EXISTS")
    name = reader.source_name()
    columns = tuple(reader.in_parentheses(lambda: _read_column(reader, kind))) if reader.is_next("(") else ()
    properties = _read_properties(reader)
    if columns or is_source or not reader.accept("AS"):
        return CreateSource(kind, name, columns, properties, or_replace, if_not_exists, is_source)
    query = read_query(reader)
    if query.limit is not None:
        raise reader.problem(
            f"CREATE {kind.value} AS SELECT statements don't support LIMIT clause.", reader.last_position
        )
    return CreateAsSelect(kind, name, query, properties, or_replace, if_not_exists)


def _read_column(reader: Reader, kind: Kind) -> ColumnDefinition:
    position = reader.position
    name = reader.name()
    type_name = read_type(reader)
    role, header = _read_role(reader)
    foreign = ColumnRole.KEY if kind is Kind.TABLE else ColumnRole.PRIMARY_KEY
    if role is foreign:
        right = "'PRIMARY KEY' for tables" if kind is Kind.TABLE else "'KEY' for streams"
        raise reader.problem(f"Column {quoted(name)} is a '{role.value}' column: please use {right}.", position)
    return ColumnDefinition(name, type_name, role, header, position)


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


def _read_properties(reader: Reader) -> Properties:
    """WITH (NAME = literal, …), if there is one."""
    properties: dict[str, Literal] = {}

    def read_property() -> None:
        position = reader.position
        name = (reader.accept_string() or reader.name()).upper()
        if name in properties:
            raise reader.problem(f"The property {name} is given twice.", position)
        reader.expect("=")
        properties[name] = reader.literal()

    if reader.accept("WITH"):
        reader.in_parentheses(read_property)
    return properties


def read_insert(reader: Reader) -> InsertSelect | InsertValues:
    reader.expect("INSERT", "INTO")
    position = reader.position
    target = reader.source_name()
    columns = tuple(reader.in_parentheses(reader.name)) if reader.is_next("(") else ()
    if not columns:
        properties = _read_properties(reader)
        if properties or reader.is_next("SELECT"):
            return InsertSelect(target, read_query(reader), properties, position)
    reader.expect("VALUES", "(")
    values = () if reader.is_next(")") else tuple(reader.listed(reader.value))
    reader.expect(")")
    return InsertValues(target, columns, values, position)


def read_drop(reader: Reader) -> DropSource:
    reader.expect("DROP")
    reader.refuse("DROP", "TYPE", "CONNECTOR", "INDEX", "FUNCTION")
    kind = Kind(reader.expect_one_of(*Kind.__members__))
    if_exists = reader.accept("IF", "EXISTS")
    position = reader.position
    return DropSource(kind, reader.source_name(), if_exists, reader.accept("DELETE", "TOPIC"), position)
