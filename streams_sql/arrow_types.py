"""Our types as clients get them in Arrow: points in time are its own. Arrow is imported by who asks for it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams_sql.sql_types import Array, Base, Decimal, Map, SqlType, Struct

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]


def arrow_type(type_: SqlType) -> pa.DataType:
    import pyarrow as pa

    match type_:
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case Array(element):
            return pa.list_(arrow_type(element))
        case Map(key, value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case Struct(fields):
            return pa.struct([pa.field(field.name, arrow_type(field.type)) for field in fields])
    plain = {
        Base.BOOLEAN: pa.bool_(),
        Base.INTEGER: pa.int32(),
        Base.BIGINT: pa.int64(),
        Base.DOUBLE: pa.float64(),
        Base.STRING: pa.string(),
        Base.BYTES: pa.binary(),
        Base.TIME: pa.time32("ms"),
        Base.DATE: pa.date32(),
        Base.TIMESTAMP: pa.timestamp("ms", tz="UTC"),
    }
    return plain[type_]
