"""The aggregates of one group: what all operators that aggregate do with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from streams_sql.evaluation.compiler import OnError, compile_column
from streams_sql.functions.declaration import Accumulator
from streams_sql.plan.nodes import AggregateCall
from streams_sql.plan.pipeline import Row

Arguments: TypeAlias = Callable[[Row], tuple[Any, ...]]


class Accumulation:
    """States of accumulators lie one after the other in the state of a group, from `first` on."""

    def __init__(self, calls: Sequence[AggregateCall], columns: Sequence[str], first: int, on_error: OnError) -> None:
        self._accumulators = [accumulator_of(call) for call in calls]
        self._on_error = on_error
        self._steps = [
            (first + place, accumulator.add, arguments_of(call, columns, on_error))
            for place, (call, accumulator) in enumerate(zip(calls, self._accumulators, strict=True))
        ]
        self._results = [(first + place, accumulator.result) for place, accumulator in enumerate(self._accumulators)]

    def start(self) -> list[Any]:
        return [accumulator.start() for accumulator in self._accumulators]

    def add(self, state: list[Any], row: Row) -> None:
        """A value that an aggregate cannot take is passed over."""
        for place, add, arguments in self._steps:
            try:
                state[place] = add(state[place], *arguments(row))
            except Exception as error:  # noqa: BLE001 - one bad value must not stop the query
                self._on_error(error)

    def results(self, state: Sequence[Any]) -> list[Any]:
        return [result(state[place]) for place, result in self._results]


def accumulator_of(call: AggregateCall) -> Accumulator:
    return call.overload.accumulator(*call.constants)


def arguments_of(call: AggregateCall, columns: Sequence[str], on_error: OnError) -> Arguments:
    computed = [compile_column(argument, columns, on_error) for argument in call.arguments]
    if not computed:
        return lambda row: ()
    if len(computed) == 1:
        (only,) = computed
        return lambda row: (only(row),)
    return lambda row: tuple([argument(row) for argument in computed])
