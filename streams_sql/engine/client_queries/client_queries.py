"""SELECT and PRINT of clients: push queries, pull queries, scans of topics, and lines of records."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from barnabas.kernel.kafka_log.failures import StoreFailure
from streams_sql.analysis.push import plan_push
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.client_queries.printing import PrintLines, PrintQueries
from streams_sql.engine.client_queries.pull_queries import PullQueries
from streams_sql.engine.client_queries.push_queries import PushQueries
from streams_sql.engine.client_queries.resolution import Resolution
from streams_sql.engine.client_queries.results import Result
from streams_sql.engine.client_queries.scans import Scans
from streams_sql.engine.client_queries.value_queries import with_values
from streams_sql.engine.failures import NeedsStatementEndpoint, StatementFailed, Unavailable
from streams_sql.engine.statements.function_rules import FunctionRules
from streams_sql.engine.statements.request import ParsedStatement, SqlRequest, parse_request
from streams_sql.engine.statements.session import Session, Sessions
from streams_sql.language.binding import bound
from streams_sql.language.statements import Print, Query
from streams_sql.problem import SqlProblem
from streams_sql.sources import Source


@dataclass(frozen=True, slots=True)
class ClientQueries:
    """`incompleteness` says why rows of a source may be missing."""

    catalogue: Catalogue
    sessions: Sessions
    resolution: Resolution
    pulls: PullQueries
    pushes: PushQueries
    scans: Scans
    prints: PrintQueries
    functions: FunctionRules
    incompleteness: Callable[[Source], tuple[str, ...]]

    async def start(self, request: SqlRequest) -> Result | PrintLines:
        """Start the one SELECT or PRINT of a request. StatementFailed, Unavailable."""
        prepared = self.pulls.known(request.text)
        if prepared is not None:
            self.sessions.check(request)
            return await self.pulls.run(prepared, request.text)
        session = self.sessions.open(request)
        only = parse_request(request).only()
        try:
            return await self._start(only, session)
        except SqlProblem as problem:
            raise StatementFailed(only.text, problem) from None
        except StoreFailure as failure:
            raise Unavailable(str(failure)) from None

    async def end_all(self) -> None:
        """End the queries of clients, which would else keep the server from stopping."""
        await asyncio.gather(self.pushes.stop(), self.prints.stop())

    async def _start(self, only: ParsedStatement, session: Session) -> Result | PrintLines:
        match bound(only.statement, self.catalogue.types, self.catalogue.functions):
            case Query() as query:
                self.functions.check(query)
                return await self._select(query, only.text, session)
            case Print() as statement:
                return await self.prints.start(statement)
        word = only.text.split(None, 1)[0].rstrip(";").upper()
        raise NeedsStatementEndpoint(f"{word} is no query: send it to /ksql.")

    async def _select(self, query: Query, text: str, session: Session) -> Result:
        """What tables hold is looked up in their views; records of streams and topics are read."""
        written, notes = query, tuple[str, ...]()
        if query.emit is None:
            query, notes = await with_values(query, lambda inner: self._select(inner, text, session))
        resolved = await self.resolution.resolved(query, self.catalogue)
        if query.emit is not None:
            now_ms = time.time_ns() // 1_000_000
            plan = plan_push(resolved.query, resolved, now_ms=now_ms, is_local=resolved.reads_records)
            result = await self.pushes.start(plan, session.properties, text)
            return replace(result, notes=(*resolved.notes, *result.notes))
        if resolved.is_of_tables:
            # A value that replaces a query is another one the next time.
            result = await self.pulls.start(text, query, is_kept=query is written)
        else:
            result = self.scans.start(resolved, text)
            notes += tuple(note for source in resolved.sources.values() for note in self.incompleteness(source))
        return replace(result, notes=(*result.notes, *notes)) if notes else result
