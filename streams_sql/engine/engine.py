"""What each statement does."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from barnabas.kernel.kafka_log.failures import StoreFailure, Superseded
from barnabas.kernel.leadership.routing import LedGroup
from streams_sql.analysis.deletion import plan_delete
from streams_sql.analysis.insertion import plan_insert_values
from streams_sql.analysis.push import plan_push
from streams_sql.engine.answers import Answer, Answered, Changed, Done, PushEnded, PushStatus, Warned
from streams_sql.engine.assertions import Assertions
from streams_sql.engine.catalogue import Catalogue, PersistentQuery
from streams_sql.engine.changes import Changes, Changing
from streams_sql.engine.command import Command
from streams_sql.engine.command_log import CommandLog
from streams_sql.engine.connectors import Connectors
from streams_sql.engine.explaining import Explaining
from streams_sql.engine.failures import (
    NeedsQueryEndpoint,
    NeedsStatementEndpoint,
    NotCaughtUp,
    StatementFailed,
    Unavailable,
)
from streams_sql.engine.function_rules import FunctionRules
from streams_sql.engine.inserting import Inserter, Inserts
from streams_sql.engine.leadership import Leadership
from streams_sql.engine.listing import Listing
from streams_sql.engine.outcome import Outcome
from streams_sql.engine.preparation import Preparation, check_query_id
from streams_sql.engine.printing import PrintedLines, Printing
from streams_sql.engine.pulling import Pulling
from streams_sql.engine.push_queries import PushQueries
from streams_sql.engine.resolution import Resolution
from streams_sql.engine.results import Result
from streams_sql.engine.scanning import Scanning
from streams_sql.engine.scheduling import WRITE_TIME_WARNING
from streams_sql.engine.session import PropertyCheck, Session
from streams_sql.engine.swapping import Swapping
from streams_sql.engine.value_queries import with_values
from streams_sql.language.function_statements import DropFunction
from streams_sql.language.outward_statements import (
    AssertSchema,
    AssertTopic,
    CreateConnector,
    DescribeConnector,
    DropConnector,
    ShowConnectorPlugins,
    ShowConnectors,
)
from streams_sql.language.parsing import parse_statement
from streams_sql.language.problem import SqlProblem
from streams_sql.language.splitting import split_statements
from streams_sql.language.statements import (
    AlterSystem,
    AssertRows,
    AssertSource,
    ChangeQuery,
    CreateAsSelect,
    DefineVariable,
    DescribeFunction,
    DescribeSource,
    DescribeSources,
    DropSource,
    DropType,
    Explain,
    InsertSelect,
    InsertValues,
    Print,
    Query,
    QueryAction,
    SetProperty,
    Show,
    ShowErrors,
    Statement,
    UndefineVariable,
    UnsetProperty,
)
from streams_sql.language.table_statements import DeleteRows, DropIndex
from streams_sql.language.variables import substitute
from streams_sql.sources import Source

STATEMENTS_MAX: Final = 1_000
"""In one request."""
CATCH_UP_TIMEOUT_S: Final = 5.0
"""How long a request waits for the change that it comes after."""
CATCH_UP_INTERVAL_S: Final = 0.05

_WORD: Final = re.compile(r"\w+")
_CHANGING: Final = frozenset({"CREATE", "INSERT", "DROP", "ALTER", "TERMINATE", "PAUSE", "RESUME"})
_ANYWHERE: Final = re.compile(
    r"""INSERT\s+INTO\s+(?:`[^`]*`|"[^"]*"|[^\s(]+)\s*(?:\([^)]*\)\s*)?VALUES\b|(?:CREATE\s+(?:SOURCE|SINK)|DROP)\s+CONNECTOR\b""",
    re.IGNORECASE,
)
"""A statement that writes records or is for Connect, which any server can do."""
_ABOUT_QUERIES: Final = re.compile(r"(?:EXPLAIN|DESCRIBE|(?:SHOW|LIST)\s+(?:QUERIES|ERRORS))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EngineParts:
    """`incompleteness` says why rows of a source may be missing, `retention` which rows of a query go at once. `catch_up` reads what the
    leader has written. `refusal` is the error for clients that want to change something, where none may."""

    catalogue: Catalogue
    changes: Changes
    commands: CommandLog
    leadership: Leadership
    preparation: Preparation
    listing: Listing
    explaining: Explaining
    inserts: Inserts
    pushes: PushQueries
    pulling: Pulling
    resolution: Resolution
    scanning: Scanning
    printing: Printing
    swapping: Swapping
    connectors: Connectors
    assertions: Assertions
    check_property: PropertyCheck
    functions: FunctionRules
    incompleteness: Callable[[Source], tuple[str, ...]]
    retention: Callable[[PersistentQuery], Awaitable[tuple[str, ...]]]
    catch_up: Callable[[], Awaitable[None]]
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class _Planned:
    """A statement that has been tried out. Properties and variables are those that hold for it."""

    text: str
    statement: Statement
    session: Session
    command: Command | None = None
    outcome: Outcome | None = None
    warning: str | None = None


class Engine:
    """All methods may raise StatementFailed with the statement that is wrong, and Unavailable."""

    def __init__(self, parts: EngineParts) -> None:
        self._parts = parts
        # One change after the other: each is tried out on what those before it have made.
        self._changing = asyncio.Lock()

    def may_change(self, text: str) -> bool:
        """Whether a request has statements that only the leader can do."""
        return any(self._is_change(one) for one in _statements(text))

    def asks_of_queries(self, text: str) -> bool:
        """Whether a request has statements that the one who runs the queries can tell more of."""
        return any(_ABOUT_QUERIES.match(one) for one in _statements(text))

    @property
    def group(self) -> LedGroup:
        """The servers of the service, one of which makes changes."""
        return self._parts.leadership

    def push_statuses(self) -> list[PushStatus]:
        """The push queries of this server's clients."""
        return self._parts.pushes.statuses()

    async def catch_up(self) -> None:
        """Read what the leader has written."""
        try:
            await self._parts.catch_up()
        except StoreFailure as failure:
            raise Unavailable(str(failure)) from None

    async def reach(self, position: int) -> None:
        """Wait until the change that had this position has been made here, too."""
        commands = self._parts.commands
        try:
            async with asyncio.timeout(CATCH_UP_TIMEOUT_S):
                while commands.count < position:
                    await self.catch_up()
                    if commands.count < position:
                        await asyncio.sleep(CATCH_UP_INTERVAL_S)
        except TimeoutError:
            raise NotCaughtUp(
                f"Timed out while waiting for a previous command to execute. command sequence number: {position}"
            ) from None

    async def execute(self, text: str, properties: Mapping[str, str], variables: Mapping[str, str]) -> list[Answered]:
        """The answers to all statements of a request. Nothing is done unless all of them can be."""
        session = self._session(text, properties, variables)
        if not self.may_change(text):
            return await self._execute(text, session)
        await self._parts.leadership.settle()
        async with self._changing:
            return await self._execute(text, session)

    async def _execute(self, text: str, session: Session) -> list[Answered]:
        done: list[Answered] = []
        for each in await self._planned(text, session):
            try:
                done.append(Answered(each.text, await self._do(each)))
            except SqlProblem as problem:
                raise StatementFailed(each.text, problem, done) from None
            except (StoreFailure, Superseded) as failure:
                raise Unavailable(str(failure)) from None
        return done

    async def query(self, text: str, properties: Mapping[str, str], variables: Mapping[str, str]) -> Result:
        """The rows of one SELECT."""
        parts = self._parts
        prepared = parts.pulling.known(text)
        if prepared is not None:
            self._check(text, properties)
            return await parts.pulling.run(prepared, text)
        session = self._session(text, properties, variables)
        try:
            text, statement = self._only(text, session)
            match statement:
                case Query():
                    parts.functions.check(statement)
                    return await self._select(statement, text, session)
                case _:
                    raise NeedsStatementEndpoint(f"{_first_word(text)} is no query: send it to /ksql.")
        except SqlProblem as problem:
            raise StatementFailed(text, problem) from None
        except StoreFailure as failure:
            raise Unavailable(str(failure)) from None

    async def _select(self, query: Query, text: str, session: Session) -> Result:
        """What tables hold is looked up in their views; records of streams and topics are read."""
        parts = self._parts
        asked, notes = query, tuple[str, ...]()
        if query.emit is None:
            query, notes = await with_values(query, lambda inner: self._select(inner, text, session))
        resolved = await parts.resolution.resolved(query, parts.catalogue)
        if query.emit is not None:
            plan = plan_push(resolved.query, resolved, now_ms=_now_ms(), is_local=resolved.reads_records)
            result = await parts.pushes.start(plan, session.properties, text)
            return replace(result, notes=(*resolved.notes, *result.notes))
        if resolved.is_of_tables:
            # What stands in the place of a query is another value the next time.
            result = await parts.pulling.start(text, query, is_kept=query is asked)
        else:
            result = parts.scanning.start(resolved, text)
            notes += tuple(note for source in resolved.sources.values() for note in parts.incompleteness(source))
        return replace(result, notes=(*result.notes, *notes)) if notes else result

    async def print_topic(self, text: str, properties: Mapping[str, str], variables: Mapping[str, str]) -> PrintedLines:
        """The lines of PRINT."""
        session = self._session(text, properties, variables)
        try:
            text, statement = self._only(text, session)
            if not isinstance(statement, Print):
                raise NeedsStatementEndpoint(f"{_first_word(text)} prints nothing.")
            return await self._parts.printing.start(statement)
        except SqlProblem as problem:
            raise StatementFailed(text, problem) from None
        except StoreFailure as failure:
            raise Unavailable(str(failure)) from None

    def inserter(self, target: str) -> Inserter:
        """SqlProblem when rows cannot be written to it."""
        self._check_open()
        return Inserter(self._parts.explaining.insert_target(target), self._parts.inserts)

    async def close_query(self, query_id: str) -> bool:
        return await self._parts.pushes.close(query_id)

    async def swap(self, query_id: str) -> bool:
        """Let a query take the place of the one beside which it was built. Whether nothing of that is left to do."""
        async with self._changing:
            return await self._parts.swapping.swap(query_id)

    def _session(self, text: str, properties: Mapping[str, str], variables: Mapping[str, str]) -> Session:
        """Of a request. StatementFailed."""
        self._check(text, properties)
        return Session(properties, variables, self._parts.check_property, self._parts.catalogue.properties)

    def _check(self, text: str, properties: Mapping[str, str]) -> None:
        """What SET refuses is refused as a property of a request, too: a typing error must not go unnoticed."""
        for name, value in properties.items():
            problem = self._parts.check_property(name, value)
            if problem is not None:
                raise StatementFailed(text, SqlProblem(problem))

    def _only(self, text: str, session: Session) -> tuple[str, Statement]:
        """The one statement of a query; those before it may only be about the session."""
        found = split_statements(text)
        if len(found) != 1:
            raise SqlProblem(f"Expected exactly one KSQL statement; found {len(found)} instead.")
        substituted = substitute(found[0], session.variables)
        return substituted, parse_statement(substituted, self._parts.catalogue.types, self._parts.catalogue.functions)

    def _is_change(self, text: str) -> bool:
        first = _first_word(text)
        if first == "TERMINATE" and self._parts.pushes.find(text[len(first) :].strip(" \t\r\n;")) is not None:
            return False
        return first in _CHANGING and _ANYWHERE.match(text) is None

    # --- trying out ---

    async def _planned(self, text: str, session: Session) -> list[_Planned]:
        sandbox, planned = self._parts.catalogue.copy(), list[_Planned]()
        for one in _statements(text):
            try:
                substituted = substitute(one, session.variables)
                statement = parse_statement(substituted, sandbox.types, sandbox.functions)
                planned.append(await self._tried(substituted, statement, session, sandbox, len(planned)))
            except SqlProblem as problem:
                raise StatementFailed(one, problem) from None
            except StoreFailure as failure:
                raise Unavailable(str(failure)) from None
        return planned

    async def _tried(
        self, text: str, statement: Statement, session: Session, sandbox: Catalogue, place: int
    ) -> _Planned:
        parts = self._parts
        match statement:
            case Query() | Print():
                raise NeedsQueryEndpoint(
                    "The following statement types should be issued to the websocket endpoint '/query':\n\t* PRINT\n\t* SELECT\n"
                    "or to /query-stream."
                )
            case SetProperty() | UnsetProperty() | DefineVariable() | UndefineVariable():
                warning = session.apply(statement)
                return _Planned(text, statement, session.copy(), warning=warning)
            case ChangeQuery() if _transient(statement, parts.pushes) is not None:
                pass
            case _ if isinstance(statement, Changing):
                return await self._tried_change(text, statement, session, sandbox, place)
            case InsertValues():
                self._check_open()
                parts.functions.check(plan_insert_values(statement, sandbox))
            case DeleteRows():
                self._check_open()
                plan_delete(statement, sandbox)
            case CreateConnector():
                self._check_open()
                await parts.connectors.check(statement)
            case DropConnector():
                self._check_open()
            case AssertTopic() | AssertSchema():
                parts.assertions.check(statement)
            case AssertRows() | AssertSource():
                raise SqlProblem(
                    "A server asserts topics and schemas alone: ASSERT VALUES, NULL VALUES, STREAM and TABLE are for tests, which "
                    "`barnabas sql test FILE` runs without a server."
                )
        return _Planned(text, statement, session.copy())

    async def _tried_change(
        self, text: str, statement: Changing, session: Session, sandbox: Catalogue, place: int
    ) -> _Planned:
        parts = self._parts
        self._check_open()
        parts.leadership.check()
        if isinstance(statement, AlterSystem):
            session.check_property(statement.name, statement.value)
            session.alter_system(statement.name, statement.value)
        if isinstance(statement, CreateAsSelect | InsertSelect):
            await parts.resolution.refuse_topics(statement.query, sandbox)
        command = await parts.preparation.command(
            statement, text, session.properties, parts.commands.count + 1 + place, sandbox
        )
        check_query_id(statement, command, sandbox)
        outcome = parts.changes.apply(command, sandbox)
        await parts.preparation.check(outcome)
        return _Planned(text, statement, session.copy(), command, outcome)

    def _check_open(self) -> None:
        if self._parts.refusal is not None:
            raise SqlProblem(self._parts.refusal)

    # --- doing ---

    async def _do(self, planned: _Planned) -> Answer:
        parts, statement = self._parts, planned.statement
        if planned.warning is not None:
            return Warned(planned.warning)
        match statement:
            case ChangeQuery() if (transient := _transient(statement, parts.pushes)) is not None:
                await parts.pushes.close(transient)
                return PushEnded(transient)
            case _ if isinstance(statement, Changing):
                assert planned.command is not None, "changes have been tried out"
                assert planned.outcome is not None
                return await self._change(statement, planned.command, planned.outcome)
            case InsertValues():
                await parts.inserts.insert(plan_insert_values(statement, parts.catalogue))
            case DeleteRows():
                await parts.inserts.delete(plan_delete(statement, parts.catalogue))
            case CreateConnector():
                return await parts.connectors.create(statement)
            case DropConnector():
                return await parts.connectors.drop(statement)
            case AssertTopic():
                return await parts.assertions.topic(statement)
            case AssertSchema():
                return await parts.assertions.schema(statement)
            case _:
                return await self._told(statement, planned)
        return Done()

    async def _told(self, statement: Statement, planned: _Planned) -> Answer:
        """The answer to a statement that only asks."""
        listing, connectors = self._parts.listing, self._parts.connectors
        match statement:
            case Show():
                return await listing.show(statement, planned.session)
            case ShowErrors():
                return listing.show_errors(statement)
            case DescribeSource():
                return await listing.describe(statement)
            case DescribeSources():
                return await listing.describe_all(statement)
            case DescribeFunction():
                return listing.describe_function(statement)
            case ShowConnectors():
                return await connectors.list(statement)
            case ShowConnectorPlugins():
                return await connectors.list_plugins()
            case DescribeConnector():
                return await connectors.describe(statement)
            case Explain():
                return await self._parts.explaining.explain(statement, planned.text, planned.session.properties)
        return Done()

    async def _change(self, statement: Changing, command: Command, tried: Outcome) -> Answer:
        parts = self._parts
        if not tried.is_done:
            # Clients take a warning for CREATE … IF NOT EXISTS; that something is gone already is as good as a drop to them, and a query
            # that is being built already as good as a new one.
            is_gone = isinstance(statement, DropSource | DropIndex | DropType | DropFunction)
            is_as_good = is_gone or tried.started is not None
            return _changed(tried, parts.commands.count, ()) if is_as_good else Warned(tried.message)
        command = await parts.preparation.scheduled(command, tried, parts.catalogue)
        former = None if tried.made is None else parts.catalogue.source(tried.made.name)
        warnings = await parts.preparation.provide(statement, tried, former)
        outcome = await parts.commands.append(command)
        await parts.preparation.clean_up(statement, outcome)
        if outcome.started is not None:
            warnings += await parts.retention(outcome.started)
        return _changed(outcome, parts.commands.count, warnings)


def _changed(outcome: Outcome, position: int, warnings: tuple[str, ...]) -> Changed:
    query = outcome.started
    if query is not None and query.is_real_time:
        warnings = (WRITE_TIME_WARNING, *warnings)
    query_id = None if query is None else query.id
    return Changed(outcome.entity, outcome.action, outcome.message, position, query_id, warnings)


def _statements(text: str) -> list[str]:
    try:
        found = split_statements(text)
    except SqlProblem as problem:
        raise StatementFailed(text, problem) from None
    if len(found) > STATEMENTS_MAX:
        raise StatementFailed(text, SqlProblem(f"{len(found)} statements are too many; send {STATEMENTS_MAX} at once."))
    return found


def _transient(statement: Changing, pushes: PushQueries) -> str | None:
    """The push query that somebody wants to end, if it is one of ours."""
    if isinstance(statement, ChangeQuery) and statement.action is QueryAction.TERMINATE:
        return pushes.find(statement.query_id or "")
    return None


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _first_word(text: str) -> str:
    found = _WORD.match(text)
    return "" if found is None else found[0].upper()
