"""Aggregates of sessions, which grow together: accumulators whose states can be merged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import itemgetter
from typing import Any, Protocol, TypeAlias

from streams_sql.evaluation.compiler import OnError
from streams_sql.function_declaration import Accumulator, Choosing, Merging
from streams_sql.plan.nodes import AggregateCall
from streams_sql.plan.pipeline import Row
from streams_sql.processors.accumulation import Results, accumulator_of, arguments_of

Ordered: TypeAlias = list[tuple[int, tuple[Any, ...]]]
"""Arguments, each with its place in the order in which they came."""

_place = itemgetter(0)


class SessionAccumulator(Protocol):
    """`order` grows with each row of a key."""

    def start(self) -> Any: ...

    def add(self, state: Any, order: int, arguments: tuple[Any, ...]) -> Any: ...

    def merge(self, one: Any, other: Any) -> Any: ...

    def result(self, state: Any) -> Any: ...


class _Merged:
    """An accumulator that can merge by itself."""

    def __init__(self, accumulator: Merging) -> None:
        self.start = accumulator.start
        self.merge = accumulator.merge
        self.result = accumulator.result
        self._add = accumulator.add

    def add(self, state: Any, order: int, arguments: tuple[Any, ...]) -> Any:
        return self._add(state, *arguments)


class _Kept:
    """Any other: what came is kept, as far as the result is made from it, and merged in the order in which it came."""

    def __init__(self, accumulator: Accumulator) -> None:
        self._accumulator = accumulator

    def start(self) -> Ordered:
        return []

    def add(self, state: Ordered, order: int, arguments: tuple[Any, ...]) -> Ordered:
        return self._needed([*state, (order, arguments)])

    def merge(self, one: Ordered, other: Ordered) -> Ordered:
        return self._needed(sorted([*one, *other], key=_place))

    def result(self, state: Ordered) -> Any:
        accumulator = self._accumulator
        return accumulator.result(
            reduce(lambda found, pair: accumulator.add(found, *pair[1]), state, accumulator.start())
        )

    def _needed(self, pairs: Ordered) -> Ordered:
        if not isinstance(self._accumulator, Choosing):
            return pairs
        values = [(order, arguments[0]) for order, arguments in pairs]
        return [(order, (value,)) for order, value in self._accumulator.needed(values)]


def session_accumulator(accumulator: Accumulator) -> SessionAccumulator:
    return _Merged(accumulator) if isinstance(accumulator, Merging) else _Kept(accumulator)


class SessionAccumulation:
    """The aggregates of a session. Its state is a list of theirs."""

    def __init__(self, calls: Sequence[AggregateCall], columns: Sequence[str], on_error: OnError) -> None:
        self._accumulators = [session_accumulator(accumulator_of(call)) for call in calls]
        self._arguments = [arguments_of(call, columns, on_error) for call in calls]
        self._results = Results(calls, [accumulator.result for accumulator in self._accumulators], on_error)
        self._on_error = on_error

    def start(self) -> list[Any]:
        return [accumulator.start() for accumulator in self._accumulators]

    def add(self, state: list[Any], order: int, row: Row) -> None:
        """A value that an aggregate cannot take is passed over."""
        for place, (accumulator, arguments) in enumerate(zip(self._accumulators, self._arguments, strict=True)):
            try:
                state[place] = accumulator.add(state[place], order, arguments(row))
            except Exception as error:  # noqa: BLE001 - one bad value must not stop the query
                self._on_error(error)

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        return [
            accumulator.merge(first, second)
            for accumulator, first, second in zip(self._accumulators, one, other, strict=True)
        ]

    def results(self, state: list[Any]) -> list[Any]:
        return self._results.of(state)
