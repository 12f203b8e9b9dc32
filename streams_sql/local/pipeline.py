"""Whole plans in this process: rows of what a plan reads are pushed through its operators, and what comes out at the end is told.

Operators take lists of rows. Those of one source keep their order through all of them, so that it makes no difference whether rows come
together or one by one, unless a plan reads the same records in two places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from streams_sql.evaluation.compiler import OnError
from streams_sql.language.statements import WindowKind
from streams_sql.local.keyed import Keyed, Spill, TimedKeyed
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
    UnionAll,
)
from streams_sql.plan.pipeline import Row, compile_steps
from streams_sql.processors.aggregation import Aggregation
from streams_sql.processors.foreign_key import OTHERS, ROWS, Answering, Asking
from streams_sql.processors.lookup import Lookup
from streams_sql.processors.processor import Change, KeyOf, Processor, TimedProcessor
from streams_sql.processors.sessions import SessionAggregation
from streams_sql.processors.stream_join import StreamJoining
from streams_sql.processors.table_aggregation import TableAggregation, moves_of
from streams_sql.processors.table_changes import TableChanges, TableFilter, filtered_changes
from streams_sql.processors.table_join import TableJoining
from streams_sql.processors.windows import WindowAggregation

Push: TypeAlias = Callable[[list[Any]], list[Any]]
Operator: TypeAlias = Filter | Project | FlatMap | Rekey


class Leaf:
    """What a plan reads in one place, and what is done with its rows, step by step up to the end of the plan. Operators without state that
    come before all others stand apart (`operators`, and as steps `before`): a host may run them where it reads. `keyed` is the first
    operator with state, and `key` is that by which it knows rows."""

    __slots__ = ("before", "key", "keyed", "operators", "read", "steps")

    def __init__(self, read: Read) -> None:
        self.read = read
        self.operators: list[Operator] = []
        self.before: list[Push] = []
        self.steps: list[Push] = []
        self.key: KeyOf | None = None
        self.keyed: Keyed | None = None

    @property
    def fed(self) -> Node:
        """What the steps are given."""
        return self.operators[-1] if self.operators else self.read


class Pipeline:
    """The operators of one plan, with their states: of each, `entries_max` rows and values are in memory. Used by one thread at a time.
    `keyed` are those that have state, in an order that is the same for the same plan. `is_in_parts`: its windows are begun elsewhere, and
    parts of them come in place of rows."""

    def __init__(
        self,
        node: Node,
        on_error: OnError,
        entries_max: int = STATE_ENTRIES_MAX,
        spill: Spill | None = None,
        is_in_parts: bool = False,
    ) -> None:
        building = _Building(on_error, entries_max, spill, is_in_parts)
        self.leaves = building.leaves(node, with_old=False)
        self.keyed = building.keyed
        self._places = building.places
        self._has_one_key = building.key_kinds == 1

    @property
    def can_be_spread(self) -> bool:
        """Whether rows of different keys may be in different pipelines: all operators know a row by the same key, and what time has to do
        with them depends on nothing but the rows that are read."""
        timed = [keyed for keyed in self.keyed if isinstance(keyed, TimedKeyed)]
        if not self._has_one_key or len(timed) > 1:
            return False
        return all(isinstance(each.processor, WindowAggregation) for each in timed) and all(
            leaf.keyed is each for each in timed for leaf in self.leaves
        )

    @property
    def has_state(self) -> bool:
        return bool(self.keyed)

    @property
    def reads(self) -> list[Read]:
        return [leaf.read for leaf in self.leaves]

    def feed(self, place: int, rows: list[Row]) -> list[Row]:
        """What comes of rows of `reads[place]`. Rows of a topic that stands there more than once must come one by one."""
        return self.feed_prepared(place, _run(self.leaves[place].before, rows))

    def advance(self, now: int) -> list[Row]:
        """What comes of stream time having moved so far, by rows that are elsewhere."""
        return self._expired(lambda keyed: keyed.advance(now))

    def finish(self) -> list[Row]:
        """What comes of there being no more rows: those that have waited for a partner have none."""
        return self._expired(TimedKeyed.finish)

    def _expired(self, expire: Callable[[TimedKeyed], list[Any]]) -> list[Row]:
        found: list[Row] = []
        for keyed, leaf, index in self._places:
            if isinstance(keyed, TimedKeyed):
                found += _run(leaf.steps[index + 1 :], expire(keyed))
        return found

    def feed_prepared(self, place: int, rows: list[Row]) -> list[Row]:
        """The same for rows that have been through the operators which stand apart."""
        return _run(self.leaves[place].steps, rows)


class _Building:
    """`with_old`: who takes the rows of a table asks for changes, that is, for what was there before as well."""

    def __init__(self, on_error: OnError, entries_max: int, spill: Spill | None, is_in_parts: bool) -> None:
        self._on_error = on_error
        self._is_in_parts = is_in_parts
        self._entries_max = entries_max
        self._spill = spill
        self.keyed: list[Keyed] = []
        self.places: list[tuple[Keyed, Leaf, int]] = []
        """One of the leaves whose rows go through each of them, and at which of its steps."""
        self.key_kinds = 0

    def leaves(self, node: Node, with_old: bool, with_initial: bool = False) -> list[Leaf]:
        """`with_initial`: of a group's first change, what it is without a row stands for what was there before."""
        match node:
            case Read():
                leaves = [Leaf(node)]
                return self._then_keyed(leaves, TableChanges(node)) if with_old else leaves
            case Filter() if node.shape.is_table:
                return self._table_filter(node, with_old)
            case Filter() | Project() | FlatMap() | Rekey():
                return self._stateless(node, with_old)
            case UnionAll():
                return [leaf for each in node.inputs for leaf in self.leaves(each, with_old)]
            case Aggregate():
                return self._aggregate(node, with_old, with_initial)
        return self._join(node, with_old)

    def _stateless(self, node: Filter | Project | FlatMap | Rekey, with_old: bool) -> list[Leaf]:
        (step,) = compile_steps([node], self._on_error)
        leaves = self.leaves(node.input, with_old)
        if with_old:
            (old_step,) = compile_steps([node], _told_already)
            return _then(leaves, _paired(step, old_step))
        for leaf in leaves:
            if leaf.steps:
                leaf.steps.append(step)
            else:
                leaf.operators.append(node)
                leaf.before.append(step)
        return leaves

    def _table_filter(self, node: Filter, with_old: bool) -> list[Leaf]:
        """Over rows as they come from a topic, it keeps by itself what passes; what has state below tells changes."""
        if isinstance(_base(node), Read):
            return self._then_keyed(
                self.leaves(node.input, with_old=False), TableFilter(node, with_old, self._on_error)
            )
        # Who asks for changes takes back what they tell to have been there: what a group is without a row never was.
        leaves = self.leaves(node.input, with_old=True, with_initial=not with_old and isinstance(node.input, Aggregate))
        return _then(leaves, filtered_changes(node, with_old, self._on_error))

    def _aggregate(self, node: Aggregate, with_old: bool, with_initial: bool) -> list[Leaf]:
        if node.input.shape.is_table:
            moves = moves_of(node, self._on_error)
            leaves = _then(
                self.leaves(node.input, with_old=True),
                lambda changes: [move for change in changes for move in moves(change)],
            )
            return self._then_keyed(leaves, TableAggregation(node, with_old, self._on_error))
        leaves = self.leaves(node.input, with_old=False)
        if node.window is None:
            return self._then_keyed(leaves, Aggregation(node, with_old, self._on_error, with_initial))
        if node.window.kind is WindowKind.SESSION:
            return self._then_keyed(leaves, SessionAggregation(node, with_old, self._on_error))
        windows = WindowAggregation(node, with_old, self._on_error, with_initial, self._is_in_parts)
        return self._then_keyed(leaves, windows)

    def _join(self, node: StreamJoin | LookupJoin | TableJoin | ForeignKeyJoin, with_old: bool) -> list[Leaf]:
        below = (node.stream, node.table) if isinstance(node, LookupJoin) else (node.left, node.right)
        sides = [self.leaves(each, with_old=False) for each in below]
        if isinstance(node, ForeignKeyJoin):
            return self._foreign_key(node, with_old, sides)
        # Tables are joined on their keys, by which those below know their rows, too.
        is_known = isinstance(node, TableJoin) and any(leaf.steps for leaves in sides for leaf in leaves)
        keyed = self._keyed(self._joining(node, with_old), is_known=is_known)
        return [leaf for side, leaves in enumerate(sides) for leaf in self._pushed(leaves, keyed, side)]

    def _joining(self, node: StreamJoin | LookupJoin | TableJoin, with_old: bool) -> Processor:
        match node:
            case StreamJoin():
                return StreamJoining(node, self._on_error)
            case LookupJoin():
                return Lookup(node, self._on_error)
            case TableJoin():
                return TableJoining(node, with_old)

    def _foreign_key(self, node: ForeignKeyJoin, with_old: bool, sides: Sequence[list[Leaf]]) -> list[Leaf]:
        """Each row is asked and answered for before the next one."""
        asking = self._keyed(Asking(node, with_old, self._on_error))
        answering = self._keyed(Answering(node))

        def ask(rows: list[Row]) -> list[Any]:
            found = []
            for row in rows:
                answers = answering.push(OTHERS, asking.push(ROWS, [row]))
                found += asking.push(OTHERS, answers)
            return found

        def answer(rows: list[Row]) -> list[Any]:
            return asking.push(OTHERS, answering.push(ROWS, rows))

        return _then(sides[0], ask) + _then(sides[1], answer)

    def _then_keyed(self, leaves: list[Leaf], processor: Processor) -> list[Leaf]:
        """Of one input."""
        return self._pushed(leaves, self._keyed(processor), 0)

    def _pushed(self, leaves: list[Leaf], keyed: Keyed, side: int) -> list[Leaf]:
        if side == 0:
            self.places.append((keyed, leaves[0], len(leaves[0].steps)))
        return _keyed_then(leaves, keyed, side)

    def _keyed(self, processor: Processor, is_known: bool = False) -> Keyed:
        keyed: Keyed
        if isinstance(processor, TimedProcessor):
            keyed = TimedKeyed(processor, self._entries_max, self._spill)
        else:
            keyed = Keyed(processor, self._entries_max, self._spill)
        self.keyed.append(keyed)
        self.key_kinds += not is_known
        return keyed


def _run(steps: Sequence[Push], rows: list[Any]) -> list[Any]:
    for step in steps:
        if not rows:
            break
        rows = step(rows)
    return rows


def _base(node: Node) -> Node:
    while isinstance(node, Project | Filter):
        node = node.input
    return node


def _keyed_then(leaves: list[Leaf], keyed: Keyed, side: int) -> list[Leaf]:
    for leaf in leaves:
        if not leaf.steps:
            leaf.key, leaf.keyed = keyed.key_of(side), keyed
    return _then(leaves, partial(keyed.push, side))


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
