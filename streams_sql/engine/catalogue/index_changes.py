"""CREATE INDEX and DROP INDEX: what they do to the catalogue. The views that follow it build what is declared."""

from __future__ import annotations

from dataclasses import replace

from streams_sql.analysis.catalogue_view import choice_hint, known_source, nearest_hint
from streams_sql.analysis.scope import NamedSource
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.language.table_statements import CreateIndex, DropIndex
from streams_sql.problem import SqlProblem
from streams_sql.sources import Index, Source
from streams_sql.sql_types import Array, Map, Struct


def create_index(statement: CreateIndex, catalogue: Catalogue) -> Outcome:
    found = catalogue.index(statement.name)
    if found is not None:
        message = f"There is an index {statement.name} already, on {found[0].name} ({', '.join(found[1].columns)})"
        if statement.if_not_exists:
            return Outcome(("index", statement.name), "create", message, is_done=False)
        raise SqlProblem(f"{message}. Drop it first, or choose another name.")
    table = known_source(catalogue, statement.table, statement.position)
    _check_table(table, statement)
    types = {column.name: column.type for column in NamedSource(table.name, table).columns()}
    for column in statement.columns:
        if column not in types:
            raise SqlProblem(f"{table.name} has no column {column}.{choice_hint(column, types)}", statement.position)
        if isinstance(types[column], Array | Map | Struct):
            raise SqlProblem(
                f"{column} has type {types[column]}: values without an order cannot be looked up in an index.",
                statement.position,
            )
    index = Index(statement.name, statement.columns)
    catalogue.put(replace(table, indexes=(*table.indexes, index)))
    return Outcome(
        ("index", statement.name), "create", f"Index {statement.name} created. It is built in the background."
    )


def _check_table(table: Source, statement: CreateIndex) -> None:
    if not table.has_view:
        what = "a stream" if not table.is_table else "a table without a view, which cannot be asked"
        raise SqlProblem(
            f"{table.name} is {what}: indexes are for tables that queries fill, and for SOURCE tables.",
            statement.position,
        )
    if len(set(statement.columns)) < len(statement.columns):
        raise SqlProblem("A column is there twice.", statement.position)
    same = next((index for index in table.indexes if index.columns == statement.columns), None)
    if same is not None:
        raise SqlProblem(f"{table.name} has an index on these columns already: {same.name}.", statement.position)


def drop_index(statement: DropIndex, catalogue: Catalogue) -> Outcome:
    found = catalogue.index(statement.name)
    if found is None:
        message = f"There is no index {statement.name}."
        if statement.if_exists:
            return Outcome(("index", statement.name), "drop", message, is_done=False)
        hint = nearest_hint(statement.name, catalogue.indexes()) or " SHOW INDEXES lists those that there are."
        raise SqlProblem(f"{message}{hint}", statement.position)
    table, index = found
    catalogue.put(replace(table, indexes=tuple(each for each in table.indexes if each is not index)))
    return Outcome(("index", statement.name), "drop", f"Index {statement.name} on {table.name} dropped.")


def with_indexes(source: Source, former: Source | None) -> Source:
    """A source that takes the place of another keeps its indexes: all its columns are still there."""
    return source if former is None else replace(source, indexes=former.indexes)
