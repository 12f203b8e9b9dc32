"""Whole plans in this process: rows of what a plan reads are pushed through its operators, and what comes out at the end is told.

Operators take lists of rows. Those of one source keep their order through all of them, so that it makes no difference whether rows come
together or one by one, unless a plan reads the same records in two places.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from streams_sql.evaluation.compiler import OnError
from streams_sql.language.statements import WindowKind
from streams_sql.local.keyed import Keyed, TimedKeyed
from streams_sql.local.limits import STATE_ENTRIES_MAX
from streams_sql.plan.nodes import (
    Aggregate,
    Filter,
    FlatMap,
    ForeignKeyJoin,
    LookupJoin,
    Node,
    Project,
    Read,
    Rekey,
    StreamJoin,
    TableJoin,
)
from streams_sql.plan.pipeline import Row, compile_steps
from streams_sql.processors.aggregation import Aggregation
from streams_sql.processors.foreign_key import OTHERS, ROWS, Answering, Asking
from streams_sql.processors.lookup import Lookup
from streams_sql.processors.processor import Change, Processor, TimedProcessor
from streams_sql.processors.sessions import SessionAggregation
from streams_sql.processors.stream_join import StreamJoining
from streams_sql.processors.table_aggregation import TableAggregation, moves_of
from streams_sql.processors.table_changes import TableChanges, TableFilter, filtered_changes
from streams_sql.processors.table_join import TableJoining
from streams_sql.processors.windows import WindowAggregation

Push: TypeAlias = Callable[[list[Any]], list[Any]]
SidedPush: TypeAlias = Callable[[int, list[Any]], list[Any]]


class Leaf:
    """What a plan reads in one place, and what is done with its rows, step by step up to the end of the plan."""

    __slots__ = ("read", "steps")

    def __init__(self, read: Read) -> None:
        self.read = read
        self.steps: list[Push] = []


class Pipeline:
    """The operators of one plan, with their states. Used by one thread at a time."""

    def __init__(self, node: Node, on_error: OnError, entries_max: int = STATE_ENTRIES_MAX) -> None:
        building = _Building(on_error, entries_max)
        self._leaves = building.leaves(node, with_old=False)
        self.has_state = building.has_state

    @property
    def reads(self) -> list[Read]:
        return [leaf.read for leaf in self._leaves]

    def feed(self, place: int, rows: list[Row]) -> list[Row]:
        """What comes of rows of `reads[place]`. Rows of a topic that stands there more than once must come one by one."""
        for step in self._leaves[place].steps:
            if not rows:
                break
            rows = step(rows)
        return rows


class _Building:
    """`with_old`: who takes the rows of a table asks for changes, that is, for what was there before as well."""

    def __init__(self, on_error: OnError, entries_max: int) -> None:
        self._on_error = on_error
        self._entries_max = entries_max
        self.has_state = False

    def leaves(self, node: Node, with_old: bool) -> list[Leaf]:
        match node:
            case Read():
                leaves = [Leaf(node)]
                return _then(leaves, self._single(TableChanges(node))) if with_old else leaves
            case Filter() if node.shape.is_table:
                return self._table_filter(node, with_old)
            case Filter() | Project() | FlatMap() | Rekey():
                return self._stateless(node, with_old)
            case Aggregate():
                return self._aggregate(node, with_old)
        return self._join(node, with_old)

    def _stateless(self, node: Filter | Project | FlatMap | Rekey, with_old: bool) -> list[Leaf]:
        (step,) = compile_steps([node], self._on_error)
        if with_old:
            (old_step,) = compile_steps([node], _told_already)
            step = _paired(step, old_step)
        return _then(self.leaves(node.input, with_old), step)

    def _table_filter(self, node: Filter, with_old: bool) -> list[Leaf]:
        """Over rows as they come from a topic, it keeps by itself what passes; what has state below tells changes."""
        base = node.input
        while isinstance(base, Project | Filter):
            base = base.input
        if isinstance(base, Read):
            processor = TableFilter(node, with_old, self._on_error)
            return _then(self.leaves(node.input, with_old=False), self._single(processor))
        return _then(self.leaves(node.input, with_old=True), filtered_changes(node, with_old, self._on_error))

    def _aggregate(self, node: Aggregate, with_old: bool) -> list[Leaf]:
        if node.input.shape.is_table:
            moves = moves_of(node, self._on_error)
            leaves = _then(
                self.leaves(node.input, with_old=True),
                lambda changes: [move for change in changes for move in moves(change)],
            )
            return _then(leaves, self._single(TableAggregation(node, with_old, self._on_error)))
        leaves = self.leaves(node.input, with_old=False)
        if node.window is None:
            return _then(leaves, self._single(Aggregation(node, with_old, self._on_error)))
        kind = SessionAggregation if node.window.kind is WindowKind.SESSION else WindowAggregation
        return _then(leaves, partial(self._timed(kind(node, with_old, self._on_error)).push, 0))

    def _join(self, node: StreamJoin | LookupJoin | TableJoin | ForeignKeyJoin, with_old: bool) -> list[Leaf]:
        push = self._joining(node, with_old)
        sides = (node.stream, node.table) if isinstance(node, LookupJoin) else (node.left, node.right)
        joined = []
        for side, below in enumerate(sides):
            joined += _then(self.leaves(below, with_old=False), partial(push, side))
        return joined

    def _joining(self, node: StreamJoin | LookupJoin | TableJoin | ForeignKeyJoin, with_old: bool) -> SidedPush:
        match node:
            case StreamJoin():
                return self._timed(StreamJoining(node, self._on_error)).push
            case LookupJoin():
                return self._keyed(Lookup(node, self._on_error)).push
            case TableJoin():
                return self._keyed(TableJoining(node, with_old)).push
        return self._foreign_key(node, with_old)

    def _foreign_key(self, node: ForeignKeyJoin, with_old: bool) -> SidedPush:
        """Each row is asked and answered for before the next one."""
        asking = self._keyed(Asking(node, with_old, self._on_error))
        answering = self._keyed(Answering(node))

        def push(side: int, rows: list[Row]) -> list[Any]:
            if side:
                return asking.push(OTHERS, answering.push(ROWS, rows))
            found = []
            for row in rows:
                answers = answering.push(OTHERS, asking.push(ROWS, [row]))
                found += asking.push(OTHERS, answers)
            return found

        return push

    def _single(self, processor: Processor) -> Push:
        """Of one input."""
        return partial(self._keyed(processor).push, 0)

    def _keyed(self, processor: Processor) -> Keyed:
        self.has_state = True
        return Keyed(processor, self._entries_max)

    def _timed(self, processor: TimedProcessor) -> TimedKeyed:
        self.has_state = True
        return TimedKeyed(processor, self._entries_max)


def _then(leaves: list[Leaf], step: Push) -> list[Leaf]:
    for leaf in leaves:
        leaf.steps.append(step)
    return leaves


def _paired(step: Push, old_step: Push) -> Push:
    """A step that makes a row of each row, for both rows of changes."""

    def run(changes: list[Change]) -> list[Change]:
        olds = iter(old_step([old for old, _ in changes if old is not None]))
        news = step([new for _, new in changes])
        return [(None if old is None else next(olds), new) for (old, _), new in zip(changes, news, strict=True)]

    return run


def _told_already(error: Exception) -> None:
    """The row was new once."""
