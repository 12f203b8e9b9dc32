"""Our types in Spark's SQL. Points in time are numbers, so that no time zone can creep in."""

from __future__ import annotations

from typing import Final

from streams_sql.sql_types import Array, Base, Decimal, Map, SqlType, Struct, quoted

_SPARK: Final = {
    Base.BOOLEAN: "BOOLEAN",
    Base.INTEGER: "INT",
    Base.BIGINT: "BIGINT",
    Base.DOUBLE: "DOUBLE",
    Base.STRING: "STRING",
    Base.BYTES: "BINARY",
    Base.TIME: "INT",
    Base.DATE: "INT",
    Base.TIMESTAMP: "BIGINT",
}


def spark_type(type_: SqlType) -> str:
    """The type in Spark's SQL."""
    match type_:
        case Base():
            return _SPARK[type_]
        case Decimal(precision, scale):
            return f"DECIMAL({precision},{scale})"
        case Array(element):
            return f"ARRAY<{spark_type(element)}>"
        case Map(key, value):
            return f"MAP<{spark_type(key)},{spark_type(value)}>"
        case Struct(fields):
            return f"STRUCT<{','.join(f'{quoted(field.name)}:{spark_type(field.type)}' for field in fields)}>"
