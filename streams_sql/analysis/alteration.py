"""ALTER STREAM and ALTER TABLE."""

from __future__ import annotations

from dataclasses import replace

from streams_sql.analysis.format_rules import check_value
from streams_sql.analysis.scope import SYSTEM_COLUMNS
from streams_sql.analysis.type_names import known_type
from streams_sql.language.statements import AlterSource
from streams_sql.problem import SqlProblem, placed_at
from streams_sql.sources import Column, Source


def altered(source: Source, statement: AlterSource) -> Source:
    """The source with the columns that are added. SqlProblem where its records cannot have them."""
    with placed_at(statement.position):
        return _altered(source, statement)


def _altered(source: Source, statement: AlterSource) -> Source:
    names = {column.name for column in source.schema.columns()}
    added = []
    for column in statement.columns:
        if column.name in names:
            raise SqlProblem(
                f"Cannot add column `{column.name}` to schema. A column with the same name already exists.",
                column.position,
            )
        if column.name in SYSTEM_COLUMNS:
            raise SqlProblem(
                f"'{column.name}' is a reserved column name. You cannot use it as a name for a column.", column.position
            )
        names.add(column.name)
        added.append(Column(column.name, known_type(column.type, column.position), column.written))
    schema = replace(source.schema, value=(*source.schema.value, *added))
    if source.value_format.schema_id is not None:
        raise SqlProblem(
            f"{source.name} has the columns of the schema {source.value_format.schema_id} (VALUE_SCHEMA_ID): drop it, and create "
            "it anew with the id of another schema."
        )
    if source.value_format.is_wrapped is False:
        raise SqlProblem(
            f"The one column of {source.name} is the value itself (WRAP_SINGLE_VALUE=false), beside which there is no place for "
            "another. Drop it and create it anew."
        )
    check_value(source.value_format, schema.value)
    return replace(source, schema=schema)
