"""Aggregates that are begun where rows are read: of many rows of a group, one goes on to Spark's own operator.

A row on its way from a Python worker through the JVM costs more than decoding it. What is counted, added up or compared can be put
together before, in any order; other aggregates see every row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]

from streams_sql.evaluation.integers import wrap_bigint
from streams_sql.evaluation.straight_line import made
from streams_sql.formats.spark_types import spark_type
from streams_sql.plan.nodes import Aggregate, AggregateCall
from streams_sql.plan.pipeline import Row
from streams_sql.plan.records import Problem
from streams_sql.sources import ROWTIME, Column
from streams_sql.spark.jobs.arrow_values import arrow_type, to_arrow
from streams_sql.spark.jobs.stages import PROBLEM, PROBLEM_ARROW, PROBLEM_TYPE, Problems
from streams_sql.sql_types import BIGINT, DATE, DOUBLE, INTEGER, STRING, TIME, TIMESTAMP, Base, Decimal, SqlType, quoted

GROUPS_MAX: Final = 100_000
"""Kept by a task before they go on."""

# What stands for a group after its first row, and what a later one does to it. NULLs change nothing.
_COUNT_ROWS: Final = ("1", "state[{at}] += 1")
_COUNT: Final = ("0 if {value} is None else 1", "if {value} is not None: state[{at}] += 1")
_SUM: Final = (
    "{value}",
    "if (value := {value}) is not None: state[{at}] = value if (old := state[{at}]) is None else old + value",
)
_MIN: Final = (
    "{value}",
    "if (value := {value}) is not None and ((old := state[{at}]) is None or value < old): state[{at}] = value",
)
_MAX: Final = (_MIN[0], _MIN[1].replace("value < old", "value > old"))
_SUM_OF_COUNTS: Final = "coalesce(sum({0}), 0)"
_ORDERED: Final[tuple[SqlType, ...]] = (INTEGER, BIGINT, STRING, DATE, TIME, TIMESTAMP)


@dataclass(frozen=True, slots=True)
class Part:
    """What goes on for one aggregate of a group: a column of its own, of which Spark makes the rest by `spark`. `first` and `next` are
    Python source with {value} for the argument and {at} for the place among the parts."""

    name: str
    type: SqlType
    spark: str
    first: str
    next: str


def parts_of(node: Aggregate) -> tuple[Part, ...] | None:
    """None where rows must go on one by one."""
    if not all(isinstance(key.expression.type, Base | Decimal) for key in node.keys):
        return None
    parts = [_part(call, f"__part_{place}") for place, call in enumerate(node.aggregates)]
    found = tuple(part for part in parts if part is not None)
    return found if len(found) == len(parts) else None


def _part(call: AggregateCall, name: str) -> Part | None:
    template, types = call.native_form, [argument.type for argument in call.arguments]
    match call.function.upper(), types:
        case "COUNT", []:
            return Part(name, BIGINT, _SUM_OF_COUNTS, *_COUNT_ROWS)
        case "COUNT", [_]:
            return Part(name, BIGINT, _SUM_OF_COUNTS, *_COUNT)
        case "SUM", [type_] if template is not None and type_ in (INTEGER, BIGINT, DOUBLE):
            return Part(name, DOUBLE if type_ == DOUBLE else BIGINT, template, *_SUM)
        case "MIN", [type_] if template is not None and type_ in _ORDERED:
            return Part(name, type_, template, *_MIN)
        case "MAX", [type_] if template is not None and type_ in _ORDERED:
            return Part(name, type_, template, *_MAX)
    return None


@dataclass(frozen=True, slots=True)
class CombiningTail:
    """To an operator with state. Rows have their keys first, then the argument of each part that has one, then ROWTIME; what goes on has
    the keys, the parts, and the greatest ROWTIME of the rows. Problems go along as rows of their own."""

    keys: tuple[Column, ...]
    parts: tuple[Part, ...]
    arguments: tuple[int | None, ...]
    rowtime: int

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.keys, *(Column(part.name, part.type) for part in self.parts), Column(ROWTIME, BIGINT))

    @property
    def schema(self) -> str:
        columns = [f"{quoted(column.name)} {spark_type(column.type)}" for column in self.columns]
        return ", ".join([*columns, f"{PROBLEM} {PROBLEM_TYPE}"])

    def write(self, batches: Iterator[list[Row]], problems: Problems) -> Iterator[pa.RecordBatch]:
        combine, groups = self._combiner(), dict[Any, list[Any]]()
        for rows in batches:
            combine(groups, rows)
            found = problems.take()
            if found or len(groups) >= GROUPS_MAX:
                yield self._batch(groups, found)
                groups.clear()
        if groups:
            yield self._batch(groups, ())

    def _combiner(self) -> Callable[[dict[Any, list[Any]], list[Row]], None]:
        """One function for a plan, whose source has nothing in it but places."""
        time = f"row[{self.rowtime}]"
        keys = [f"row[{place}]" for place in range(len(self.keys))]
        group = f"({''.join(f'{each}, ' for each in keys)})"
        values = [None if place is None else f"row[{place}]" for place in self.arguments]
        firsts = [part.first.format(value=value) for part, value in zip(self.parts, values, strict=True)]
        nexts = [
            part.next.format(value=value, at=at + len(keys))
            for at, (part, value) in enumerate(zip(self.parts, values, strict=True))
        ]
        nexts.append(f"if {time} > state[-1]: state[-1] = {time}")
        lines = [
            "def combine(groups, rows):",
            "    get = groups.get",
            "    for row in rows:",
            "        if row[-1][0]: continue",
            f"        key = {keys[0] if len(keys) == 1 else group}",
            "        state = get(key)",
            "        if state is None:",
            f"            groups[key] = [{', '.join([*keys, *firsts, time])}]",
            "            continue",
            *(f"        {line}" for line in nexts),
        ]
        return made("\n".join(lines) + "\n", "combine", {})

    def _batch(self, groups: dict[Any, list[Any]], problems: Sequence[Problem]) -> pa.RecordBatch:
        missing = [None] * len(problems)
        columns = self.columns
        fields = list(zip(*groups.values(), strict=True)) if groups else [()] * len(columns)
        arrays = [
            to_arrow([*_wrapped(values, column), *missing], column.type)
            for values, column in zip(fields, columns, strict=True)
        ]
        arrays.append(pa.array([None] * len(groups) + [problem._asdict() for problem in problems], PROBLEM_ARROW))
        types = [(column.name, arrow_type(column.type)) for column in columns]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema([*types, (PROBLEM, PROBLEM_ARROW)]))


def _wrapped(values: Sequence[Any], column: Column) -> Sequence[Any]:
    """Sums wrap around as Java's do."""
    if column.type != BIGINT:
        return values
    return [None if value is None else wrap_bigint(value) for value in values]
