"""The columns of a query's answer, of which a database tells less than of a table's."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, inspect, types
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.types import TypeEngine

from connect.connectors.jdbc.duckdb_reflection import duckdb_type
from connect.connectors.jdbc.tables import Column

# The codes of MySQL's protocol. Whether a number is unsigned is not told, so each gets the next wider type; text and bytes
# have one code, and are told apart by their values.
_MYSQL_TYPES: Final[Mapping[int, TypeEngine[Any]]] = {
    1: types.SmallInteger(),
    2: types.Integer(),
    3: types.BigInteger(),
    4: types.Double(),
    5: types.Double(),
    7: mysql.TIMESTAMP(),
    8: types.BigInteger(),
    9: types.BigInteger(),
    10: types.Date(),
    11: mysql.TIME(),
    12: types.DateTime(),
    13: mysql.YEAR(),
    245: types.Text(),
}
_MYSQL_DECIMALS: Final = (0, 246)


def result_columns(connection: Connection, cursor: Any, query: str, sample: Sequence[Sequence[Any]]) -> list[Column]:
    """The columns of the answer that a cursor of the driver holds; `sample` are some of its rows. Any may be NULL."""
    described = list(cursor.description)
    reading = _READINGS.get(connection.dialect.driver)
    kinds = reading(connection, described, query) if reading is not None else [types.NullType()] * len(described)
    return [
        Column(column[0], _seen(kind, [row[place] for row in sample]))
        for place, (column, kind) in enumerate(zip(described, kinds, strict=True))
    ]


def _seen(kind: TypeEngine[Any], sample: Sequence[Any]) -> TypeEngine[Any]:
    """The type of a column that was told none, if its values are all bytes."""
    classes = {type(value) for value in sample if value is not None}
    return types.LargeBinary() if isinstance(kind, types.NullType) and classes == {bytes} else kind


def _postgresql(connection: Connection, described: Sequence[Any], query: str) -> list[TypeEngine[Any]]:
    driver_connection = connection.connection.driver_connection
    assert driver_connection is not None
    known = driver_connection.adapters.types
    names: Any = getattr(connection.dialect, "ischema_names")  # noqa: B009 - each dialect has it, but no type says so

    def kind_of(column: Any) -> TypeEngine[Any]:
        info = known.get(column.type_code)
        made = None if info is None else names.get(info.regtype)
        # Of bits, the length is not told.
        if info is None or made is None or made is postgresql.BIT:
            return types.NullType()
        if issubclass(made, types.Numeric) and not issubclass(made, types.Float):
            kind: TypeEngine[Any] = made(column.precision, column.scale)
        else:
            kind = made(timezone=True) if info.regtype.endswith("with time zone") else made()
        return types.ARRAY(kind) if column.type_code == info.array_oid else kind

    return [kind_of(column) for column in described]


def _mysql(connection: Connection, described: Sequence[Any], query: str) -> list[TypeEngine[Any]]:
    def kind_of(column: Any) -> TypeEngine[Any]:
        _, code, _, _, precision, scale, _ = column
        if code in _MYSQL_DECIMALS:
            return types.Numeric(precision, scale)
        return _MYSQL_TYPES.get(code, types.NullType())

    return [kind_of(column) for column in described]


def _duckdb(connection: Connection, described: Sequence[Any], query: str) -> list[TypeEngine[Any]]:
    return [duckdb_type(str(column[1])) for column in described]


def _sqlite(connection: Connection, described: Sequence[Any], query: str) -> list[TypeEngine[Any]]:
    """What SQLite tells of a view that is the query: the types of columns that are columns of tables."""
    name = f"connect_{secrets.token_hex(8)}"
    quoted = query.strip().rstrip(";")
    connection.exec_driver_sql(f"CREATE TEMPORARY VIEW {name} AS {quoted}")
    try:
        columns = inspect(connection).get_columns(name, schema="temp")
    finally:
        connection.exec_driver_sql(f"DROP VIEW {name}")
    kinds = {column["name"]: column["type"] for column in columns}
    return [kinds.get(column[0], types.NullType()) for column in described]


_READINGS: Final[Mapping[str, Callable[[Connection, Sequence[Any], str], list[TypeEngine[Any]]]]] = {
    "psycopg": _postgresql, "pymysql": _mysql, "duckdb_engine": _duckdb, "pysqlite": _sqlite,
}  # fmt: skip
