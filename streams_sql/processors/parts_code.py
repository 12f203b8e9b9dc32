"""Generated code that accumulates rows of windows in parts, where keys and aggregates are plain. It is several times as fast as closures.

Its source has nothing in it but positions and numbers. `WindowParts` is the reference that it must agree with, and adds the rows that may be late.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streams_sql.evaluation.compiler import OnError, compile_column
from streams_sql.evaluation.straight_line import made
from streams_sql.functions.aggregates import Count, CountRecords, Extreme, Sum
from streams_sql.plan.nodes import Aggregate, AggregateCall
from streams_sql.plan.pipeline import columns_of
from streams_sql.processors.accumulation import accumulator_of
from streams_sql.processors.keys import is_frozen
from streams_sql.typed import Column, Typed

_STATES = 2
"""The states of a part come after its ROWTIME and the time at which it was begun."""


class PartsCode:
    def __init__(self, node: Aggregate, rowtime: int, pane_ms: int, grace_ms: int, on_error: OnError) -> None:
        self._node = node
        self._columns = columns_of(node.input)
        self._rowtime = rowtime
        self._pane_ms = pane_ms
        self._grace_ms = grace_ms
        self._on_error = on_error
        self._constants: dict[str, Any] = {}

    def compiled(self) -> Callable[..., int] | None:
        """A function of the parts, the rows, the time before them, and what adds a row that may be late; it returns the time after them.
        None where the plan is not plain."""
        keys = [self._key(named.expression) for named in self._node.keys]
        calls = [self._call(call, place) for place, call in enumerate(self._node.aggregates)]
        plain_keys = [key for key in keys if key is not None]
        plain_calls = [call for call in calls if call is not None]
        if not keys or len(plain_keys) < len(keys) or len(plain_calls) < len(calls):
            return None
        nulls = " or ".join(f"{key} is None" for key in plain_keys)
        lines = [
            "def run(parts, rows, reached, add_late):",
            "    get = parts.get",
            "    for row in rows:",
            f"        if row[-1][0] or {nulls}: continue",
            f"        time = row[{self._rowtime}]",
            "        if time > reached: reached = time",
            f"        elif reached - time > {self._grace_ms}:",
            "            add_late(row, reached)",
            "            continue",
            f"        place = (({''.join(f'{key}, ' for key in plain_keys)}), time - time % {self._pane_ms}, 0)",
            "        state = get(place)",
            "        if state is None:",
            f"            parts[place] = [time, reached, {', '.join(first for first, _ in plain_calls)}]",
            "            continue",
            "        if time > state[0]: state[0] = time",
            *(f"        {following}" for _, following in plain_calls),
            "    return reached",
        ]
        return made("\n".join(lines) + "\n", "run", self._constants)

    def _key(self, key: Typed) -> str | None:
        is_plain = isinstance(key, Column) and not is_frozen(key.type)
        return f"row[{self._columns.index(key.name)}]" if is_plain and isinstance(key, Column) else None

    def _call(self, call: AggregateCall, place: int) -> tuple[str, str] | None:
        """The state after the first row, and what a later one does to it."""
        state = f"state[{_STATES + place}]"
        accumulator = accumulator_of(call)
        if isinstance(accumulator, CountRecords):
            return "1", f"{state} += 1"
        if not isinstance(accumulator, Count | Sum | Extreme):
            return None
        value = self._value(call.arguments[0], place)
        match accumulator:
            case Count():
                return f"0 if {value} is None else 1", f"if {value} is not None: {state} += 1"
            case Sum():
                # What is too large is wrapped when parts are merged.
                first = f"0 if (value := {value}) is None else value"
                return first, f"if (value := {value}) is not None: {state} += value"
            case Extreme():
                self._constants[f"add_{place}"] = accumulator.add
                return value, f"{state} = add_{place}({state}, {value})"

    def _value(self, argument: Typed, place: int) -> str:
        if isinstance(argument, Column):
            return f"row[{self._columns.index(argument.name)}]"
        self._constants[f"argument_{place}"] = compile_column(argument, self._columns, self._on_error)
        return f"argument_{place}(row)"
