"""The aggregates of one group: what all operators that aggregate do with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from streams_sql.evaluation.compiler import OnError, compile_column
from streams_sql.evaluation.expression_error import AggregateError
from streams_sql.function_declaration import Accumulator, Merging
from streams_sql.plan.nodes import AggregateCall
from streams_sql.plan.pipeline import Row
from streams_sql.plan.text import call_text

Arguments: TypeAlias = Callable[[Row], tuple[Any, ...]]


class Accumulation:
    """States of accumulators lie one after the other in the state of a group, from `first` on."""

    def __init__(self, calls: Sequence[AggregateCall], columns: Sequence[str], first: int, on_error: OnError) -> None:
        self._accumulators = [accumulator_of(call) for call in calls]
        self._on_error = on_error
        self._first = first
        self._steps = [
            (first + place, accumulator.add, arguments_of(call, columns, on_error))
            for place, (call, accumulator) in enumerate(zip(calls, self._accumulators, strict=True))
        ]
        self._states = slice(first, first + len(calls))
        self._results = Results(calls, [accumulator.result for accumulator in self._accumulators], on_error)

    def start(self) -> list[Any]:
        return [accumulator.start() for accumulator in self._accumulators]

    def add(self, state: list[Any], row: Row) -> None:
        """A value that an aggregate cannot take is passed over."""
        for place, add, arguments in self._steps:
            try:
                state[place] = add(state[place], *arguments(row))
            except Exception as error:  # noqa: BLE001 - one bad value must not stop the query
                self._on_error(error)

    def merge(self, state: list[Any], states: Sequence[Any]) -> None:
        """Make the states of a part of the group's rows a part of its own; all of the accumulators can."""
        for place, (accumulator, other) in enumerate(zip(self._accumulators, states, strict=True), self._first):
            assert isinstance(accumulator, Merging)
            state[place] = accumulator.merge(state[place], other)

    def results(self, state: Sequence[Any]) -> list[Any]:
        return self._results.of(state[self._states])


class Results:
    """The results of the aggregates of a group. One that cannot be computed, such as a sum that its type cannot hold, is NULL and reported;
    the state stays as it is, so that the results after it are right."""

    def __init__(
        self, calls: Sequence[AggregateCall], results: Sequence[Callable[[Any], Any]], on_error: OnError
    ) -> None:
        self._calls = calls
        self._results = results
        self._on_error = on_error

    def of(self, states: Iterable[Any]) -> list[Any]:
        try:
            return [result(state) for result, state in zip(self._results, states, strict=True)]
        except Exception:  # noqa: BLE001 - it happens again, and is reported, for the aggregate that fails
            return [self._guarded(place, state) for place, state in enumerate(states)]

    def _guarded(self, place: int, state: Any) -> Any:
        try:
            return self._results[place](state)
        except Exception as error:  # noqa: BLE001 - one bad result must not stop the query
            self._on_error(AggregateError(error, call_text(self._calls[place])))
            return None


def accumulator_of(call: AggregateCall) -> Accumulator:
    return call.overload.new_accumulator(call.column.type, call.constants)


def arguments_of(call: AggregateCall, columns: Sequence[str], on_error: OnError) -> Arguments:
    computed = [compile_column(argument, columns, on_error) for argument in call.arguments]
    if not computed:
        return lambda row: ()
    if len(computed) == 1:
        (only,) = computed
        return lambda row: (only(row),)
    return lambda row: tuple([argument(row) for argument in computed])
