"""What rows of groups look like: keys, results, the bounds of a window if there is one, ROWTIME."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from streams_sql.evaluation.compiler import OnError
from streams_sql.plan.nodes import Aggregate
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.processors.keys import key_of, stream_key, thawing
from streams_sql.processors.processor import KeyOf
from streams_sql.sources import ROWTIME


class GroupRows:
    """`rowtime` is the place of ROWTIME in the rows that are aggregated. `stream_key` is None for those without a value as well."""

    def __init__(self, node: Aggregate, on_error: OnError) -> None:
        below = columns_of(node.input)
        parts = [key.expression for key in node.keys]
        self.key: KeyOf = key_of(parts, below, on_error, node.has_null_groups)
        self.stream_key: KeyOf = stream_key(parts, below, on_error, node.has_null_groups)
        self.rowtime = below.index(ROWTIME)
        self._thaw: Callable[[Any], Any] | None = thawing([key.expression.type for key in node.keys])
        self._no_key = (None,) * len(node.keys)

    def values(self, key: Any) -> tuple[Any, ...]:
        """Those of the columns of the key."""
        values: tuple[Any, ...] = key if self._thaw is None else self._thaw(key)
        return values

    def initial(self, results: Sequence[Any], bounds: tuple[int, ...], time: int, origin: Any) -> Row:
        """What Kafka Streams takes for the row before the first one: nothing was aggregated yet, and the columns of the key are NULL.
        HAVING is asked about it, and if it held there, the first row that it does not hold for deletes what never was."""
        return (*self._no_key, *results, *bounds, time, origin)
