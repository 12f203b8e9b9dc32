"""A test's own world: a catalogue, topics and queries in memory, on which its statements are carried out one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from streams_sql.analysis.defaults import Defaults
from streams_sql.analysis.definition import missing_schema
from streams_sql.analysis.deletion import plan_delete
from streams_sql.analysis.insertion import plan_insert_values
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.changes import CatalogueChange, Changes
from streams_sql.engine.catalogue.command import Command
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.engine.catalogue.schema_texts import schema_texts
from streams_sql.engine.queries.query_settings import starting_offsets
from streams_sql.engine.statements.inserts import RecordEncoder, deleted_keys, new_record
from streams_sql.engine.statements.preparation import check_query_id, new_command
from streams_sql.engine.statements.session import Session
from streams_sql.formats.capabilities import CAPABILITIES
from streams_sql.formats.inference import infer_schema
from streams_sql.formats.registration import forget_schemas, register_schemas
from streams_sql.formats.serde import RegistryAccess
from streams_sql.functions.made_functions import python_of
from streams_sql.language.binding import bound
from streams_sql.language.parsing import parse_statement
from streams_sql.language.scripts import check_depth, runs_script, script_name
from streams_sql.language.statements import (
    AssertRows,
    AssertSource,
    CreateSource,
    DefineVariable,
    DropSource,
    InsertValues,
    SetProperty,
    Statement,
    UndefineVariable,
    UnsetProperty,
)
from streams_sql.language.table_statements import DeleteRows
from streams_sql.language.variables import substitute
from streams_sql.plan.join_warning import JoinWarning
from streams_sql.plan.nodes import DeletePlan, InsertPlan
from streams_sql.plan.records import Problem, problem_text
from streams_sql.problem import SqlProblem
from streams_sql.sources import Source
from streams_sql.spark.sources.positions import LATEST
from streams_sql.testing.checks import Checks
from streams_sql.testing.memory_queries import Hearers, MemoryQueries
from streams_sql.testing.memory_topics import MemoryTopics
from streams_sql.testing.script import PlacedStatement, UnreadableFile, placed, read_text

PROBLEMS_MAX: Final = 20
"""That are kept for who asks why a test has failed."""

Registry = Callable[[], RegistryAccess]
"""Asked for when a format first needs it: one that has to be started takes a while."""


class StatementProblem(Exception):
    """A statement that cannot be done, or an assertion that does not hold."""

    def __init__(self, statement: PlacedStatement, problem: SqlProblem) -> None:
        super().__init__(problem.message)
        self.statement = statement
        self.problem = problem


class Bench:
    """As on a server, queries read what is written once they are there, unless `auto.offset.reset` says otherwise. Formats of the registry need one."""

    def __init__(self, registry: Registry | None) -> None:
        self._registry = registry
        self._defaults = Defaults()
        self._catalogue = Catalogue()
        self._changes = Changes(self._defaults)
        # Files that were made for ksqlDB set what a server of ours may not know.
        self._session = Session({}, {}, lambda name, value: None)
        self._topics = MemoryTopics()
        self._queries = MemoryQueries(self._topics, self._registry_of, Hearers(self._note, self._note_error))
        self._checks = Checks(self._catalogue, self._topics, self._registry_of)
        self._changed = 0
        self._registered: list[Source] = []
        self.problems: list[str] = []
        """Records and rows that went wrong on the way, the first of them."""

    def run(self, statement: PlacedStatement, depth: int = 0) -> None:
        """StatementProblem with the statement that is wrong: it may be one of a script that this one runs."""
        try:
            text = substitute(statement.text, self._session.variables)
            if runs_script(text):
                self._run_script(script_name(text), statement.path, depth)
                return
            self._do(bound(parse_statement(text), self._catalogue.types, self._catalogue.functions), text)
            self._queries.run(query.id for query in self._catalogue.queries.values() if query.is_paused)
        except SqlProblem as problem:
            raise StatementProblem(statement, problem) from None

    def close(self) -> None:
        """Another test must not find the schemas of this one."""
        for source in self._registered:
            forget_schemas(source, self._registry_of(source))

    def _run_script(self, name: str, beside: Path, depth: int) -> None:
        check_depth(depth)
        path = beside.parent / name
        try:
            statements = list(placed(read_text(path), path))
        except UnreadableFile as problem:
            raise SqlProblem(f"The script {path} cannot be run: {problem}.") from None
        for statement in statements:
            self.run(statement, depth + 1)

    def _do(self, statement: Statement, text: str) -> None:
        match statement:
            case SetProperty() | UnsetProperty() | DefineVariable() | UndefineVariable():
                self._session.apply(statement)
            case InsertValues():
                self._insert(plan_insert_values(statement, self._catalogue))
            case DeleteRows():
                self._delete(plan_delete(statement, self._catalogue))
            case AssertRows():
                self._checks.rows(statement)
            case AssertSource():
                self._checks.source(statement)
            case _ if isinstance(statement, CatalogueChange):
                self._change(statement, text)
            case _:
                word = text.split(None, 1)[0].rstrip(";").upper()
                raise SqlProblem(
                    f"{word} has no meaning in a test, where there is neither a server nor a cluster. Tests take CREATE, INSERT, DELETE, "
                    "ALTER, DROP, TERMINATE, PAUSE, RESUME, SET, DEFINE, RUN SCRIPT, and ASSERT VALUES, NULL VALUES, STREAM and TABLE."
                )

    # --- changes ---

    def _change(self, statement: CatalogueChange, text: str) -> None:
        catalogue, properties = self._catalogue, self._session.properties
        command = new_command(statement, text, properties, self._changed + 1, catalogue)
        if isinstance(statement, CreateSource):
            command = self._with_schema(statement, command)
        check_query_id(statement, command, catalogue)
        outcome = self._changes.apply(statement, command, catalogue.copy())
        if outcome.function is not None and (python := python_of(outcome.function)) is not None:
            python.check()
        if not outcome.is_done:
            return
        self._register(outcome)
        self._changes.apply(statement, command, catalogue)
        self._changed += 1
        self._follow(statement, outcome)

    def _follow(self, statement: CatalogueChange, outcome: Outcome) -> None:
        started = outcome.started
        if started is not None and started.rebuilds is not None:
            # In a test nothing else happens meanwhile.
            self._queries.rebuild(started)
            self._changes.replay(Command(started.statement, query_id=started.id, is_swap=True), self._catalogue)
            return
        for query in outcome.ended:
            self._queries.end(query.id)
        if started is not None:
            self._queries.start(started, is_from_now=starting_offsets(self._session.properties) == LATEST)
        if outcome.dropped is not None and isinstance(statement, DropSource) and statement.delete_topic:
            self._topics.delete(outcome.dropped.topic)
            self._checks.forget(outcome.dropped.topic)

    def _with_schema(self, statement: CreateSource, command: Command) -> Command:
        missing = missing_schema(statement, self._defaults.overridden(command.properties))
        if missing is None:
            return command
        return replace(command, schema=schema_texts(infer_schema(missing, self._asked_registry(statement.name))))

    def _register(self, outcome: Outcome) -> None:
        made = outcome.made if outcome.started is None else outcome.started.plan.sink
        if made is not None and (registry := self._registry_of(made)) is not None:
            self._registered.append(made)
            register_schemas(made, registry)

    def _registry_of(self, source: Source) -> RegistryAccess | None:
        formats = (source.key_format, source.value_format)
        if not any(CAPABILITIES[use.name].has_schemas for use in formats):
            return None
        return self._asked_registry(source.name)

    def _asked_registry(self, name: str) -> RegistryAccess:
        if self._registry is None:
            raise SqlProblem(f"The format of {name} needs a schema registry, and there is none for this test.")
        return self._registry()

    # --- records ---

    def _insert(self, plan: InsertPlan) -> None:
        target = plan.target
        encoder = RecordEncoder(target, self._registry_of(target))
        records = [new_record(target, row) for row in plan.rows]
        for record, encoded in [(record, encoder.encoded(record)) for record in records]:
            at = _now_ms() if record.timestamp is None else record.timestamp
            self._topics.append(target.topic, encoded.key, encoded.value, at)

    def _delete(self, plan: DeletePlan) -> None:
        encoder = RecordEncoder(plan.target, self._registry_of(plan.target))
        for encoded in [encoder.deleting(key) for key in deleted_keys(plan)]:
            self._topics.append(plan.target.topic, encoded.key, encoded.value, _now_ms())

    def _note(self, problem: Problem) -> None:
        self._keep(problem_text(problem.topic, problem.partition, problem.offset, problem.reason))

    def _note_error(self, error: Exception) -> None:
        if not isinstance(error, JoinWarning):
            self._keep(f"an expression gave NULL: {error}")
        elif error.text:
            self._keep(error.text)

    def _keep(self, text: str) -> None:
        if len(self.problems) < PROBLEMS_MAX and text not in self.problems:
            self.problems.append(text)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
