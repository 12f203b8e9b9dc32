"""Changes of the catalogue that start and end no query: types, columns that are added, properties of all sessions."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from streams_sql.analysis.alteration import altered
from streams_sql.analysis.catalogue_view import choice_hint, source_hint
from streams_sql.analysis.type_names import known_type
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.command import Command
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.engine.queries.query_settings import plain_name
from streams_sql.language.statements import AlterSource, AlterSystem, CreateType, DropType, Kind
from streams_sql.problem import SqlProblem

TYPE: Final = "type"
ALTER: Final = "alter"


def create_type(statement: CreateType, catalogue: Catalogue) -> Outcome:
    entity, name = (TYPE, statement.name), statement.name
    found = catalogue.types.get(name)
    if found is not None:
        if not statement.if_not_exists:
            raise SqlProblem(
                f"Cannot register custom type '{name}' since it is already registered with type: {found}. Drop it first, or "
                "choose another name.",
                statement.position,
            )
        return Outcome(entity, "create", f"{name} is already registered with type {found}", is_done=False)
    type_ = known_type(statement.type, statement.position)
    catalogue.put_type(name, type_)
    return Outcome(entity, "create", f"Registered custom type with name '{name}' and SQL type {type_}")


def drop_type(statement: DropType, catalogue: Catalogue) -> Outcome:
    """Columns keep the type that the name stood for when they were declared."""
    entity, name = (TYPE, statement.name), statement.name
    if name not in catalogue.types:
        if not statement.if_exists:
            hint = choice_hint(name, catalogue.types) if catalogue.types else " There is none."
            raise SqlProblem(f"Type {name} does not exist.{hint}", statement.position)
        return Outcome(entity, "drop", f"Type '{name}' does not exist", is_done=False)
    catalogue.drop_type(name)
    return Outcome(entity, "drop", f"Dropped type '{name}'")


def alter_source(statement: AlterSource, command: Command, catalogue: Catalogue) -> Outcome:
    """Queries that run go on with the columns that there were when they were made."""
    kind, name = statement.kind, statement.name
    found = catalogue.source(name)
    if found is None:
        raise SqlProblem(f"Source {name} does not exist.{source_hint(catalogue, name)}", statement.position)
    if found.kind is not kind:
        raise SqlProblem(
            f"Incompatible data source type is {found.kind.value}, but statement was ALTER {kind.value}. Say ALTER "
            f"{found.kind.value}.",
            statement.position,
        )
    if found.is_read_only:
        word = kind.value.lower()
        raise SqlProblem(
            f"Cannot alter {word} '{name}': ALTER operations are not supported on source {word}s. Drop it and create it anew."
        )
    if found.query_id is not None:
        raise SqlProblem(
            "ALTER command is not supported for CREATE ... AS statements. Give the query its new columns: CREATE OR REPLACE "
            f"{kind.value} {name} AS …"
        )
    source = altered(found, statement)
    catalogue.put(replace(source, statement=f"{found.statement}\n{command.statement}"))
    word = "Stream" if kind is Kind.STREAM else "Table"
    return Outcome((kind.value.lower(), name), ALTER, f"{word} {name} altered.")


def alter_system(statement: AlterSystem, catalogue: Catalogue) -> Outcome:
    catalogue.set_property(plain_name(statement.name), statement.value)
    message = (
        f"{statement.name}={statement.value} holds for statements from now on, unless a session sets it otherwise."
    )
    return Outcome(("cluster", statement.name), ALTER, message)
