"""Plans without state wholly in Spark's SQL, for real-time mode: Spark allows no Python there.

Nothing here needs Spark itself, so that the server can tell when a statement is made whether its query may run so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from barnabas.kernel.serdes.registry_transport import RegistryClientError
from streams_sql.formats.library import format_of
from streams_sql.formats.serde import Layout, RegistryAccess
from streams_sql.formats.spark_types import spark_type
from streams_sql.plan.nodes import Filter, FlatMap, Named, PersistentPlan, Project, Read, Rekey, UnionAll
from streams_sql.plan.pipeline import chain_of
from streams_sql.plan.text import expression_text
from streams_sql.sources import ROWOFFSET, ROWPARTITION, ROWTIME, Column, Source
from streams_sql.spark.driver.failures import BAD_RECORD
from streams_sql.spark.jobs.native import native_text, string_text
from streams_sql.sql_types import SqlType, quoted
from streams_sql.typed import Typed

_KEY: Final = "__key"
_VALUE: Final = "__value"
_ROWS: Final = "__rows"
_DELETED: Final = "__deleted"
PROBLEM: Final = "__problem"
"""The column that tells why a record cannot be read."""
_PSEUDO: Final = {ROWTIME: "unix_millis(timestamp)", ROWPARTITION: "partition", ROWOFFSET: "offset"}


class NotNative(Exception):
    """Why a plan cannot run without Python."""


@dataclass(frozen=True, slots=True)
class Where:
    condition: str


@dataclass(frozen=True, slots=True)
class Select:
    columns: tuple[str, ...]


Clause: TypeAlias = Where | Select


@dataclass(frozen=True, slots=True)
class Lowering:
    """How a plan is lowered. A trial registers no schema: what comes of it is not to be run."""

    registry: RegistryAccess | None
    schema_ids: frozenset[int] = frozenset()
    fails_on_bad_record: bool = False
    is_trial: bool = False


@dataclass(frozen=True, slots=True)
class NativePlan:
    """What is done to the records of a topic: `reading` decodes them and ends with the column `PROBLEM`; `clauses` go on with those
    that have none, up to the columns `key` and `value` of the records of the sink."""

    read: Read
    reading: tuple[Clause, ...]
    clauses: tuple[Clause, ...]


def native_plan(plan: PersistentPlan, how: Lowering) -> NativePlan:
    """NotNative if Python, state, or what Spark's own sink cannot write is needed."""
    chain = chain_of(plan.node)
    if isinstance(chain.base, UnionAll):
        raise NotNative("it puts streams together")
    if not isinstance(chain.base, Read):
        raise NotNative("it has an aggregate or a join, and those keep state")
    if chain.base.source.is_table or plan.sink.is_table:
        raise NotNative("it reads or makes a table")
    if plan.sink.key_window is not None:
        raise NotNative("its key has a window")
    try:
        reading, clauses = _reading(chain.base, how)
        for operator in chain.operators:
            clauses += _operator(operator)
        return NativePlan(chain.base, tuple(reading), (*clauses, _writing(plan.sink, how)))
    except RegistryClientError as error:
        raise NotNative(f"the schema registry cannot be asked: {error.message}") from None


def _reading(read: Read, how: Lowering) -> tuple[list[Clause], list[Clause]]:
    source = read.source
    for is_there, what in (
        (source.timestamp is not None, "takes ROWTIME from a column"),
        (bool(source.schema.headers), "has columns of headers"),
        (source.key_window is not None, "has windows in its keys"),
    ):
        if is_there:
            raise NotNative(f"its source {source.name} {what}, and that is done in Python")
    value = _decoding(Layout(source.value_format, source.schema.value, source.topic, False, how.registry), "value", how)
    decoded = [f"{value} AS {_VALUE}", f"value IS NULL AS {_DELETED}"]
    places = {read.prefix + name: name for name in _PSEUDO} | {ROWTIME: ROWTIME}
    places |= {read.prefix + column.name: f"{_VALUE}.{quoted(column.name)}" for column in source.schema.value}
    bad = {"value": f"value IS NOT NULL AND {_VALUE} IS NULL"}
    if source.schema.key:
        key = _decoding(Layout(source.key_format, source.schema.key, source.topic, True, how.registry), "key", how)
        decoded.append(f"{key} AS {_KEY}")
        places |= {read.prefix + column.name: f"{_KEY}.{quoted(column.name)}" for column in source.schema.key}
        bad = {"key": f"key IS NOT NULL AND {_KEY} IS NULL", **bad}
    columns = [f"{places[column.name]} AS {quoted(column.name)}" for column in read.shape.columns]
    reading = [Select(("*", *decoded)), Select(("*", f"{_problem(bad, source, how)} AS {PROBLEM}"))]
    pseudo = [f"{text} AS {name}" for name, text in _PSEUDO.items()]
    kept = [name for name in (_KEY, _VALUE, _DELETED) if name != _KEY or source.schema.key]
    return [*reading], [Select((*kept, *pseudo)), Select((*columns, _DELETED))]


def _problem(bad: Mapping[str, str], source: Source, how: Lowering) -> str:
    """Why a record is passed over; NULL for those that are not."""
    reasons = {}
    for part, condition in bad.items():
        format_ = source.key_format if part == "key" else source.value_format
        reason = f"The {part} cannot be decoded: it is not what the format {format_.name} and the columns ask for"
        told = string_text(reason)
        if how.fails_on_bad_record:
            place = (
                f"concat('{BAD_RECORD}: [topic=', topic, ' partition=', partition, ' offset=', offset, '] ', {told})"
            )
            told = f"raise_error({place})"
        reasons[condition] = told
    branches = " ".join(f"WHEN {condition} THEN {told}" for condition, told in reasons.items())
    return f"CAST(CASE {branches} END AS STRING)"


def _decoding(layout: Layout, payload: str, how: Lowering) -> str:
    text = format_of(layout.format.name).spark_decoding(layout, how.schema_ids)
    if text is None:
        raise NotNative(
            f"the {'key' if layout.is_key else 'value'} of its source ({_columns(layout)}) is read in Python"
        )
    return text.replace("{payload}", payload)


def _writing(sink: Source, how: Lowering) -> Select:
    value = _encoding(Layout(sink.value_format, sink.schema.value, sink.topic, False, how.registry), how)
    value = f"CASE WHEN NOT {_DELETED} THEN {value} END AS value"
    if not sink.schema.key:
        return Select((value,))
    key = _encoding(Layout(sink.key_format, sink.schema.key, sink.topic, True, how.registry), how)
    is_there = " OR ".join(f"{quoted(column.name)} IS NOT NULL" for column in sink.schema.key)
    return Select((f"CASE WHEN {is_there} THEN {key} END AS key", value))


def _encoding(layout: Layout, how: Lowering) -> str:
    if layout.format.keeps_case:
        raise NotNative("the names of its fields keep their case (sql.names.keep.case), which is written in Python")
    text = format_of(layout.format.name).spark_encoding(layout, registers=not how.is_trial)
    if text is None:
        raise NotNative(f"its {'key' if layout.is_key else 'value'} ({_columns(layout)}) is written in Python")
    fields = ", ".join(f"{string_text(column.name)}, {quoted(column.name)}" for column in layout.columns)
    return text.replace("{row}", f"named_struct({fields})")


def _columns(layout: Layout) -> str:
    return f"{layout.format.name}: {', '.join(map(str, layout.columns))}"


def _operator(operator: Filter | Project | FlatMap | Rekey) -> Sequence[Clause]:
    match operator:
        case Filter():
            return (Where(f"NOT {_DELETED} AND {_required(operator.condition)}"),)
        case Project():
            return (_selecting(operator.columns, operator.shape.columns),)
        case Rekey():
            return (_selecting(operator.key, operator.shape.columns),)
        case FlatMap():
            return _flattening(operator)


def _selecting(named: Sequence[Named], columns: Sequence[Column]) -> Select:
    made = {column.name: _required(column.expression) for column in named}
    chosen = [f"{made.get(column.name) or quoted(column.name)} AS {quoted(column.name)}" for column in columns]
    return Select((*chosen, _DELETED))


def _flattening(operator: FlatMap) -> Sequence[Clause]:
    """The arrays side by side; one that is NULL is empty, so that the rows of the others stay."""
    below = [quoted(column.name) for column in operator.input.shape.columns]
    names = [quoted(name) for name, _ in operator.functions]
    arrays = [f"{_rows(call, call.type)} AS {name}" for name, (_, call) in zip(names, operator.functions, strict=True)]
    zipped = f"explode(arrays_zip({', '.join(names)})) AS {_ROWS}"
    spread = [f"{_ROWS}.{name} AS {name}" for name in names]
    return (
        Where(f"NOT {_DELETED}"),
        Select((*below, *arrays)),
        Select((*below, zipped)),
        Select((*below, *spread, f"false AS {_DELETED}")),
    )


def _rows(call: Typed, element: SqlType) -> str:
    return f"coalesce({_required(call)}, CAST(array() AS ARRAY<{spark_type(element)}>))"


def _required(expression: Typed) -> str:
    text = native_text(expression)
    if text is None:
        raise NotNative(f"{expression_text(expression)} is worked out in Python")
    return text
