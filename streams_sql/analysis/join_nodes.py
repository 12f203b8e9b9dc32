"""Which joins there are: streams with streams, streams with tables, tables with tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from streams_sql import typed
from streams_sql.analysis.join_conditions import Condition
from streams_sql.formats.capabilities import CAPABILITIES
from streams_sql.language.statements import Join, JoinKind, WindowKind
from streams_sql.plan.nodes import ForeignKeyJoin, LookupJoin, Named, Node, Project, Shape, StreamJoin, TableJoin
from streams_sql.problem import SqlProblem
from streams_sql.sources import PSEUDO_COLUMNS, ROWTIME, WINDOW_BOUNDS, WINDOWEND, WINDOWSTART, Column
from streams_sql.sql_types import BOOLEAN
from streams_sql.typed import Typed

KIND_WORDS: Final = {
    JoinKind.INNER: "[INNER] JOIN",
    JoinKind.LEFT: "LEFT [OUTER] JOIN",
    JoinKind.RIGHT: "RIGHT [OUTER] JOIN",
    JoinKind.OUTER: "[FULL] OUTER JOIN",
}
REPARTITIONED_WINDOWS: Final = "Implicit repartitioning of windowed sources is not supported. See https://github.com/confluentinc/ksql/issues/4385."


@dataclass(frozen=True, slots=True)
class JoinInput:
    """One side of a join: its rows, and the key by which it is joined. `is_keyed`: that is the key that its rows have. `is_join`: it has
    been joined before."""

    node: Node
    key: Typed
    is_keyed: bool
    is_join: bool = False


def join_node(join: Join, condition: Condition, left: JoinInput, right: JoinInput) -> Node:
    """SqlProblem where the two cannot be joined that way."""
    if left.node.shape.is_table:
        if not right.node.shape.is_table:
            raise _refused(
                join, condition, "Invalid join order: table-stream joins are not supported; only stream-table joins."
            )
        return _tables(join, condition, left, right)
    if right.node.shape.is_table:
        return _lookup(join, condition, left, right)
    return _streams(join, condition, left, right)


def _streams(join: Join, condition: Condition, left: JoinInput, right: JoinInput) -> Node:
    if join.within is None:
        raise SqlProblem(
            "Stream-Stream joins must have a WITHIN clause specified. None was provided. "
            "Say how far apart in time the records of a pair may be: … JOIN s WITHIN 1 HOUR ON …",
            join.position,
        )
    _check_types(condition, left.key, right.key)
    shape = _shape(left.node, right.node)
    if left.node.shape.key_window is None:
        return StreamJoin(left.node, right.node, left.key, right.key, join.kind, join.within, shape)
    return _windowed_streams(join, condition, left, right)


def _windowed_streams(join: Join, condition: Condition, left: JoinInput, right: JoinInput) -> Project:
    """The bounds of the windows belong to the keys: they must be equal, and those of the left side stay."""
    assert join.within is not None
    if not (left.is_keyed and right.is_keyed) or _has_other_keys(condition):
        raise SqlProblem(REPARTITIONED_WINDOWS, join.position)
    window = left.node.shape.key_window
    assert window is not None
    equal = (WINDOWSTART, WINDOWEND) if window.kind is WindowKind.SESSION else (WINDOWSTART,)
    bounds = [_bounds(side.node) for side in (left, right)]
    node = StreamJoin(
        left.node,
        right.node,
        left.key,
        right.key,
        join.kind,
        join.within,
        _shape(left.node, right.node),
        tuple(bounds[0][name] for name in equal),
        tuple(bounds[1][name] for name in equal),
    )
    return _with_bounds(node, join.kind)


def _with_bounds(node: StreamJoin | TableJoin, kind: JoinKind) -> Project:
    """The window of a side that is there."""
    sides = [_bounds(node.left), _bounds(node.right)]
    first, second = reversed(sides) if kind is JoinKind.RIGHT else sides
    named = tuple(Named(name, either(first[name], second[name])) for name in WINDOW_BOUNDS)
    others = tuple(column for column in node.shape.columns if column.name not in WINDOW_BOUNDS)
    columns = (*others, *(Column(name, type_) for name, type_ in WINDOW_BOUNDS.items()))
    return Project(node, named, Shape(columns, node.shape.key, node.shape.is_table, node.left.shape.key_window))


def _bounds(node: Node) -> dict[str, typed.Column]:
    pairs = zip(WINDOW_BOUNDS.items(), node.shape.bounds, strict=True)
    return {name: typed.Column(column, type_) for (name, type_), column in pairs}


def _has_other_keys(condition: Condition) -> bool:
    """Keys that are written in different ways are not equal byte by byte. Those of the registry are written anew in any case."""
    left, right = condition.left.source.source, condition.right.source.source
    is_rewritten = CAPABILITIES[left.key_format.name].has_schemas
    return not is_rewritten and (left.key_format, left.key_window) != (right.key_format, right.key_window)


def _lookup(join: Join, condition: Condition, left: JoinInput, right: JoinInput) -> LookupJoin:
    if join.kind is JoinKind.OUTER:
        raise _refused(join, condition, "Invalid join type: full-outer join not supported for stream-table join.")
    if not right.is_keyed:
        raise SqlProblem(
            f"Invalid join condition: stream-table joins require to join on the table's primary key. Got {condition}.",
            join.position,
        )
    if join.within is not None:
        raise SqlProblem(
            "A window definition was provided for a Stream-Table join. These joins are not windowed. Please drop the window "
            "definition (ie. the WITHIN clause) and try to execute your join again.",
            join.position,
        )
    if join.kind is JoinKind.RIGHT:
        raise _refused(join, condition, f"Invalid join type encountered: {KIND_WORDS[join.kind]}.")
    _check_types(condition, left.key, right.key)
    return LookupJoin(left.node, right.node, left.key, join.kind, _shape(left.node, right.node))


def _windowed_tables(join: Join, node: TableJoin) -> Project:
    """The bounds of the windows belong to the keys."""
    windows = node.left.shape.key_window, node.right.shape.key_window
    if windows[0] != windows[1]:
        raise SqlProblem(
            f"Tables are joined window by window, and these have other windows: {windows[0]} and {windows[1]}.",
            join.position,
        )
    return _with_bounds(node, join.kind)


def _tables(join: Join, condition: Condition, left: JoinInput, right: JoinInput) -> Node:
    if not right.is_keyed:
        raise SqlProblem(
            "Invalid join condition: table-table joins require to join on the primary key of the right input table. "
            f"Got {condition}.",
            join.position,
        )
    if not left.is_keyed:
        _check_foreign_key(join, condition, left)
    if left.key.type != right.key.type:
        got = condition.told(f"{condition.left}{{{left.key.type}}}", f"{condition.right}{{{right.key.type}}}")
        raise SqlProblem(f"Invalid join condition: types don't match. Got {got}.", join.position)
    if join.within is not None:
        raise SqlProblem(
            "A window definition was provided for a Table-Table join. These joins are not windowed. Please drop the window "
            "definition (i.e. the WITHIN clause) and try to execute your Table-Table join again.",
            join.position,
        )
    if left.is_keyed:
        kept = right.node if join.kind is JoinKind.RIGHT else left.node
        shape = _shape(left.node, right.node, kept.shape.key)
        node = TableJoin(left.node, right.node, join.kind, shape)
        return node if kept.shape.key_window is None else _windowed_tables(join, node)
    if right.node.shape.key_window is not None:
        raise SqlProblem("Foreign-key table-table joins are not supported on windowed tables.", join.position)
    shape = _shape(left.node, right.node, left.node.shape.key)
    return ForeignKeyJoin(left.node, right.node, left.key, join.kind, shape)


def _check_foreign_key(join: Join, condition: Condition, left: JoinInput) -> None:
    if join.kind is JoinKind.OUTER:
        reason = "Invalid join type: full-outer join not supported for foreign-key table-table join."
        raise _refused(join, condition, reason)
    if left.is_join:
        raise SqlProblem(
            "Invalid join condition: foreign-key table-table joins are not supported as part of n-way joins. "
            f"Got {condition}.",
            join.position,
        )
    if join.kind is JoinKind.RIGHT:
        raise SqlProblem("RIGHT OUTER JOIN on a foreign key is not supported", join.position)


def _refused(join: Join, condition: Condition, reason: str) -> SqlProblem:
    left, right = condition.left.source.source.name, condition.right.source.source.name
    return SqlProblem(f"{reason} Got {left} {KIND_WORDS[join.kind]} {right}.", join.position)


def _check_types(condition: Condition, left: Typed, right: Typed) -> None:
    if left.type != right.type:
        raise SqlProblem(
            f"Invalid join. Key types differ: {left.type} vs {right.type} in {condition}. "
            f"CAST({condition.left} AS {right.type}) would make them the same.",
            condition.left.expression.position,
        )


def _shape(left: Node, right: Node, key: tuple[str, ...] = ()) -> Shape:
    """The columns of both, and one ROWTIME. The bounds of windows have the names of their sources; a join that stands on the left has those
    of its key beside them."""
    both = (*left.shape.columns, *right.shape.columns)
    columns = tuple(column for column in both if column.name != ROWTIME)
    return Shape((*columns, Column(ROWTIME, PSEUDO_COLUMNS[ROWTIME])), key, is_table=right.shape.is_table and bool(key))


def either(first: Typed, second: Typed) -> typed.Case:
    """The second where the first is NULL."""
    is_there = typed.Operation(typed.Operator.IS_NOT_NULL, (first,), BOOLEAN)
    return typed.Case(((is_there, first),), second, first.type)
