"""Statements that change the catalogue: validated on a copy of it, then written to the command topic."""

from __future__ import annotations

from dataclasses import dataclass

from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.changes import CatalogueChange, Changes
from streams_sql.engine.catalogue.command import Command
from streams_sql.engine.catalogue.command_log import CommandLog
from streams_sql.engine.catalogue.leadership import Leadership
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.engine.client_queries.resolution import Resolution
from streams_sql.engine.queries.retention import RetentionCheck
from streams_sql.engine.queries.scheduling import WRITE_TIME_WARNING
from streams_sql.engine.statements.entities import CommandStatus, Entity, StatementWarning
from streams_sql.engine.statements.preparation import Preparation, check_query_id
from streams_sql.engine.statements.session import Session
from streams_sql.language.function_statements import DropFunction
from streams_sql.language.statements import AlterSystem, CreateAsSelect, DropSource, DropType, InsertSelect
from streams_sql.language.table_statements import DropIndex


@dataclass(frozen=True, slots=True)
class ValidatedChange:
    statement: CatalogueChange
    command: Command
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class CatalogueStatements:
    """`retention` warns of a query whose rows are deleted soon."""

    catalogue: Catalogue
    changes: Changes
    commands: CommandLog
    leadership: Leadership
    preparation: Preparation
    resolution: Resolution
    retention: RetentionCheck

    async def validate(
        self, statement: CatalogueChange, text: str, session: Session, sandbox: Catalogue, index: int
    ) -> ValidatedChange:
        """Apply a statement to the sandbox, where those before it in the request have been applied; `index` is its own there. SqlProblem,
        StoreFailure, Unavailable."""
        self.leadership.check()
        if isinstance(statement, AlterSystem):
            session.check_property(statement.name, statement.value)
            session.alter_system(statement.name, statement.value)
        if isinstance(statement, CreateAsSelect | InsertSelect):
            await self.resolution.refuse_topics(statement.query, sandbox)
        number = self.commands.count + 1 + index
        command = await self.preparation.command(statement, text, session.properties, number, sandbox)
        check_query_id(statement, command, sandbox)
        return await self.apply(statement, command, sandbox)

    async def apply(self, statement: CatalogueChange, command: Command, sandbox: Catalogue) -> ValidatedChange:
        """Apply a command to the sandbox. SqlProblem, StoreFailure."""
        outcome = self.changes.apply(statement, command, sandbox)
        await self.preparation.check(outcome)
        return ValidatedChange(statement, command, outcome)

    async def execute(self, change: ValidatedChange) -> Entity:
        """SqlProblem, StoreFailure, Superseded."""
        statement, expected = change.statement, change.outcome
        if not expected.is_done:
            # Clients accept a warning for CREATE … IF NOT EXISTS; that something is gone already is as good as a drop to them, and a query
            # that is being built already as good as a new one.
            is_gone = isinstance(statement, DropSource | DropIndex | DropType | DropFunction)
            is_as_good = is_gone or expected.started is not None
            return self._status(expected, ()) if is_as_good else StatementWarning(expected.message)
        outcome, warnings = await self.write(change)
        await self.preparation.clean_up(statement, outcome)
        if outcome.started is not None:
            warnings += await self.retention.warnings(outcome.started)
        return self._status(outcome, warnings)

    async def write(self, change: ValidatedChange) -> tuple[Outcome, tuple[str, ...]]:
        """Provide what a change needs, and write its command. Return what came of it, and warnings. SqlProblem, StoreFailure, Superseded."""
        expected = change.outcome
        command = await self.preparation.scheduled(change.command, expected, self.catalogue)
        former = None if expected.made is None else self.catalogue.source(expected.made.name)
        warnings = await self.preparation.provide(change.statement, expected, former)
        return await self.commands.append(command), warnings

    def _status(self, outcome: Outcome, warnings: tuple[str, ...]) -> CommandStatus:
        query = outcome.started
        if query is not None and query.is_real_time:
            warnings = (WRITE_TIME_WARNING, *warnings)
        query_id = None if query is None else query.id
        return CommandStatus(outcome.entity, outcome.action, outcome.message, self.commands.count, query_id, warnings)
