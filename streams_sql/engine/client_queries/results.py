"""Rows on their way to a client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from streams_sql.sources import Column


class ResultKind(Enum):
    """Rows as they come; those that a table holds; and those of a stream that were there when the query began."""

    PUSH = "push"
    PULL = "pull"
    SCAN = "scan"


class RowBatch(NamedTuple):
    """Rows that came together, each a tuple with a value for each column. `deleted` are the places of those that a table has no more:
    they have their keys alone."""

    rows: Sequence[tuple[Any, ...]]
    deleted: Sequence[int] = ()


class ScanMetrics(NamedTuple):
    """What a look at topics has given and cost: rows, and the records that were read for them. `problems` are those that could not be
    decoded."""

    rows: int
    records: int
    bytes: int
    problems: int
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a SELECT. `keys` says which columns are keys (pull queries show it). The rows end when the query does: `limit_reached`
    says then whether that was its LIMIT, and `metrics` what it cost, where that is known. A reader that has enough calls `close`, at any
    time and more than once if need be."""

    query_id: str
    kind: ResultKind
    columns: tuple[Column, ...]
    keys: tuple[bool, ...]
    batches: AsyncIterator[RowBatch]
    limit_reached: Callable[[], bool]
    close: Callable[[], Awaitable[None]]
    notes: tuple[str, ...] = ()
    metrics: Callable[[], ScanMetrics] | None = None
