"""The column types of tables that are made from records."""

from __future__ import annotations

from typing import Final

from connect.connectors.jdbc.capabilities import Capabilities
from connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, Type
from connect.errors import ConnectError

_LOGICAL: Final = {DECIMAL: "decimal", DATE: "date", TIME: "time", TIMESTAMP: "timestamp"}


def column_type(schema: Schema, capabilities: Capabilities, *, is_key: bool = False) -> str:
    """The type in the words of the database; ConnectError for values that none of its columns holds."""
    if schema.type is Type.ARRAY and capabilities.has_arrays and schema.values is not None:
        return f"{column_type(schema.values, capabilities)}[]"
    if is_key and schema.type is Type.STRING and capabilities.key_text_type is not None:
        return capabilities.key_text_type
    name = _LOGICAL.get(schema.name or "", schema.type.value)
    found = capabilities.column_types.get(name)
    if found is None:
        raise ConnectError(
            f"{capabilities.name} has no column type for a field of type {schema.type.value}: "
            "make it text or take it apart with a transform, or leave it out"
        )
    return found.format(scale=schema.scale)
