"""The rows of operators that know time: windows and joins of streams, up to the ends that their topics have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from streams_sql.bounded.memory import Memory
from streams_sql.bounded.operators import paged
from streams_sql.bounded.pages import Account, ResultRow
from streams_sql.evaluation.compiler import OnError
from streams_sql.formats.serde import RegistryAccess
from streams_sql.local.run import ResultRow as ToldRow
from streams_sql.local.topic_pages import RunPages
from streams_sql.plan.bounded import Piped
from streams_sql.plan.nodes import Aggregate, PushPlan
from streams_sql.plan.pipeline import chain_of, columns_of, compile_steps, run_steps
from streams_sql.plan.records import OnProblem
from streams_sql.plan.spans import Span
from streams_sql.processors.accumulation import Accumulation
from streams_sql.processors.keys import frozen


class PipedPages(RunPages):
    """Rows of a stream as they come. Rows of a table take the place of those with the same key: all are given at the end."""

    def __init__(
        self,
        piped: Piped,
        spans: Mapping[str, Span],
        settings: Mapping[str, Any],
        registry: RegistryAccess | None,
        account: Account,
        memory: Memory,
        on_problem: OnProblem,
        on_error: OnError,
    ) -> None:
        super().__init__(
            PushPlan(piped.node, piped.node.shape.columns, None),
            spans,
            settings,
            registry,
            account,
            on_problem,
            on_error,
        )
        names = columns_of(piped.node)
        self._node = piped.node
        self._on_error = on_error
        self._width = len(piped.columns)
        self._key = None if piped.row_key is None else [names.index(name) for name in piped.row_key]
        self._share = memory.share("the last row of each key")
        self._by_key: dict[Any, ResultRow] = {}
        self._rest: Iterator[list[ResultRow]] | None = None

    def page(self) -> list[ResultRow] | None:
        if self._rest is not None:
            return next(self._rest, None)
        rows = self.told()
        if rows is None and self._key is not None and not self._is_interrupted:
            if self._is_empty_aggregate():
                self._keep([self._initial_row()], self._key)
            self._rest = paged(iter(self._by_key.values()))
            return next(self._rest, None)
        if rows is None:
            return None
        if self._key is None:
            return [row[: self._width] for row, _ in rows]
        self._keep(rows, self._key)
        return []

    def _keep(self, rows: Sequence[ToldRow], places: Sequence[int]) -> None:
        new = []
        for row, is_gone in rows:
            key = tuple([frozen(row[place]) for place in places])
            if is_gone:
                self._by_key.pop(key, None)
            else:
                if key not in self._by_key:
                    new.append(row)
                self._by_key[key] = row[: self._width]
        self._share.add(new)

    def _is_empty_aggregate(self) -> bool:
        """Aggregates of all rows without groups are one row, even of none."""
        base = chain_of(self._node).base
        is_one = isinstance(base, Aggregate) and not base.keys and base.window is None
        return is_one and not any(keyed.whole().states for keyed in self.run.pipeline.keyed)

    def _initial_row(self) -> ToldRow:
        chain = chain_of(self._node)
        assert isinstance(chain.base, Aggregate)
        accumulation = Accumulation(chain.base.aggregates, columns_of(chain.base.input), 0, self._on_error)
        results = accumulation.results(accumulation.start())
        (row,) = run_steps(compile_steps(chain.operators, self._on_error), [(*results, None, (False, -1, -1))])
        return row[:-1], row[-1][0]
