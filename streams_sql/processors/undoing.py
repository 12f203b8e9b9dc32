"""Aggregates of tables, whose rows change and go: accumulators that can take back what was added.

Some can by themselves. For the others, which ksqlDB does not have for tables, as much is kept of all rows of a group as their results may
be made from.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import reduce
from typing import Any, Protocol, TypeAlias

from streams_sql.evaluation.compiler import OnError
from streams_sql.function_declaration import Accumulator, Choosing, Undoing
from streams_sql.functions.aggregates import Extreme
from streams_sql.functions.distinct_counts import CountDistinct
from streams_sql.functions.ordered_aggregates import CollectSet
from streams_sql.functions.rankings import TopRecords, TopValues
from streams_sql.functions.statistical import OnlyValue
from streams_sql.plan.nodes import AggregateCall
from streams_sql.plan.pipeline import Row
from streams_sql.processors.accumulation import Results, accumulator_of, arguments_of
from streams_sql.processors.keys import frozen

Arguments: TypeAlias = tuple[Any, ...]


class TableAccumulator(Protocol):
    """`key` is that of the row of the table."""

    def start(self) -> Any: ...

    def add(self, state: Any, key: Any, arguments: Arguments) -> Any: ...

    def undo(self, state: Any, key: Any, arguments: Arguments) -> Any: ...

    def result(self, state: Any) -> Any: ...


class _Undone:
    """An accumulator that can undo by itself."""

    def __init__(self, accumulator: Undoing) -> None:
        self.start = accumulator.start
        self.result = accumulator.result
        self._add = accumulator.add
        self._undo = accumulator.undo

    def add(self, state: Any, key: Any, arguments: Arguments) -> Any:
        return self._add(state, *arguments)

    def undo(self, state: Any, key: Any, arguments: Arguments) -> Any:
        return self._undo(state, *arguments)


class _Sorted:
    """MIN, MAX, TOPK: all arguments, the least first, and of equal ones the last that came; those that are NULL are left out."""

    def __init__(self, accumulator: Extreme | TopValues | TopRecords) -> None:
        self._accumulator = accumulator

    def start(self) -> list[Arguments]:
        return []

    def add(self, state: list[Arguments], key: Any, arguments: Arguments) -> list[Arguments]:
        if arguments[0] is not None:
            state.insert(bisect_left(state, _rank(arguments), key=_rank), arguments)
        return state

    def undo(self, state: list[Arguments], key: Any, arguments: Arguments) -> list[Arguments]:
        if arguments[0] is not None:
            rank, same = _rank(arguments), _looked_up(arguments)
            equal = range(bisect_left(state, rank, key=_rank), bisect_right(state, rank, key=_rank))
            place = next((place for place in equal if _looked_up(state[place]) == same), None)
            if place is not None:
                del state[place]
        return state

    def result(self, state: list[Arguments]) -> Any:
        accumulator = self._accumulator
        if isinstance(accumulator, Extreme):
            ends = state[:1] + state[-1:]
            return accumulator.result(reduce(lambda found, end: accumulator.add(found, *end), ends, None))
        found: list[Any] = accumulator.start()
        for arguments in reversed(state):
            if len(found) == accumulator.count:
                break
            found = accumulator.add(found, *arguments)
        return accumulator.result(found)


def _rank(arguments: Arguments) -> tuple[bool, Any]:
    """What is no number is greater than all numbers."""
    value = arguments[0]
    is_no_number = isinstance(value, float) and math.isnan(value)
    return is_no_number, 0 if is_no_number else value


class _Counted:
    """COLLECT_SET, ATTR: the different arguments, and how many rows have each."""

    def __init__(self, accumulator: Accumulator) -> None:
        self._accumulator = accumulator

    def start(self) -> dict[Any, list[Any]]:
        return {}

    def add(self, state: dict[Any, list[Any]], key: Any, arguments: Arguments) -> dict[Any, list[Any]]:
        state.setdefault(_looked_up(arguments), [arguments, 0])[1] += 1
        return state

    def undo(self, state: dict[Any, list[Any]], key: Any, arguments: Arguments) -> dict[Any, list[Any]]:
        place = _looked_up(arguments)
        if place in state:
            state[place][1] -= 1
            if not state[place][1]:
                del state[place]
        return state

    def result(self, state: dict[Any, list[Any]]) -> Any:
        accumulator = self._accumulator
        found = accumulator.start()
        for arguments, _ in state.values():
            found = accumulator.add(found, *arguments)
        return accumulator.result(found)


class _CountedDistinct(_Counted):
    """COUNT_DISTINCT: exact, since all values are here."""

    def result(self, state: dict[Any, list[Any]]) -> int:
        return sum(arguments[0] is not None for arguments, _ in state.values())


def _looked_up(arguments: Arguments) -> Any:
    return tuple(map(frozen, arguments))


class _Kept:
    """Any other: the arguments of each row, the one that changed last at the end."""

    def __init__(self, accumulator: Accumulator) -> None:
        self._accumulator = accumulator

    def start(self) -> dict[Any, Arguments]:
        return {}

    def add(self, state: dict[Any, Arguments], key: Any, arguments: Arguments) -> dict[Any, Arguments]:
        state.pop(key, None)
        state[key] = arguments
        return state

    def undo(self, state: dict[Any, Arguments], key: Any, arguments: Arguments) -> dict[Any, Arguments]:
        state.pop(key, None)
        return state

    def result(self, state: dict[Any, Arguments]) -> Any:
        accumulator = self._accumulator
        found = accumulator.start()
        for arguments in state.values():
            found = accumulator.add(found, *arguments)
        return accumulator.result(found)


class _Chosen:
    """LATEST_BY_OFFSET and EARLIEST_BY_OFFSET: the value of each row, the one that changed last at the end."""

    def __init__(self, accumulator: Choosing) -> None:
        self._accumulator = accumulator

    def start(self) -> dict[Any, Any]:
        return {}

    def add(self, state: dict[Any, Any], key: Any, arguments: Arguments) -> dict[Any, Any]:
        state.pop(key, None)
        state[key] = arguments[0]
        return state

    def undo(self, state: dict[Any, Any], key: Any, arguments: Arguments) -> dict[Any, Any]:
        state.pop(key, None)
        return state

    def result(self, state: dict[Any, Any]) -> Any:
        accumulator = self._accumulator
        found = accumulator.start()
        for _, value in accumulator.needed(state.items()):
            found = accumulator.add(found, value)
        return accumulator.result(found)


def table_accumulator(accumulator: Accumulator) -> TableAccumulator:
    match accumulator:
        case Undoing():
            return _Undone(accumulator)
        case Extreme() | TopValues() | TopRecords():
            return _Sorted(accumulator)
        case CountDistinct():
            return _CountedDistinct(accumulator)
        case CollectSet() | OnlyValue():
            return _Counted(accumulator)
        case Choosing():
            return _Chosen(accumulator)
    return _Kept(accumulator)


class TableAccumulation:
    """The aggregates of a group of a table's rows. Its state is a list of theirs."""

    def __init__(self, calls: Sequence[AggregateCall], columns: Sequence[str], on_error: OnError) -> None:
        self._accumulators = [table_accumulator(accumulator_of(call)) for call in calls]
        self._arguments = [arguments_of(call, columns, on_error) for call in calls]
        self._results = Results(calls, [accumulator.result for accumulator in self._accumulators], on_error)
        self._on_error = on_error

    def start(self) -> list[Any]:
        return [accumulator.start() for accumulator in self._accumulators]

    def add(self, state: list[Any], key: Any, row: Row) -> None:
        for place, (accumulator, arguments) in enumerate(zip(self._accumulators, self._arguments, strict=True)):
            try:
                state[place] = accumulator.add(state[place], key, arguments(row))
            except Exception as error:  # noqa: BLE001 - one bad value must not stop the query
                self._on_error(error)

    def undo(self, state: list[Any], key: Any, row: Row) -> None:
        for place, (accumulator, arguments) in enumerate(zip(self._accumulators, self._arguments, strict=True)):
            try:
                state[place] = accumulator.undo(state[place], key, arguments(row))
            except Exception as error:  # noqa: BLE001 - what could not be added cannot be taken back
                self._on_error(error)

    def results(self, state: list[Any]) -> list[Any]:
        return self._results.of(state)
