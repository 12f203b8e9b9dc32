"""Aggregates that keep some of the values in the order in which they came."""

from __future__ import annotations

from collections.abc import Reversible
from functools import partial
from itertools import islice
from typing import Any, Final

from streams_sql.functions.registration import aggregate

COLLECT_LIST_LIMIT: Final = "ksql.functions.collect_list.limit"
COLLECT_SET_LIMIT: Final = "ksql.functions.collect_set.limit"


def checked_count(count: int, name: str) -> int:
    if count < 1:
        raise ValueError(f"{name} must be 1 or greater, not {count}")
    return count


def _is_same(one: Any, other: Any) -> bool:
    """What is no number is not equal to itself."""
    return bool(one == other or (one != one and other != other))


def _last(values: Reversible[tuple[Any, Any]], count: int, ignores_null: bool) -> list[tuple[Any, Any]]:
    taken = (pair for pair in reversed(values) if not (ignores_null and pair[1] is None))
    return list(islice(taken, count))[::-1]


def _first(values: Reversible[tuple[Any, Any]], count: int, ignores_null: bool) -> list[tuple[Any, Any]]:
    return list(islice((pair for pair in values if not (ignores_null and pair[1] is None)), count))


def _by_offset(function: str, ignores_null: str) -> str:
    """A NULL that is ignored has no place in the order, and is passed over."""
    return f"{function}({{0}}, CASE WHEN NOT ({ignores_null} AND {{0}} IS NULL) THEN {{order}} END)"


def _several_by_offset(function: str, ignores_null: str) -> str:
    order = f"CASE WHEN NOT ({ignores_null} AND {{0}} IS NULL) THEN {{order}} END"
    return f"transform(coalesce({function}(named_struct('v', {{0}}), {order}, {{1}}), array()), x -> x.v)"


_VALUE: Final = "val"
_COUNT: Final = "n: how many values"
_IGNORE_NULLS: Final = "ignoreNulls: whether NULLs are passed over, as they are without this"

# -- LATEST_BY_OFFSET -----------------------------------------------------------------------------

_latest = partial(aggregate, "LATEST_BY_OFFSET", doc="The value, or the last n values, that came last.")


@_latest("T -> T", parameters=(_VALUE,), spark=_by_offset("max_by", "TRUE"))
@_latest("T, BOOLEAN -> T", parameters=(_VALUE, _IGNORE_NULLS), constants=1, spark=_by_offset("max_by", "{1}"))
class Latest:
    def __init__(self, ignores_null: bool = True) -> None:
        self._ignores_null = ignores_null

    def start(self) -> Any:
        return None

    def add(self, state: Any, value: Any) -> Any:
        return state if value is None and self._ignores_null else value

    def needed(self, values: Reversible[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        return _last(values, 1, self._ignores_null)

    def result(self, state: Any) -> Any:
        return state


@_latest(
    "T, INTEGER -> ARRAY<T>",
    parameters=(_VALUE, _COUNT),
    constants=1,
    spark=f"reverse({_several_by_offset('max_by', 'TRUE')})",
)
@_latest(
    "T, INTEGER, BOOLEAN -> ARRAY<T>",
    parameters=(_VALUE, _COUNT, _IGNORE_NULLS),
    constants=2,
    spark=f"reverse({_several_by_offset('max_by', '{2}')})",
)
class LatestSeveral:
    def __init__(self, count: int, ignores_null: bool = True) -> None:
        self._count = checked_count(count, "latestN")
        self._ignores_null = ignores_null

    def start(self) -> list[Any]:
        return []

    def add(self, state: list[Any], value: Any) -> list[Any]:
        return state if value is None and self._ignores_null else [*state, value][-self._count :]

    def needed(self, values: Reversible[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        return _last(values, self._count, self._ignores_null)

    def result(self, state: list[Any]) -> list[Any]:
        return state


# -- EARLIEST_BY_OFFSET ---------------------------------------------------------------------------

_earliest = partial(aggregate, "EARLIEST_BY_OFFSET", doc="The value, or the first n values, that came first.")


@_earliest("T -> T", parameters=(_VALUE,), spark=_by_offset("min_by", "TRUE"))
@_earliest("T, BOOLEAN -> T", parameters=(_VALUE, _IGNORE_NULLS), constants=1, spark=_by_offset("min_by", "{1}"))
class Earliest:
    """State: nothing yet, or the value alone in a list."""

    def __init__(self, ignores_null: bool = True) -> None:
        self._ignores_null = ignores_null

    def start(self) -> list[Any]:
        return []

    def add(self, state: list[Any], value: Any) -> list[Any]:
        return state if state or (value is None and self._ignores_null) else [value]

    def needed(self, values: Reversible[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        return _first(values, 1, self._ignores_null)

    def result(self, state: list[Any]) -> Any:
        return state[0] if state else None


@_earliest(
    "T, INTEGER -> ARRAY<T>", parameters=(_VALUE, _COUNT), constants=1, spark=_several_by_offset("min_by", "TRUE")
)
@_earliest(
    "T, INTEGER, BOOLEAN -> ARRAY<T>",
    parameters=(_VALUE, _COUNT, _IGNORE_NULLS),
    constants=2,
    spark=_several_by_offset("min_by", "{2}"),
)
class EarliestSeveral:
    def __init__(self, count: int, ignores_null: bool = True) -> None:
        self._count = checked_count(count, "earliestN")
        self._ignores_null = ignores_null

    def start(self) -> list[Any]:
        return []

    def add(self, state: list[Any], value: Any) -> list[Any]:
        if len(state) == self._count or (value is None and self._ignores_null):
            return state
        return [*state, value]

    def needed(self, values: Reversible[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        return _first(values, self._count, self._ignores_null)

    def result(self, state: list[Any]) -> list[Any]:
        return state


# -- COLLECT_LIST, COLLECT_SET --------------------------------------------------------------------


class Collected:
    """The list of the state is added to; a result is a list of its own. There is no native form: Spark's own lists have neither an order
    nor a limit, so that its state would keep all values, for the first few of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def start(self) -> list[Any]:
        return []

    def add(self, state: list[Any], value: Any) -> list[Any]:
        if len(state) < self._limit:
            state.append(value)
        return state

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        for value in other:
            one = self.add(one, value)
        return one

    def result(self, state: list[Any]) -> list[Any]:
        return list(state)


@aggregate(
    "collect_list",
    "T -> ARRAY<T>",
    doc="All values of a group, NULLs as well, in the order in which they came. "
    f"{COLLECT_LIST_LIMIT} limits their number: further ones are left out.",
    parameters=(_VALUE,),
    limit_setting=COLLECT_LIST_LIMIT,
)
class CollectList(Collected):
    def undo(self, state: list[Any], value: Any) -> list[Any]:
        """Which of equal values came with the record is not known: the last one goes."""
        place = next((place for place in reversed(range(len(state))) if _is_same(state[place], value)), None)
        if place is not None:
            del state[place]
        return state


@aggregate(
    "collect_set",
    "T -> ARRAY<T>",
    doc="The different values of a group, NULL as well, in the order in which they came first. "
    f"{COLLECT_SET_LIMIT} limits their number: further ones are left out.",
    parameters=(_VALUE,),
    limit_setting=COLLECT_SET_LIMIT,
)
class CollectSet(Collected):
    def add(self, state: list[Any], value: Any) -> list[Any]:
        return state if value in state else super().add(state, value)
