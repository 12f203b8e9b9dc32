"""Why the engine does not do what a client asks. HTTP alone knows which code each is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streams_sql.problem import SqlProblem

if TYPE_CHECKING:
    from streams_sql.engine.statements.entities import StatementResult


class EngineError(Exception):
    """The message is for the client: what, which value, why, and what to do."""


class StatementFailed(EngineError):
    """A statement of a request cannot be done; those before it have been. `text` is the statement alone."""

    def __init__(self, text: str, problem: SqlProblem, done: Sequence[StatementResult] = ()) -> None:
        super().__init__(problem.message)
        self.text = text
        self.problem = problem
        self.done = tuple(done)


class NeedsQueryEndpoint(SqlProblem):
    """A SELECT or PRINT where only statements are taken."""


class NeedsStatementEndpoint(SqlProblem):
    """Another statement where only SELECT and PRINT are taken."""


class UnknownQuery(EngineError):
    """No query of this id runs here."""


class Busy(EngineError):
    """As many queries or requests of this kind as are allowed run already."""


class TooManyPushQueries(EngineError):
    """As many as are allowed run already."""


class Unavailable(EngineError):
    """Not now: Kafka, the registry, Spark or the leader is away, or the server is starting. The client may try again."""


class Starting(Unavailable):
    """The server is not there yet."""


class Stopping(Unavailable):
    """The server stops, and has ended a query that would have gone on."""

    def __init__(self) -> None:
        super().__init__("The server stops, and has ended this query. Ask again when it is back.")


class NotCaughtUp(Unavailable):
    """A request that has to come after a change which this server has not heard of."""


class AssertionFailed(SqlProblem):
    """What ASSERT says is not so."""


class ConnectRefused(SqlProblem):
    """Connect's own answer: `status` is that of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
