"""How keys and values are written: the format that is asked for, and whether it can hold the columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from streams_sql.analysis.catalogue_view import nearest_hint
from streams_sql.analysis.defaults import Defaults
from streams_sql.analysis.type_names import base_name
from streams_sql.analysis.with_clause import FormatProperties
from streams_sql.formats.capabilities import CAPABILITIES, Capabilities
from streams_sql.problem import Position, SqlProblem
from streams_sql.sources import Column, FormatUse
from streams_sql.sql_types import STRING, Array, Map, SqlType, Struct

NONE: Final = "NONE"
AVRO_NAMESPACE: Final = "io.confluent.ksql.avro_schemas"
_WORD: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_MAP_KEYS: Final = (
    "Map keys, including types that contain maps, are not supported as they may lead to unexpected behavior due to inconsistent "
    "serialization. Key column name: `{name}`. Column type: {type}. See https://github.com/confluentinc/ksql/issues/6621 for more."
)


def known_format(name: str, position: Position | None = None) -> str:
    if name.upper() not in CAPABILITIES:
        hint = nearest_hint(name.upper(), CAPABILITIES) or f" It is one of {', '.join(CAPABILITIES)}."
        raise SqlProblem(f"Unknown format: {name.upper()}.{hint}", position)
    return name.upper()


def key_format(properties: FormatProperties, name: str, source: str, inherited: FormatUse | None = None) -> FormatUse:
    """The format of keys. Avro's record has a name of its own for each source, so that classes made from it do not clash."""
    use = _format_use(properties, name, "KEY", inherited)
    if use.name == "AVRO" and use.full_name is None:
        words = "".join(word[:1].upper() + word[1:].lower() for word in source.split("_"))
        return replace(use, full_name=f"{AVRO_NAMESPACE}.{words}Key")
    return use


def value_format(properties: FormatProperties, name: str, inherited: FormatUse | None = None) -> FormatUse:
    return _format_use(properties, name, "VALUE", inherited)


def _format_use(properties: FormatProperties, name: str, part: str, inherited: FormatUse | None) -> FormatUse:
    name = known_format(name, properties.position)
    capabilities = CAPABILITIES[name]
    _check_properties(properties, name, capabilities, part)
    is_same = inherited is not None and inherited.name == name
    delimiter = properties.delimiter or (inherited.delimiter if is_same and inherited else ",")
    nullable = properties.nullable_as or (inherited.nullable_as if is_same and inherited else None)
    return FormatUse(name, delimiter, None, properties.schema_id, properties.full_name, nullable)


def _check_properties(properties: FormatProperties, name: str, capabilities: Capabilities, part: str) -> None:
    if properties.delimiter is not None and not capabilities.has_delimiter:
        raise SqlProblem(f"{name} does not support the following configs: [delimiter]", properties.position)
    if properties.full_name is not None and not capabilities.has_schemas:
        raise SqlProblem(f"{name} does not support the following configs: [fullSchemaName]", properties.position)
    if properties.schema_id is not None and not capabilities.has_schemas:
        raise SqlProblem(
            f"{part}_FORMAT should support schema inference when {part}_SCHEMA_ID is provided. Current format is {name}.",
            properties.position,
        )
    if properties.nullable_as is not None and not capabilities.has_nullable_choice:
        raise SqlProblem(
            f"Property {part}_PROTOBUF_NULLABLE_REPRESENTATION can only be enabled with protobuf format",
            properties.position,
        )


def with_case(use: FormatUse, defaults: Defaults) -> FormatUse:
    return replace(use, keeps_case=defaults.keeps_case)


def with_key_wrapping(use: FormatUse, columns: int) -> FormatUse:
    """A single column of a key stands alone wherever the format lets it."""
    capabilities = CAPABILITIES[use.name]
    is_alone = columns == 1 and capabilities.can_wrap and capabilities.can_unwrap
    return replace(use, is_wrapped=False if is_alone else None)


def with_value_wrapping(
    use: FormatUse, columns: Sequence[Column], wanted: bool | None, default: bool | None
) -> FormatUse:
    capabilities = CAPABILITIES[use.name]
    if wanted is not None:
        if not (capabilities.can_wrap if wanted else capabilities.can_unwrap):
            word = "true" if wanted else "false"
            raise SqlProblem(f"Format '{use.name}' does not support 'WRAP_SINGLE_VALUE' set to '{word}'.")
        if len(columns) != 1:
            raise SqlProblem("'WRAP_SINGLE_VALUE' is only valid for single-field value schemas")
        return replace(use, is_wrapped=wanted)
    if default is None or len(columns) != 1 or not (capabilities.can_wrap if default else capabilities.can_unwrap):
        return replace(use, is_wrapped=None)
    return replace(use, is_wrapped=default)


def check_key(use: FormatUse, columns: Sequence[Column]) -> None:
    for column in columns:
        check_key_type(column)
    _check(use, columns, "Key", " KEY")


def check_key_type(column: Column) -> None:
    if any(isinstance(part, Map) for part in _parts(column.type)):
        raise SqlProblem(_MAP_KEYS.format(name=column.name, type=column.type))


def check_value(use: FormatUse, columns: Sequence[Column]) -> None:
    if not CAPABILITIES[use.name].is_for_values:
        raise SqlProblem(f"The '{use.name}' format can only be used for keys. Choose another VALUE_FORMAT.")
    _check(use, columns, "Value", "")


def _check(use: FormatUse, columns: Sequence[Column], part: str, suffix: str) -> None:
    shown = ", ".join(f"{column}{suffix}" for column in columns)
    reason = _reason(use.name, columns, shown)
    if reason is not None:
        features = {None: "", True: "WRAP_SINGLES", False: "UNWRAP_SINGLES"}[use.is_wrapped]
        raise SqlProblem(
            f"{part} format does not support schema.\nformat: {use.name}\n"
            f"schema: Persistence{{columns=[{shown}], features=[{features}]}}\nreason: {reason}"
        )


def _reason(name: str, columns: Sequence[Column], shown: str) -> str | None:
    """Why the format cannot hold the columns."""
    capabilities = CAPABILITIES[name]
    if name == NONE and columns:
        return f"The 'NONE' format can only be used when no columns are defined. Got: [{shown}]"
    if len(columns) > 1 and not capabilities.has_many_columns:
        return f"The '{name}' format only supports a single field. Got: [{shown}]"
    for column in columns:
        if base_name(column.type) not in capabilities.types:
            place = f", column: `{column.name}`" if name == "DELIMITED" else ""
            return f"The '{name}' format does not support type '{base_name(column.type)}'{place}"
        has_other_keys = any(isinstance(part, Map) and part.key != STRING for part in _parts(column.type))
        if has_other_keys and capabilities.map_key_reason:
            return capabilities.map_key_reason
    if name == "AVRO":
        return _avro_reason(columns)
    return _protobuf_reason(name, columns) if name.startswith("PROTOBUF") else None


def _protobuf_reason(name: str, columns: Sequence[Column]) -> str | None:
    """A field is one value or many, and nothing is many of many."""
    for column in columns:
        for part in _parts(column.type):
            inner = part.element if isinstance(part, Array) else part.value if isinstance(part, Map) else None
            if isinstance(inner, Array | Map):
                return f"The '{name}' format has no arrays or maps right inside of others: put a STRUCT around {inner}"
        for word in (column.name, *_field_names(column.type)):
            if not _WORD.fullmatch(word):
                return f"The '{name}' format does not take the name {word}: use letters, digits and underscores"
    return None


def _avro_reason(columns: Sequence[Column]) -> str | None:
    names = [column.name for column in columns]
    names += (name for column in columns for name in _field_names(column.type))
    for name in names:
        if not _WORD.match(name):
            return f"Schema is not compatible with Avro: Illegal initial character: {name}"
        if not _WORD.fullmatch(name):
            return f"Schema is not compatible with Avro: Illegal character in: {name}"
    return None


def _field_names(type_: SqlType) -> Iterator[str]:
    for part in _parts(type_):
        if isinstance(part, Struct):
            yield from (field.name for field in part.fields)


def _parts(type_: SqlType) -> Iterator[SqlType]:
    yield type_
    match type_:
        case Array(element):
            yield from _parts(element)
        case Map(key, value):
            yield from _parts(key)
            yield from _parts(value)
        case Struct(fields):
            for field in fields:
                yield from _parts(field.type)
