"""Pull queries that were seen before: the same statement with other literals is not analysed again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from streams_sql.plan.bounded import BoundedPlan
from streams_sql.plan.nodes import PullPlan
from streams_sql.problem import SqlProblem
from streams_sql.sources import Source
from streams_sql.views.pull import BoundPull, TablePull
from streams_sql.views.shapes import Cut, LiteralValue, cut, stand_ins
from streams_sql.views.templates import Template, Unlike, template

SHAPES_MAX: Final = 1_000
TEXT_CHARACTERS_MAX: Final = 10_000
"""Longer statements are not remembered."""
TRIALS_MAX: Final = 8
"""Literals that are tried one by one where not all of them can be exchanged."""

_Shape: TypeAlias = tuple[Any, ...]


class ReadyPull(NamedTuple):
    """What can be run. `table` is there for plain queries of tables alone."""

    plan: PullPlan | BoundedPlan
    table: BoundPull | None


class PreparedPulls:
    """`analyse` makes the plan of a text, or raises SqlProblem; `current` is the source that has a name now, and `indexed` are the columns
    of it that have an index now."""

    def __init__(
        self,
        analyse: Callable[[str], PullPlan | BoundedPlan],
        current: Callable[[str], Source | None],
        indexed: Callable[[Source], frozenset[str]],
    ) -> None:
        self._analyse = analyse
        self._current = current
        self._indexed = indexed
        self._fixed: OrderedDict[_Shape, tuple[int, ...]] = OrderedDict()
        """Which literals of a shape may not be exchanged: they belong to what is remembered."""
        self._prepared: OrderedDict[_Shape, tuple[TablePull, Template]] = OrderedDict()
        self._bounded: OrderedDict[str, BoundedPlan] = OrderedDict()
        """Those that do more than choose rows, by their whole texts."""

    def find(self, text: str) -> ReadyPull | None:
        """None: it has to be analysed, and learnt if it is a pull query."""
        if len(text) > TEXT_CHARACTERS_MAX:
            return None
        parts = cut(text)
        fixed = self._fixed.get(parts.shape)
        if fixed is None:
            return self._found_bounded(text)
        key = _key(parts, fixed)
        found = self._prepared.get(key)
        if found is None:
            return None
        pull, made = found
        source = made.plan.source
        if self._current(source.name) is not source or self._indexed(source) is not pull.indexed:
            del self._prepared[key]
            return None
        self._prepared.move_to_end(key)
        return ReadyPull(made.plan, pull.bound(made.arguments(parts.literals)))

    def _found_bounded(self, text: str) -> ReadyPull | None:
        plan = self._bounded.get(text)
        if plan is None:
            return None
        if any(self._current(source.name) is not source for source in plan.sources):
            del self._bounded[text]
            return None
        self._bounded.move_to_end(text)
        return ReadyPull(plan, None)

    def learn(self, text: str, plan: PullPlan | BoundedPlan) -> ReadyPull:
        """The text was analysed, and is this plan."""
        if len(text) > TEXT_CHARACTERS_MAX:
            return self.once(plan)
        if isinstance(plan, BoundedPlan):
            _remember(self._bounded, text, plan)
            return self.once(plan)
        if not plan.source.is_table:
            return self.once(plan)
        parts = cut(text)
        made = self._template(parts, plan)
        exchanged = {index for index, _ in made.slots}
        known = self._fixed.get(parts.shape, ())
        fixed = tuple(index for index in range(len(parts.literals)) if index not in exchanged or index in known)
        pull = TablePull(made.plan, made.parameters, indexed=self._indexed(plan.source))
        _remember(self._fixed, parts.shape, fixed)
        _remember(self._prepared, _key(parts, fixed), (pull, made))
        return ReadyPull(plan, pull.bound(made.arguments(parts.literals)))

    def once(self, plan: PullPlan | BoundedPlan) -> ReadyPull:
        """A plan of which nothing is remembered."""
        if isinstance(plan, BoundedPlan) or not plan.source.is_table:
            return ReadyPull(plan, None)
        return ReadyPull(plan, TablePull(plan, indexed=self._indexed(plan.source)).bound())

    def _template(self, parts: Cut, plan: PullPlan) -> Template:
        others: list[LiteralValue | None] = [*stand_ins(parts, frozenset(parts.literals))]
        found = self._tried(parts, plan, others)
        if found is not None:
            return found
        if len(others) <= TRIALS_MAX:
            kept = [self._tried(parts, plan, _only(others, index)) is not None for index in range(len(others))]
            others = [other if is_kept else None for other, is_kept in zip(others, kept, strict=True)]
            found = self._tried(parts, plan, others)
        return found or Template(plan, (), ())

    def _tried(self, parts: Cut, plan: PullPlan, others: Sequence[LiteralValue | None]) -> Template | None:
        """None: these literals may not be exchanged together."""
        literals = [own if other is None else other for own, other in zip(parts.literals, others, strict=True)]
        try:
            other = self._analyse(parts.text_with(literals))
            return template(plan, other, parts.literals, others) if isinstance(other, PullPlan) else None
        except (SqlProblem, Unlike):
            return None


def _only(others: Sequence[LiteralValue | None], wanted: int) -> list[LiteralValue | None]:
    return [other if index == wanted else None for index, other in enumerate(others)]


def _key(parts: Cut, fixed: Sequence[int]) -> _Shape:
    return (*parts.shape, *[parts.literals[index] for index in fixed])


def _remember(cache: OrderedDict[Any, Any], key: _Shape | str, value: object) -> None:
    cache[key] = value
    cache.move_to_end(key)
    if len(cache) > SHAPES_MAX:
        cache.popitem(last=False)
