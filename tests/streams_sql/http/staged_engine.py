"""An engine that answers what a test sets up: failures in the middle of a result, rows without end, clients that leave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streams_sql.engine.client_queries.printing import PrintLines
from streams_sql.engine.client_queries.results import Result, ResultKind, RowBatch
from streams_sql.engine.engine import Engine
from streams_sql.engine.failures import NotCaughtUp, Unavailable
from streams_sql.engine.queries.query_status import PushStatus
from streams_sql.engine.statements.entities import StatementResult
from streams_sql.engine.statements.inserts import Inserter
from streams_sql.engine.statements.request import ParsedRequest, SqlRequest, parse_request
from streams_sql.engine.statements.routing import Executor, executor_of_all
from streams_sql.language.statements import Print
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column
from streams_sql.sql_types import BIGINT, STRING

COLUMNS = (Column("ID", STRING), Column("N", BIGINT))
POSITION = 7
"""That of the last change."""


@dataclass(frozen=True)
class StagedGroup:
    leader_url: str | None

    @property
    def is_leader(self) -> bool:
        return self.leader_url is None

    async def settle(self, timeout_s: float) -> bool:
        return True


class StagedEngine(Engine):
    """`asked` tells what was asked of it, `reached` which positions were waited for. With `leader` it follows that server: `caught_up`
    counts how often it read what that has written."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Mapping[str, str], Mapping[str, str]]] = []
        self.answers: Sequence[StatementResult] = ()
        self.result: StagedResult | None = None
        self.lines = StagedLines()
        self.failure: Exception | None = None
        self.leader: str | None = None
        self.pushes: list[PushStatus] = []
        self.caught_up = 0
        self.reached: list[int] = []
        self.closed: list[str] = []
        self.inserted: list[Mapping[str, Any]] = []

    def executor_of(self, parsed: ParsedRequest) -> Executor:
        return executor_of_all(each.statement for each in parsed.statements)

    def push_statuses(self) -> list[PushStatus]:
        return self.pushes

    @property
    def group(self) -> StagedGroup:
        return StagedGroup(self.leader)

    async def catch_up(self) -> None:
        self.caught_up += 1

    async def reach(self, position: int) -> None:
        self.reached.append(position)
        if position > POSITION:
            raise NotCaughtUp(f"There is no change {position}")

    async def execute(self, parsed: ParsedRequest) -> Sequence[StatementResult]:
        self._note(parsed.request)
        return self.answers

    async def query(self, request: SqlRequest) -> Result | PrintLines:
        self._note(request)
        if any(isinstance(each.statement, Print) for each in parse_request(request).statements):
            return self.lines
        assert self.result is not None
        return self.result.made()

    def inserter(self, target: str) -> Inserter:
        if target != "S":
            raise SqlProblem(f"Cannot insert values into an unknown stream/table: `{target}`")
        return StagedInserter(self.inserted)

    async def close_query(self, query_id: str) -> bool:
        self.closed.append(query_id)
        return query_id == "transient_1"

    def _note(self, request: SqlRequest) -> None:
        self.asked.append((request.text, request.properties, request.variables))
        if self.failure is not None:
            raise self.failure


class StagedResult:
    """Batches, then `failure`, or no end at all with `is_endless`. `taken` counts the batches that were asked for."""

    def __init__(
        self,
        batches: Iterable[RowBatch],
        kind: ResultKind = ResultKind.PUSH,
        *,
        columns: tuple[Column, ...] = COLUMNS,
        failure: Exception | None = None,
        limit_reached: bool = False,
        is_endless: bool = False,
        notes: tuple[str, ...] = (),
    ) -> None:
        self._batches = batches
        self._kind = kind
        self._columns = columns
        self._failure = failure
        self._limit_reached = limit_reached
        self._is_endless = is_endless
        self._notes = notes
        self.end = asyncio.Event()
        """Ends a result without end."""
        self.taken = 0
        self.closes = 0

    def made(self) -> Result:
        keys = (True, *[False] * (len(self._columns) - 1))
        return Result(
            "transient_1",
            self._kind,
            self._columns,
            keys,
            self._rows(),
            lambda: self._limit_reached,
            self._close,
            self._notes,
        )

    async def _rows(self) -> AsyncIterator[RowBatch]:
        for batch in self._batches:
            self.taken += 1
            # Rows of an engine come from threads: the loop has its turn between them.
            await asyncio.sleep(0)
            yield batch
        if self._failure is not None:
            raise self._failure
        if self._is_endless:
            await self.end.wait()

    async def _close(self) -> None:
        self.closes += 1


class StagedLines(PrintLines):
    """Lines, then `failure` if there is one."""

    def __init__(self, lines: Sequence[str] = (), failure: Exception | None = None) -> None:
        self._lines = lines
        self._failure = failure
        self.closes = 0

    async def __aiter__(self) -> AsyncIterator[str]:
        for line in self._lines:
            yield line
        if self._failure is not None:
            raise self._failure

    async def close(self) -> None:
        self.closes += 1


class StagedInserter(Inserter):
    """Takes rows with a number N. One without it does not fit; of a negative one Kafka knows nothing."""

    def __init__(self, inserted: list[Mapping[str, Any]]) -> None:
        self._inserted = inserted

    async def insert(self, rows: Sequence[Mapping[str, Any]]) -> list[asyncio.Future[None]]:
        return [self._settled(row) for row in rows]

    def _settled(self, row: Mapping[str, Any]) -> asyncio.Future[None]:
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if "N" not in row:
            sent.set_exception(SqlProblem("S has no such column"))
        elif row["N"] < 0:
            sent.set_exception(Unavailable("Kafka is away"))
        else:
            self._inserted.append(row)
            sent.set_result(None)
        return sent
