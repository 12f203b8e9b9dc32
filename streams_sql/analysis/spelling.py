"""How the names of a query's columns were written, for those who want them so in their records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from streams_sql.analysis.column_names import joined_name
from streams_sql.analysis.outputs import AnalysedQuery
from streams_sql.language.statements import SelectColumn
from streams_sql.sources import Column, Schema


def spelled(schema: Schema, analysed: AnalysedQuery) -> Schema:
    """The columns with the spelling of the select list, or of the sources that they come from."""
    known = {word.upper(): word for word in _words(analysed)}
    return replace(
        schema,
        key=tuple(_spelled(column, known) for column in schema.key),
        value=tuple(_spelled(column, known) for column in schema.value),
    )


def _spelled(column: Column, known: dict[str, str]) -> Column:
    # A name that is not in capitals was quoted, and is as it was written already.
    return replace(column, written=known.get(column.name) if column.name.isupper() else None)


def _words(analysed: AnalysedQuery) -> Iterator[str]:
    """Later ones are stronger."""
    for named in analysed.scope.sources:
        schema = named.source.schema
        for column in (*schema.key, *schema.value):
            word = column.written or column.name
            yield word
            yield joined_name(named.alias, word)
    for item in analysed.query.select:
        if isinstance(item, SelectColumn) and item.written is not None:
            yield item.written
