"""The rows of a query without state, from the records of its topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from confluent_kafka import Message

from streams_sql.engine.client_queries.results import RowBatch
from streams_sql.formats.serde import RegistryAccess
from streams_sql.local.topic_records import record_reader, records_of
from streams_sql.plan.nodes import Project, PushPlan, Read
from streams_sql.plan.pipeline import Chain, chain_of, columns_of, compile_steps, run_steps
from streams_sql.plan.records import OnProblem
from streams_sql.sources import WINDOW_BOUNDS
from streams_sql.typed import Column


def reads_alone(plan: PushPlan) -> bool:
    """Whether the plan needs no state, and so no more than the records of one topic."""
    return isinstance(chain_of(plan.node).base, Read)


class PushRows:
    """Made once for a plan, used by one thread. Of a row that a table has no more, only the key is passed on; records of a stream that have no
    value are no rows."""

    def __init__(
        self,
        plan: PushPlan,
        registry: RegistryAccess | None,
        on_problem: OnProblem,
        on_error: Callable[[Exception], None],
    ) -> None:
        chain = chain_of(plan.node)
        assert isinstance(chain.base, Read), "the plan reads one topic and has no state"
        source = chain.base.source
        self._reader = record_reader(chain.base, registry, on_problem)
        self._steps = compile_steps(chain.operators, on_error)
        wanted = [column.name for column in plan.columns]
        self._pick = _picker(columns_of(plan.node), wanted)
        keys = _keys(chain, chain.base)
        self._is_key = [name in keys for name in wanted]
        self._source = source

    @property
    def topic(self) -> str:
        return self._source.topic

    def of(self, messages: Sequence[Message]) -> RowBatch | None:
        rows = run_steps(self._steps, self._reader.rows(records_of(messages, self._source)))
        if not self._source.is_table:
            rows = [row for row in rows if not row[-1][0]]
        if not rows:
            return None
        picked = [self._pick(row) for row in rows]
        deleted = [place for place, row in enumerate(rows) if row[-1][0]]
        for place in deleted:
            values = zip(picked[place], self._is_key, strict=True)
            picked[place] = tuple(value if is_key else None for value, is_key in values)
        return RowBatch(picked, deleted)


def _keys(chain: Chain, base: Read) -> set[str]:
    """The columns that hold the key of the table, whatever they are called at the end."""
    keys = {*base.shape.key, *(WINDOW_BOUNDS if base.shape.key_window is not None else ())}
    for operator in chain.operators:
        if isinstance(operator, Project):
            made = {named.name for named in operator.columns}
            renamed = {
                named.name
                for named in operator.columns
                if isinstance(named.expression, Column) and named.expression.name in keys
            }
            keys = renamed | (keys & WINDOW_BOUNDS.keys() - made)
    return keys


def _picker(columns: Sequence[str], wanted: Sequence[str]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    places = [columns.index(name) for name in wanted]
    if len(places) == 1:
        (place,) = places
        return lambda row: (row[place],)
    return itemgetter(*places)
