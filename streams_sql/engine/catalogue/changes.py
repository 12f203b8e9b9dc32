"""What a command does to the catalogue: tried out on a copy before it is written, done when it comes back from the topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from streams_sql.analysis.catalogue_view import source_hint
from streams_sql.analysis.defaults import Defaults
from streams_sql.analysis.definition import define_source
from streams_sql.analysis.persistent import plan_create_as, plan_insert
from streams_sql.engine.catalogue.alterations import alter_source, alter_system, create_type, drop_type
from streams_sql.engine.catalogue.catalogue import Catalogue, PersistentQuery
from streams_sql.engine.catalogue.command import LOWERING, Command
from streams_sql.engine.catalogue.function_changes import create_function, drop_function
from streams_sql.engine.catalogue.index_changes import create_index, drop_index, with_indexes
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.engine.catalogue.schema_texts import read_schema
from streams_sql.engine.queries.rebuilding import as_rebuilding, kept, rebuilding, shadow_topic, swapped, under_way
from streams_sql.engine.queries.replacement import check_replacement
from streams_sql.language.binding import bound
from streams_sql.language.function_statements import CreateFunction, DropFunction
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import (
    AlterSource,
    AlterSystem,
    ChangeQuery,
    CreateAsSelect,
    CreateSource,
    CreateType,
    DropSource,
    DropType,
    InsertSelect,
    QueryAction,
    Statement,
)
from streams_sql.language.table_statements import CreateIndex, DropIndex
from streams_sql.plan.function_uses import python_calls
from streams_sql.plan.nodes import Node, PersistentPlan, reads_of
from streams_sql.problem import SqlProblem, placed_at
from streams_sql.sources import Source

CatalogueChange: TypeAlias = (
    CreateSource
    | CreateAsSelect
    | InsertSelect
    | DropSource
    | CreateType
    | DropType
    | CreateIndex
    | DropIndex
    | AlterSource
    | AlterSystem
    | CreateFunction
    | DropFunction
    | ChangeQuery
)


class Changes:
    """`internal_prefix` begins the names of topics that are the server's own."""

    def __init__(self, defaults: Defaults, internal_prefix: str = "") -> None:
        self._defaults = defaults
        self._internal_prefix = internal_prefix

    def replay(self, command: Command, catalogue: Catalogue) -> Outcome:
        """Apply a command as the topic has it. SqlProblem."""
        return self.apply(
            bound(parse_statement(command.statement), catalogue.types, catalogue.functions), command, catalogue
        )

    def apply(self, statement: Statement, command: Command, catalogue: Catalogue) -> Outcome:
        """Apply the statement of a command. SqlProblem when that cannot be done; then nothing has changed."""
        with placed_at(getattr(statement, "position", None)):
            return self._applied(statement, command, catalogue)

    def _applied(self, statement: Statement, command: Command, catalogue: Catalogue) -> Outcome:
        match statement:
            case CreateSource():
                return self._create(statement, command, catalogue)
            case CreateAsSelect():
                return self._create_as(statement, command, catalogue)
            case InsertSelect():
                return self._insert(statement, command, catalogue)
            case DropSource():
                return _drop(statement, catalogue)
            case CreateIndex() | DropIndex() | CreateType() | DropType() | CreateFunction() | DropFunction():
                return _made_or_dropped(statement, catalogue)
            case AlterSource():
                return alter_source(statement, command, catalogue)
            case AlterSystem():
                return alter_system(statement, catalogue)
            case ChangeQuery():
                return _change_query(statement, catalogue)
            case _:
                raise SqlProblem(f"{command.statement} changes nothing")

    def _create(self, statement: CreateSource, command: Command, catalogue: Catalogue) -> Outcome:
        entity = (statement.kind.value.lower(), statement.name)
        found = catalogue.source(statement.name)
        if found is not None and (refused := _there_already(statement, found)) is not None:
            return Outcome(entity, "create", refused, is_done=False)
        source = define_source(statement, self._defaults.overridden(command.properties), read_schema(command.schema))
        source = replace(source, statement=command.statement)
        if found is not None:
            check_replacement(found, source)
        catalogue.put(with_indexes(source, found))
        return Outcome(entity, "create", f"{statement.kind.value.capitalize()} created", made=source)

    def _create_as(self, statement: CreateAsSelect, command: Command, catalogue: Catalogue) -> Outcome:
        assert command.query_id is not None, "a query has an id when its command is written"
        entity = (statement.kind.value.lower(), statement.name)
        found = catalogue.source(statement.name)
        if found is not None and (refused := _there_already(statement, found)) is not None:
            return Outcome(entity, "create", refused, is_done=False)
        if command.is_swap:
            return swapped(command.query_id, catalogue)
        plan = plan_create_as(statement, catalogue, self._defaults.overridden(command.properties))
        if found is not None:
            check_replacement(found, plan.sink)
            command = as_rebuilding(command, plan, catalogue.made_by(found.name))
            if (built := under_way(command, plan, catalogue)) is not None:
                return kept(built)
        sink = replace(plan.sink, statement=command.statement, query_id=command.query_id)
        query = _query(command, replace(plan, sink=sink))
        ended = tuple(catalogue.rebuilt(statement.name))
        for each in ended:
            catalogue.end_query(each.id)
        if query.rebuilds is not None:
            return rebuilding(query, shadow_topic(self._internal_prefix, query.id), ended, catalogue)
        # A query that takes the place of another has its id, and with it what Spark has read and knows.
        catalogue.put(with_indexes(sink, found))
        catalogue.add_query(query)
        return Outcome(entity, "create", f"Created query with ID {query.id}", made=sink, started=query, ended=ended)

    def _insert(self, statement: InsertSelect, command: Command, catalogue: Catalogue) -> Outcome:
        plan = plan_insert(statement, catalogue)
        query = _query(command, plan)
        catalogue.add_query(query)
        entity = ("stream", statement.target)
        return Outcome(entity, "create", f"Created query with ID {query.id}", started=query)


def _made_or_dropped(
    statement: CreateIndex | DropIndex | CreateType | DropType | CreateFunction | DropFunction, catalogue: Catalogue
) -> Outcome:
    match statement:
        case CreateIndex():
            return create_index(statement, catalogue)
        case DropIndex():
            return drop_index(statement, catalogue)
        case CreateType():
            return create_type(statement, catalogue)
        case DropType():
            return drop_type(statement, catalogue)
        case CreateFunction():
            return create_function(statement, catalogue)
        case DropFunction():
            return drop_function(statement, catalogue)


def _query(command: Command, plan: PersistentPlan) -> PersistentQuery:
    assert command.query_id is not None
    reads = frozenset(source.name for source in sources_of(plan.node))
    lowering = LOWERING if command.lowering is None else command.lowering
    return PersistentQuery(
        command.query_id,
        command.statement,
        plan,
        reads,
        command.properties,
        lowering,
        command.slots or 0,
        command.positions,
        command.why_batches,
        rebuilds=command.rebuilds,
        functions=frozenset(call.name for call in python_calls(plan)),
    )


def sources_of(node: Node) -> Iterator[Source]:
    """Everything that a plan reads, place by place."""
    return (read.source for read in reads_of(node))


def _there_already(statement: CreateSource | CreateAsSelect, found: Source) -> str | None:
    """Why nothing is made, where that is no error; None if the one that is there is to be replaced."""
    kind, name = statement.kind.value.lower(), statement.name
    message = f"Cannot add {kind} '{name}': A {found.kind.value.lower()} with the same name already exists"
    if statement.if_not_exists:
        return message
    if not statement.or_replace:
        raise SqlProblem(f"{message}. Drop it first, choose another name, or say CREATE OR REPLACE.")
    if found.kind is not statement.kind:
        raise SqlProblem(f"Cannot replace {found.kind.value.lower()} {name} with a {kind}.")
    return None


def _drop(statement: DropSource, catalogue: Catalogue) -> Outcome:
    entity = (statement.kind.value.lower(), statement.name)
    found = catalogue.source(statement.name)
    if found is None:
        if statement.if_exists:
            return Outcome(entity, "drop", f"Source `{statement.name}` does not exist.", is_done=False)
        raise SqlProblem(
            f"{statement.kind.value.capitalize()} {statement.name} does not exist."
            f"{source_hint(catalogue, statement.name)}",
            statement.position,
        )
    if found.kind is not statement.kind:
        raise SqlProblem(
            f"Incompatible data source type is {found.kind.value}, but statement was DROP {statement.kind.value}"
        )
    if statement.delete_topic and found.is_read_only:
        raise SqlProblem(f"Cannot delete topic for read-only source: {found.name}")
    made_by, rebuilt = catalogue.made_by(found.name), catalogue.rebuilt(found.name)
    catalogue.drop(found.name)
    message = f"Source `{found.name}` (topic: {found.topic}) was dropped."
    return Outcome(entity, "drop", message, dropped=found, ended=(*([] if made_by is None else [made_by]), *rebuilt))


_DONE: Final[Mapping[QueryAction, str]] = {
    QueryAction.TERMINATE: "Query terminated.",
    QueryAction.PAUSE: "Query paused.",
    QueryAction.RESUME: "Query resumed.",
}


def _change_query(statement: ChangeQuery, catalogue: Catalogue) -> Outcome:
    action = statement.action
    if statement.query_id is None:
        chosen = list(catalogue.queries.values())
    elif (found := catalogue.queries.get(statement.query_id)) is not None:
        # Who follows a query of which nothing is left cannot know what that has written.
        followers = [query for query in catalogue.queries.values() if query.is_follower and query.rebuilds == found.id]
        chosen = [found, *(followers if action is QueryAction.TERMINATE else ())]
    else:
        raise SqlProblem(f"Unknown queryId: {statement.query_id}. SHOW QUERIES lists those that run.")
    for query in chosen:
        if action is QueryAction.TERMINATE:
            catalogue.end_query(query.id)
        else:
            catalogue.pause(query.id, is_paused=action is QueryAction.PAUSE)
    ended = tuple(chosen) if action is QueryAction.TERMINATE else ()
    entity = (action.value.lower(), statement.query_id or "ALL")
    return Outcome(entity, "execute", _DONE[action], ended=ended)
