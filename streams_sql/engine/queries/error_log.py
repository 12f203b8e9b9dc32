"""What has gone wrong in queries: the newest of it, and how much."""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from streams_sql.plan.records import Problem, problem_text
from streams_sql.spark.driver.messages import BadRecord

ERRORS_MAX: Final = 100
"""Kept in mind for each query."""
QUERIES_MAX: Final = 200
"""Whose errors are kept in mind. Those of the query that has had none for longest go."""
MS_PER_S: Final = 1000
QUERY_FAILED: Final = "QUERY_FAILED"
"""The kind of an error at which a whole query has failed."""


@dataclass(frozen=True, slots=True)
class QueryError:
    """`kind` is a `ProblemKind`, or QUERY_FAILED. Without an offset (-1), it is not known which record it was, or it was none. `part` is key
    or value; `raw` is the beginning of what was looked at; `times` is how many of its kind this one stands for."""

    time_ms: int
    query_id: str
    kind: str
    message: str
    topic: str = ""
    partition: int = -1
    offset: int = -1
    part: str = ""
    raw: str | None = None
    times: int = 1

    @property
    def text(self) -> str:
        return problem_text(self.topic, self.partition, self.offset, self.message)


@dataclass(slots=True)
class _Kept:
    newest: deque[QueryError] = field(default_factory=lambda: deque(maxlen=ERRORS_MAX))
    counts: Counter[str] = field(default_factory=Counter)


class ErrorLog:
    """Any thread may note errors. `has_rows`: data of users may be kept and shown; `on_error` is called with each error."""

    def __init__(
        self,
        on_error: Callable[[QueryError], None],
        *,
        has_rows: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._on_error = on_error
        self._has_rows = has_rows
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, query_id: str, problem: Problem | BadRecord) -> None:
        if not problem.reason:
            # A warning that does not hold any more.
            return
        self._add(
            QueryError(
                self._now_ms(),
                query_id,
                str(problem.kind),
                problem.reason,
                problem.topic,
                problem.partition,
                problem.offset,
                problem.part,
                problem.raw if self._has_rows else None,
                problem.times,
            )
        )

    def note_failure(self, query_id: str, cause: str, record: BadRecord | None = None) -> None:
        """A query has failed as a whole, at this record where that is known."""
        place = ("", -1, -1) if record is None else (record.topic, record.partition, record.offset)
        self._add(QueryError(self._now_ms(), query_id, QUERY_FAILED, cause, *place))

    def newest(self, query_id: str | None = None, limit: int = ERRORS_MAX) -> list[QueryError]:
        """Of one query or of all, the newest first."""
        with self._lock:
            chosen = [kept for name, kept in self._kept.items() if query_id in (None, name)]
            found = [error for kept in chosen for error in kept.newest]
        # Of one moment, too, the last that came is the first.
        return sorted(found, key=lambda error: error.time_ms)[::-1][:limit]

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """By query and kind."""
        with self._lock:
            return {query_id: dict(kept.counts) for query_id, kept in self._kept.items()}

    def forget(self, query_id: str) -> None:
        with self._lock:
            self._kept.pop(query_id, None)

    def _add(self, error: QueryError) -> None:
        with self._lock:
            kept = self._kept.setdefault(error.query_id, _Kept())
            kept.newest.append(error)
            kept.counts[error.kind] += error.times
            self._kept.move_to_end(error.query_id)
            while len(self._kept) > QUERIES_MAX:
                self._kept.popitem(last=False)
        self._on_error(error)

    def _now_ms(self) -> int:
        return int(self._clock() * MS_PER_S)
