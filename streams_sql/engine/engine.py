"""What a server does for its clients, by role: statements, queries, and the command topic that the leader writes."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.kernel.leadership.routing import LedGroup
from streams_sql.engine.catalogue.command_log import CommandLog
from streams_sql.engine.catalogue.leadership import Leadership
from streams_sql.engine.client_queries.client_queries import ClientQueries
from streams_sql.engine.client_queries.printing import PrintLines
from streams_sql.engine.client_queries.results import Result
from streams_sql.engine.queries.query_status import PushStatus
from streams_sql.engine.statements.entities import StatementResult
from streams_sql.engine.statements.execution import StatementExecutor
from streams_sql.engine.statements.inserts import Inserter
from streams_sql.engine.statements.request import ParsedRequest, SqlRequest
from streams_sql.engine.statements.routing import Executor


class Engine:
    """All methods may raise StatementFailed with the statement that is wrong, and Unavailable."""

    def __init__(
        self, statements: StatementExecutor, queries: ClientQueries, commands: CommandLog, leadership: Leadership
    ) -> None:
        self._statements = statements
        self._queries = queries
        self._commands = commands
        self._leadership = leadership

    # --- statements ---

    def executor_of(self, parsed: ParsedRequest) -> Executor:
        """Which server executes a request."""
        return self._statements.executor_of(parsed)

    async def execute(self, parsed: ParsedRequest) -> Sequence[StatementResult]:
        """Return the results of all statements of a request. Nothing is done unless all of them can be."""
        return await self._statements.execute(parsed)

    def inserter(self, target: str) -> Inserter:
        """SqlProblem when rows cannot be written to it."""
        return self._statements.inserter(target)

    # --- queries ---

    async def query(self, request: SqlRequest) -> Result | PrintLines:
        """Start the one SELECT or PRINT of a request."""
        return await self._queries.start(request)

    async def close_query(self, query_id: str) -> bool:
        return await self._queries.pushes.close(query_id)

    def push_statuses(self) -> Sequence[PushStatus]:
        """The push queries of this server's clients."""
        return self._queries.pushes.statuses()

    # --- the leader ---

    @property
    def group(self) -> LedGroup:
        """The servers of the service, one of which makes changes."""
        return self._leadership

    async def catch_up(self) -> None:
        """Read what the leader has written."""
        await self._commands.catch_up()

    async def reach(self, command_sequence_number: int) -> None:
        """Wait until the change with this number has been made here."""
        await self._commands.reach(command_sequence_number)
