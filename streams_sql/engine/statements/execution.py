"""Requests with statements: all of them are validated before the first is executed."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.kernel.kafka_log.failures import StoreFailure, Superseded
from streams_sql.analysis.deletion import plan_delete
from streams_sql.analysis.insertion import plan_insert_values
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.changes import CatalogueChange
from streams_sql.engine.client_queries.push_queries import PushQueries
from streams_sql.engine.failures import NeedsQueryEndpoint, StatementFailed, Unavailable
from streams_sql.engine.statements.assertions import Assertions
from streams_sql.engine.statements.catalogue_statements import CatalogueStatements, ValidatedChange
from streams_sql.engine.statements.connectors import Connectors
from streams_sql.engine.statements.descriptions import Descriptions
from streams_sql.engine.statements.entities import (
    Acknowledgement,
    Entity,
    PushQueryEnd,
    StatementResult,
    StatementWarning,
)
from streams_sql.engine.statements.function_rules import FunctionRules
from streams_sql.engine.statements.inserts import Inserter, Inserts, insert_target
from streams_sql.engine.statements.request import ParsedRequest
from streams_sql.engine.statements.routing import Executor, executor_of_all
from streams_sql.engine.statements.session import Session, Sessions
from streams_sql.language.binding import bound
from streams_sql.language.external_statements import AssertSchema, AssertTopic, CreateConnector, DropConnector
from streams_sql.language.statements import (
    AssertRows,
    AssertSource,
    ChangeQuery,
    DefineVariable,
    InsertValues,
    Print,
    Query,
    QueryAction,
    SetProperty,
    Statement,
    UndefineVariable,
    UnsetProperty,
)
from streams_sql.language.table_statements import DeleteRows
from streams_sql.problem import SqlProblem


@dataclass(frozen=True, slots=True)
class _Validated:
    """The session is as it is for this statement. `entity` is the result of a statement that has nothing left to do, `push_query` the id of
    the push query that it ends."""

    text: str
    statement: Statement
    session: Session
    change: ValidatedChange | None = None
    entity: Entity | None = None
    push_query: str | None = None


@dataclass(frozen=True, slots=True)
class StatementExecutor:
    """All methods may raise StatementFailed with the statement that is wrong, and Unavailable. `rejection` is the error for clients that
    want to change something, where none may."""

    catalogue: Catalogue
    sessions: Sessions
    catalogue_statements: CatalogueStatements
    descriptions: Descriptions
    connectors: Connectors
    assertions: Assertions
    inserts: Inserts
    functions: FunctionRules
    pushes: PushQueries
    rejection: str | None = None

    def executor_of(self, parsed: ParsedRequest) -> Executor:
        """A push query is ended by the server that runs it."""
        statements = (each.statement for each in parsed.statements)
        return executor_of_all(each for each in statements if self._push_query_to_end(each) is None)

    async def execute(self, parsed: ParsedRequest) -> list[StatementResult]:
        """Return the results of all statements of a request. Nothing is done unless all of them can be."""
        session = self.sessions.open(parsed.request)
        if self.executor_of(parsed) is not Executor.LEADER:
            return await self._execute_all(parsed, session)
        await self.catalogue_statements.leadership.settle()
        async with self.catalogue_statements.commands.exclusive:
            return await self._execute_all(parsed, session)

    def inserter(self, target: str) -> Inserter:
        """SqlProblem when rows cannot be written to it."""
        self._check_may_change()
        return Inserter(insert_target(self.catalogue, target), self.inserts)

    async def stop(self) -> None:
        await self.inserts.stop()
        await self.connectors.client.close()

    async def _execute_all(self, parsed: ParsedRequest, session: Session) -> list[StatementResult]:
        done: list[StatementResult] = []
        for each in await self._validate_all(parsed, session):
            try:
                done.append(StatementResult(each.text, await self._execute(each)))
            except SqlProblem as problem:
                raise StatementFailed(each.text, problem, done) from None
            except (StoreFailure, Superseded) as failure:
                raise Unavailable(str(failure)) from None
        return done

    # --- validation ---

    async def _validate_all(self, parsed: ParsedRequest, session: Session) -> list[_Validated]:
        sandbox, validated = self.catalogue.copy(), list[_Validated]()
        for index, each in enumerate(parsed.statements):
            statement = bound(each.statement, sandbox.types, sandbox.functions)
            try:
                validated.append(await self._validate(each.text, statement, session, sandbox, index))
            except SqlProblem as problem:
                raise StatementFailed(each.written, problem) from None
            except StoreFailure as failure:
                raise Unavailable(str(failure)) from None
        parsed.check()
        return validated

    async def _validate(
        self, text: str, statement: Statement, session: Session, sandbox: Catalogue, index: int
    ) -> _Validated:
        change, entity, push_query = None, None, self._push_query_to_end(statement)
        match statement:
            case Query() | Print():
                raise NeedsQueryEndpoint(
                    "The following statement types should be issued to the websocket endpoint '/query':\n\t* PRINT\n\t* SELECT\n"
                    "or to /query-stream."
                )
            case SetProperty() | UnsetProperty() | DefineVariable() | UndefineVariable():
                warning = session.apply(statement)
                entity = Acknowledgement() if warning is None else StatementWarning(warning)
            case _ if isinstance(statement, CatalogueChange) and push_query is None:
                self._check_may_change()
                change = await self.catalogue_statements.validate(statement, text, session, sandbox, index)
            case InsertValues():
                self._check_may_change()
                self.functions.check(plan_insert_values(statement, sandbox))
            case DeleteRows():
                self._check_may_change()
                plan_delete(statement, sandbox)
            case CreateConnector():
                self._check_may_change()
                await self.connectors.check(statement)
            case DropConnector():
                self._check_may_change()
            case AssertTopic() | AssertSchema():
                self.assertions.check(statement)
            case AssertRows() | AssertSource():
                raise SqlProblem(
                    "A server asserts topics and schemas alone: ASSERT VALUES, NULL VALUES, STREAM and TABLE are for tests, which "
                    "`barnabas sql test FILE` runs without a server."
                )
        return _Validated(text, statement, session.copy(), change, entity, push_query)

    def _check_may_change(self) -> None:
        if self.rejection is not None:
            raise SqlProblem(self.rejection)

    def _push_query_to_end(self, statement: Statement) -> str | None:
        """The id of the push query that TERMINATE names, if one of this server's has that id."""
        if isinstance(statement, ChangeQuery) and statement.action is QueryAction.TERMINATE:
            return self.pushes.find(statement.query_id or "")
        return None

    # --- execution ---

    async def _execute(self, validated: _Validated) -> Entity:
        statement = validated.statement
        if validated.entity is not None:
            return validated.entity
        if validated.change is not None:
            return await self.catalogue_statements.execute(validated.change)
        if validated.push_query is not None:
            await self.pushes.close(validated.push_query)
            return PushQueryEnd(validated.push_query)
        match statement:
            case InsertValues():
                await self.inserts.insert(plan_insert_values(statement, self.catalogue))
            case DeleteRows():
                await self.inserts.delete(plan_delete(statement, self.catalogue))
            case CreateConnector():
                return await self.connectors.create(statement)
            case DropConnector():
                return await self.connectors.drop(statement)
            case AssertTopic():
                return await self.assertions.topic(statement)
            case AssertSchema():
                return await self.assertions.schema(statement)
            case _:
                return await self.descriptions.of(statement, validated.text, validated.session)
        return Acknowledgement()
