"""A server without commands from clients: what it runs are the statements of a file, each time it starts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from barnabas.kernel.setting_errors import SettingError
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.changes import CatalogueChange, sources_of
from streams_sql.engine.catalogue.command import Command
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.engine.failures import StatementFailed
from streams_sql.engine.statements.catalogue_statements import CatalogueStatements, ValidatedChange
from streams_sql.engine.statements.preparation import QUERY_PREFIXES, check_query_id
from streams_sql.engine.statements.request import ParsedRequest, SqlRequest, parse_request
from streams_sql.engine.statements.session import PropertyCheck, Session
from streams_sql.language.binding import bound
from streams_sql.language.function_statements import CreateFunction, DropFunction
from streams_sql.language.statements import (
    AlterSource,
    CreateAsSelect,
    CreateSource,
    CreateType,
    DefineVariable,
    DropType,
    InsertSelect,
    SetProperty,
    Statement,
    UndefineVariable,
    UnsetProperty,
)
from streams_sql.problem import Lines, SqlProblem, shown

QUERIES_FILE: Final = "ksql.queries.file"
DIGEST_CHARACTERS: Final = 8


@dataclass(frozen=True, slots=True)
class QueriesFile:
    """The ids of queries come from their statements: one that stands in the file as before goes on from its checkpoint, wherever in the
    file it stands now; one that has changed is another query, and begins from scratch."""

    path: Path
    statements: CatalogueStatements
    check_property: PropertyCheck

    @property
    def rejection(self) -> str:
        """The error for clients that want to change something."""
        return (
            f"This server runs the statements of {self.path.name} ({QUERIES_FILE}) and takes no others: it answers SELECT, SHOW, "
            "DESCRIBE, EXPLAIN and PRINT. Change the file, and start the server again."
        )

    async def run(self) -> None:
        """Make everything that the file asks for, or nothing if one of its statements is wrong. SettingError, StoreFailure."""
        for each in await self._validated(self._text()):
            if each.outcome.is_done:
                await self.statements.write(each)

    def _text(self) -> str:
        try:
            return self.path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise self._error(f"the file cannot be read: {error}") from None

    async def _validated(self, text: str) -> list[ValidatedChange]:
        session, sandbox = Session({}, {}, self.check_property), self.statements.catalogue.copy()
        validated: list[ValidatedChange] = []
        parsed = self._parsed(text)
        for each in parsed.statements:
            statement = bound(each.statement, sandbox.types, sandbox.functions)
            try:
                found = await self._validate(each.text, statement, session, sandbox)
            except SqlProblem as problem:
                raise self._statement_error(text, each.start, each.written, problem) from None
            if found is not None:
                validated.append(found)
        if (failure := parsed.failure) is not None:
            raise self._statement_error(text, failure.start, failure.written, failure.problem)
        return validated

    def _parsed(self, text: str) -> ParsedRequest:
        try:
            return parse_request(SqlRequest(text), statements_max=None)
        except StatementFailed as failure:
            raise self._error(shown(text, failure.problem)) from None

    async def _validate(
        self, text: str, statement: Statement, session: Session, sandbox: Catalogue
    ) -> ValidatedChange | None:
        match statement:
            case SetProperty() | UnsetProperty() | DefineVariable() | UndefineVariable():
                session.apply(statement)
            case CreateSource() | CreateAsSelect() | InsertSelect():
                command = await self.statements.preparation.command(statement, text, session.properties, 0, sandbox)
                # All statements are run again at each start: a query that takes the place of another one would be built each time.
                command = replace(command, spare_id=None)
                return await self.statements.apply(statement, self._with_own_id(command, statement, sandbox), sandbox)
            case CreateType() | DropType() | AlterSource() | CreateFunction() | DropFunction():
                return await self.statements.apply(statement, Command(text, session.properties), sandbox)
            case _:
                raise SqlProblem(
                    "Only CREATE STREAM, CREATE TABLE, INSERT INTO … SELECT, CREATE FUNCTION, DROP FUNCTION, CREATE TYPE, DROP TYPE, ALTER STREAM, ALTER TABLE, SET, "
                    "UNSET, DEFINE and UNDEFINE may stand in a file of queries."
                )
        return None

    def _with_own_id(self, command: Command, statement: CatalogueChange, sandbox: Catalogue) -> Command:
        if command.query_id is None:
            return command
        if not isinstance(statement, InsertSelect) or "QUERY_ID" not in statement.properties:
            command = replace(command, query_id=f"{_name(statement)}_{self._digest(statement, command, sandbox)}")
        check_query_id(statement, command, sandbox)
        return command

    def _digest(self, statement: CatalogueChange, command: Command, sandbox: Catalogue) -> str:
        """Of the statement, and of those that say how the bytes of its sources are read."""
        outcome = self.statements.changes.apply(statement, command, sandbox.copy())
        texts = [command.statement, *_declarations(outcome)]
        words = " ".join(" ".join(text.split()) for text in texts)
        return hashlib.sha256(words.encode()).hexdigest()[:DIGEST_CHARACTERS].upper()

    def _statement_error(self, text: str, start: int, written: str, problem: SqlProblem) -> SettingError:
        line = Lines(text).position(start, 1).line
        return self._error(f"the statement in line {line}: {shown(written, problem)}")

    def _error(self, reason: str) -> SettingError:
        return SettingError(QUERIES_FILE, str(self.path), reason)


def _name(statement: CatalogueChange) -> str:
    match statement:
        case CreateAsSelect():
            return f"{QUERY_PREFIXES[statement.kind]}_{statement.name}"
        case InsertSelect():
            return f"INSERTQUERY_{statement.target}"
    raise AssertionError(f"{type(statement).__name__} starts no query")


def _declarations(outcome: Outcome) -> Iterator[str]:
    if outcome.started is not None:
        for source in sources_of(outcome.started.plan.node):
            if source.query_id is None:
                yield source.statement
