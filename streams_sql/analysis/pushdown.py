"""What a condition says about the places of records in their topic, so that the others need not be read.

It only narrows: the condition is asked of every record that is read all the same. A lower bound of ROWTIME is the first record that is as
late; an upper one says nothing, since records behind a late one may be earlier.
"""

from __future__ import annotations

from typing import Any, Final

from streams_sql import typed
from streams_sql.evaluation.compiler import compile_column
from streams_sql.formats.library import encoder_of
from streams_sql.formats.serde import Layout
from streams_sql.plan.conjuncts import conjuncts
from streams_sql.plan.spans import ALL, Span
from streams_sql.sources import ROWOFFSET, ROWPARTITION, ROWTIME, Source
from streams_sql.typed import Operator, Typed

NOW: Final = "UNIX_TIMESTAMP"
"""A call of it at the beginning gives an earlier time than any later one: as a lower bound it leaves out nothing."""

_MIRRORED: Final = {
    Operator.LESS: Operator.GREATER,
    Operator.LESS_OR_EQUAL: Operator.GREATER_OR_EQUAL,
    Operator.GREATER: Operator.LESS,
    Operator.GREATER_OR_EQUAL: Operator.LESS_OR_EQUAL,
    Operator.EQUAL: Operator.EQUAL,
}


def pushed_down(condition: Typed | None, source: Source) -> Span:
    """For the records of one source, whose columns have their own names in the condition."""
    found = ALL
    for part in conjuncts(condition):
        found = found.narrowed(_span(part, source))
    return found


def _span(part: Typed, source: Source) -> Span:
    if not isinstance(part, typed.Operation):
        return ALL
    first, *others = part.arguments
    if part.operator is Operator.IN and isinstance(first, typed.Column):
        values = [_constant(other) for other in others]
        is_partition = first.name == ROWPARTITION and all(type(value) is int for value in values)
        return Span(partitions=frozenset(values)) if is_partition else ALL
    if part.operator not in _MIRRORED or len(others) != 1:
        return ALL
    if isinstance(first, typed.Column):
        return _bound(first.name, part.operator, _constant(others[0]), source)
    if isinstance(others[0], typed.Column):
        return _bound(others[0].name, _MIRRORED[part.operator], _constant(first), source)
    return ALL


def _bound(name: str, operator: Operator, value: Any, source: Source) -> Span:
    if operator is Operator.EQUAL and value is not None and name in _key_names(source):
        return Span(key=_key_bytes(source, value))
    if type(value) is not int:
        return ALL
    if name == ROWPARTITION:
        return Span(partitions=frozenset({value})) if operator is Operator.EQUAL else ALL
    low = {Operator.GREATER: value + 1, Operator.GREATER_OR_EQUAL: value, Operator.EQUAL: value}.get(operator)
    high = {Operator.LESS: value, Operator.LESS_OR_EQUAL: value + 1, Operator.EQUAL: value + 1}.get(operator)
    if name == ROWOFFSET:
        return Span(from_offset=None if low is None else max(0, low), to_offset=None if high is None else max(0, high))
    if name == ROWTIME and low is not None and source.timestamp is None:
        return Span(from_time_ms=max(0, low))
    return ALL


def _key_names(source: Source) -> tuple[str, ...]:
    """The key by which records are in their partitions for certain: that of a stream which a query of ours writes."""
    is_ours = source.query_id is not None and source.key_format.name == "KAFKA" and source.key_window is None
    return tuple(column.name for column in source.schema.key) if is_ours and len(source.schema.key) == 1 else ()


def _key_bytes(source: Source, value: Any) -> bytes | None:
    layout = Layout(source.key_format, source.schema.key, source.topic, is_key=True)
    (encoded,) = encoder_of(layout)([(value,)])
    return encoded


def _constant(expression: Typed) -> Any:
    """The value of an expression that has one before any record is read; None where it has none."""
    return _evaluated(expression) if _is_constant(expression) else None


def _is_constant(expression: Typed) -> bool:
    match expression:
        case typed.Literal():
            return True
        case typed.Cast():
            return _is_constant(expression.operand)
        case typed.Operation():
            return all(map(_is_constant, expression.arguments))
        case typed.Call():
            return expression.name == NOW and not expression.arguments
    return False


def _evaluated(expression: Typed) -> Any:
    failed: list[Exception] = []
    value = compile_column(expression, (), failed.append)(())
    return None if failed else value
