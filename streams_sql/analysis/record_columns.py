"""What a query asks of records besides their columns: their bytes and headers, the schema that they name, what is wrong with them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from streams_sql.analysis.column_names import SYNTHETIC_KEY as KEY_COLUMN
from streams_sql.analysis.query_parts import Exchange
from streams_sql.analysis.traversal import rewritten
from streams_sql.language.expressions import ColumnName, Expression, FunctionCall, Literal
from streams_sql.language.statements import Query
from streams_sql.sources import RecordColumn, RecordPart, Source

HEADER: Final = RecordPart.HEADER.value
_BY_NAME: Final = {
    **{part.value: RecordColumn(part.value, part) for part in RecordPart if part is not RecordPart.HEADER},
    # Of a topic whose keys nobody has seen: where there are some, this is the name of their column.
    KEY_COLUMN: RecordColumn(KEY_COLUMN, RecordPart.KEY_BYTES),
}
_NO_WORD: Final = re.compile(r"\W")


def record_columns(query: Query) -> tuple[Query, tuple[RecordColumn, ...]]:
    """What is asked for, and the query with columns for the calls of HEADER('name')."""
    found: dict[str, RecordColumn] = {}

    def change(part: Expression) -> Expression | None:
        match part:
            case FunctionCall(name, (Literal(str(header)),)) if name.upper() == HEADER:
                column = _header_column(header, found)
                found[column.name] = column
                return ColumnName(column.name, position=part.position)
            case ColumnName(name) if name in _BY_NAME:
                found[name] = _BY_NAME[name]
        return None

    changed = Exchange(lambda relation: relation, lambda expression: rewritten(expression, change)).of(query)
    return changed, tuple(found.values())


def with_record_columns(source: Source, columns: tuple[RecordColumn, ...]) -> Source:
    """The source's own columns go before those of the same name."""
    own = {column.name for column in source.schema.columns()}
    asked = [column for column in columns if column.name != KEY_COLUMN or source.is_topic]
    added = tuple(column for column in asked if column.name not in own)
    return replace(source, record_columns=added) if added else source


def _header_column(header: str, found: dict[str, RecordColumn]) -> RecordColumn:
    stem = name = f"{HEADER}_{_NO_WORD.sub('_', header).upper()}"
    number = 0
    while name in found and found[name].header != header:
        number += 1
        name = f"{stem}_{number}"
    return RecordColumn(name, RecordPart.HEADER, header)
