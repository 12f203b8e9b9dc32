"""Types as they are written."""

from __future__ import annotations

from typing import Final, cast

from streams_sql.language.expressions import CustomType, TypeName
from streams_sql.language.token_reader import TYPE, TokenReader
from streams_sql.sql_types import Array, Base, Decimal, Field, Map, SqlType, Struct

_NAMES: Final = {**{base.value: base for base in Base}, "INT": Base.INTEGER, "VARCHAR": Base.STRING}

TYPE_NAMES: Final = frozenset({*_NAMES, "ARRAY", "MAP", "STRUCT", "DECIMAL"})
"""No other type may have one of these."""


def read_type(reader: TokenReader) -> TypeName:
    type_name = reader.nested(lambda: _read_one(reader))
    while reader.accept("ARRAY"):
        type_name = Array(_as_part(type_name))
    return type_name


def _read_one(reader: TokenReader) -> TypeName:
    if reader.accept("ARRAY", "<"):
        element = _read_part(reader)
        reader.expect(">")
        return Array(element)
    if reader.accept("MAP", "<"):
        key = _read_part(reader)
        reader.expect(",")
        value = _read_part(reader)
        reader.expect(">")
        return Map(key, value)
    if reader.accept("STRUCT", "<"):
        return _read_struct(reader)
    if reader.accept("DECIMAL"):
        return _read_decimal(reader)
    return _read_named(reader)


def _read_named(reader: TokenReader) -> TypeName:
    position = reader.position
    name = reader.accept_name()
    if name is None:
        raise reader.missing(TYPE)
    base = _NAMES.get(name)
    if reader.accept("("):
        reader.listed(lambda: _read_parameter(reader))
        reader.expect(")")
    if base is None:
        return CustomType(name, position=position)
    return base


def _read_parameter(reader: TokenReader) -> None:
    """VARCHAR(255), INT(11): as ksqlDB does, a size is taken and no heed is paid to it."""
    if not reader.accept("STRING"):
        reader.integer("The size of a type")


def _read_decimal(reader: TokenReader) -> Decimal:
    reader.expect("(")
    precision = reader.integer("DECIMAL(PRECISION)")
    reader.expect(",")
    scale = reader.integer("DECIMAL(SCALE)")
    reader.expect(")")
    return Decimal(precision, scale)


def _read_struct(reader: TokenReader) -> Struct:
    if reader.accept(">"):
        return Struct(())
    fields: dict[str, Field] = {}

    def read_field() -> None:
        position = reader.position
        name = reader.name()
        if name in fields:
            raise reader.problem(f"Duplicate field names found in STRUCT: {name}", position)
        written = reader.last_text
        fields[name] = Field(name, _read_part(reader), written)

    reader.listed(read_field)
    reader.expect(">")
    return Struct(tuple(fields.values()))


def _read_part(reader: TokenReader) -> SqlType:
    return _as_part(read_type(reader))


def _as_part(type_name: TypeName) -> SqlType:
    """A custom type stands in for the type that analysis will put in its place."""
    return cast("SqlType", type_name)
