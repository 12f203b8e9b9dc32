"""What a command does to the catalogue: tried out on a copy before it is written, done when it comes back from the topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from streams_sql.analysis.catalogue_view import source_hint
from streams_sql.analysis.defaults import Defaults
from streams_sql.analysis.definition import define_source
from streams_sql.analysis.persistent import plan_create_as, plan_insert
from streams_sql.engine.catalogue import Catalogue, PersistentQuery
from streams_sql.engine.command import LOWERING, Command
from streams_sql.engine.replacement import check_query_replacement, check_replacement
from streams_sql.engine.schema_texts import read_schema
from streams_sql.language.parsing import parse_statement
from streams_sql.language.problem import SqlProblem
from streams_sql.language.statements import (
    ChangeQuery,
    CreateAsSelect,
    CreateSource,
    DropSource,
    InsertSelect,
    QueryAction,
)
from streams_sql.plan.nodes import Aggregate, Filter, FlatMap, LookupJoin, Node, PersistentPlan, Project, Read, Rekey
from streams_sql.sources import Source

Changing: TypeAlias = CreateSource | CreateAsSelect | InsertSelect | DropSource | ChangeQuery


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a command: which thing it was about, what happened to it, and the words for it. `is_done` is false where nothing was
    to do; `dropped` and `ended` are what is gone with it, and `started` is a query that begins."""

    entity: tuple[str, str]
    action: str
    message: str
    is_done: bool = True
    made: Source | None = None
    started: PersistentQuery | None = None
    dropped: Source | None = None
    ended: tuple[PersistentQuery, ...] = ()


class Changes:
    def __init__(self, defaults: Defaults) -> None:
        self._defaults = defaults

    def apply(self, command: Command, catalogue: Catalogue) -> Outcome:
        """SqlProblem when the statement cannot be done; then nothing has changed."""
        statement = parse_statement(command.statement)
        match statement:
            case CreateSource():
                return self._create(statement, command, catalogue)
            case CreateAsSelect():
                return self._create_as(statement, command, catalogue)
            case InsertSelect():
                return self._insert(statement, command, catalogue)
            case DropSource():
                return _drop(statement, catalogue)
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
        catalogue.put(source)
        return Outcome(entity, "create", f"{statement.kind.value.capitalize()} created", made=source)

    def _create_as(self, statement: CreateAsSelect, command: Command, catalogue: Catalogue) -> Outcome:
        assert command.query_id is not None, "a query has an id when its command is written"
        entity = (statement.kind.value.lower(), statement.name)
        found = catalogue.source(statement.name)
        if found is not None and (refused := _there_already(statement, found)) is not None:
            return Outcome(entity, "create", refused, is_done=False)
        plan = plan_create_as(statement, catalogue, self._defaults.overridden(command.properties))
        sink = replace(plan.sink, statement=command.statement, query_id=command.query_id)
        query = _query(command, replace(plan, sink=sink))
        if found is not None:
            check_replacement(found, sink)
            former = catalogue.made_by(found.name)
            if former is not None:
                check_query_replacement(former.plan, query.plan)
        # A query that takes the place of another has its id, and with it what Spark has read and knows.
        catalogue.put(sink)
        catalogue.add_query(query)
        return Outcome(entity, "create", f"Created query with ID {query.id}", made=sink, started=query)

    def _insert(self, statement: InsertSelect, command: Command, catalogue: Catalogue) -> Outcome:
        plan = plan_insert(statement, catalogue)
        query = _query(command, plan)
        catalogue.add_query(query)
        entity = ("stream", statement.target)
        return Outcome(entity, "create", f"Created query with ID {query.id}", started=query)


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
    )


def sources_of(node: Node) -> Iterator[Source]:
    """Everything that a plan reads."""
    match node:
        case Read():
            yield node.source
        case Filter() | Project() | FlatMap() | Rekey() | Aggregate():
            yield from sources_of(node.input)
        case LookupJoin():
            yield from sources_of(node.stream)
            yield from sources_of(node.table)
        case _:
            yield from sources_of(node.left)
            yield from sources_of(node.right)


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
    made_by = catalogue.made_by(found.name)
    catalogue.drop(found.name)
    message = f"Source `{found.name}` (topic: {found.topic}) was dropped."
    return Outcome(entity, "drop", message, dropped=found, ended=() if made_by is None else (made_by,))


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
        chosen = [found]
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
