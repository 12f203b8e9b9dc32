"""A server without commands from clients: what it runs are the statements of a file, each time it starts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from barnabas.kernel.setting_errors import SettingError
from streams_sql.engine.catalogue import Catalogue
from streams_sql.engine.changes import Changes, Changing, sources_of
from streams_sql.engine.command import Command
from streams_sql.engine.command_log import CommandLog
from streams_sql.engine.outcome import Outcome
from streams_sql.engine.preparation import Preparation, check_query_id
from streams_sql.engine.session import PropertyCheck, Session
from streams_sql.language.function_statements import CreateFunction, DropFunction
from streams_sql.language.parsing import parse_statement
from streams_sql.language.problem import Lines, SqlProblem, shown
from streams_sql.language.splitting import placed_statements
from streams_sql.language.statements import (
    AlterSource,
    CreateAsSelect,
    CreateSource,
    CreateType,
    DefineVariable,
    DropType,
    InsertSelect,
    Kind,
    SetProperty,
    Statement,
    UndefineVariable,
    UnsetProperty,
)
from streams_sql.language.variables import substitute

QUERIES_FILE: Final = "ksql.queries.file"
DIGEST_CHARACTERS: Final = 8

_PREFIXES: Final[Mapping[Kind, str]] = {Kind.STREAM: "CSAS", Kind.TABLE: "CTAS"}


@dataclass(frozen=True, slots=True)
class _Planned:
    statement: Changing
    command: Command
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class QueriesFile:
    """The ids of queries come from their statements: one that stands in the file as before goes on from its checkpoint, wherever in the
    file it stands now; one that has changed is another query, and begins anew."""

    path: Path
    catalogue: Catalogue
    changes: Changes
    preparation: Preparation
    commands: CommandLog
    check_property: PropertyCheck

    @property
    def refusal(self) -> str:
        """What clients are told that want to change something."""
        return (
            f"This server runs the statements of {self.path.name} ({QUERIES_FILE}) and takes no others: it answers SELECT, SHOW, "
            "DESCRIBE, EXPLAIN and PRINT. Change the file, and start the server again."
        )

    async def run(self) -> None:
        """Make everything that the file asks for, or nothing if one of its statements is wrong. SettingError, StoreFailure."""
        for each in await self._planned(self._text()):
            if each.outcome.is_done:
                command = await self.preparation.scheduled(each.command, each.outcome, self.catalogue)
                former = None if each.outcome.made is None else self.catalogue.source(each.outcome.made.name)
                await self.preparation.provide(each.statement, each.outcome, former)
                await self.commands.append(command)

    def _text(self) -> str:
        try:
            return self.path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise self._error(f"the file cannot be read: {error}") from None

    async def _planned(self, text: str) -> list[_Planned]:
        session, sandbox, planned = Session({}, {}, self.check_property), self.catalogue.copy(), list[_Planned]()
        lines = Lines(text)
        for start, one in self._placed(text):
            try:
                substituted = substitute(one, session.variables)
                found = await self._tried(
                    substituted, parse_statement(substituted, sandbox.types, sandbox.functions), session, sandbox
                )
            except SqlProblem as problem:
                raise self._error(
                    f"the statement in line {lines.position(start, 1).line}: {shown(one, problem)}"
                ) from None
            if found is not None:
                planned.append(found)
        return planned

    def _placed(self, text: str) -> list[tuple[int, str]]:
        try:
            return placed_statements(text)
        except SqlProblem as problem:
            raise self._error(shown(text, problem)) from None

    async def _tried(self, text: str, statement: Statement, session: Session, sandbox: Catalogue) -> _Planned | None:
        match statement:
            case SetProperty() | UnsetProperty() | DefineVariable() | UndefineVariable():
                session.apply(statement)
            case CreateSource() | CreateAsSelect() | InsertSelect():
                command = await self.preparation.command(statement, text, session.properties, 0, sandbox)
                # All statements are run anew at each start: a query that takes the place of another one would be built each time.
                command = replace(command, spare_id=None)
                command = self._with_own_id(command, statement, sandbox)
                outcome = self.changes.apply(command, sandbox)
                await self.preparation.check(outcome)
                return _Planned(statement, command, outcome)
            case CreateType() | DropType() | AlterSource() | CreateFunction() | DropFunction():
                command = Command(text, session.properties)
                outcome = self.changes.apply(command, sandbox)
                await self.preparation.check(outcome)
                return _Planned(statement, command, outcome)
            case _:
                raise SqlProblem(
                    "Only CREATE STREAM, CREATE TABLE, INSERT INTO … SELECT, CREATE FUNCTION, DROP FUNCTION, CREATE TYPE, DROP TYPE, ALTER STREAM, ALTER TABLE, SET, "
                    "UNSET, DEFINE and UNDEFINE may stand in a file of queries."
                )
        return None

    def _with_own_id(self, command: Command, statement: Changing, sandbox: Catalogue) -> Command:
        if command.query_id is None:
            return command
        if not isinstance(statement, InsertSelect) or "QUERY_ID" not in statement.properties:
            command = replace(command, query_id=f"{_name(statement)}_{self._digest(command, sandbox)}")
        check_query_id(statement, command, sandbox)
        return command

    def _digest(self, command: Command, sandbox: Catalogue) -> str:
        """Of the statement, and of those that say how the bytes of its sources are read."""
        outcome = self.changes.apply(command, sandbox.copy())
        texts = [command.statement, *_declarations(outcome)]
        words = " ".join(" ".join(text.split()) for text in texts)
        return hashlib.sha256(words.encode()).hexdigest()[:DIGEST_CHARACTERS].upper()

    def _error(self, reason: str) -> SettingError:
        return SettingError(QUERIES_FILE, str(self.path), reason)


def _name(statement: Changing) -> str:
    match statement:
        case CreateAsSelect():
            return f"{_PREFIXES[statement.kind]}_{statement.name}"
        case InsertSelect():
            return f"INSERTQUERY_{statement.target}"
    raise AssertionError(f"{type(statement).__name__} starts no query")


def _declarations(outcome: Outcome) -> Iterator[str]:
    if outcome.started is not None:
        for source in sources_of(outcome.started.plan.node):
            if source.query_id is None:
                yield source.statement
