"""Joins: sources that are joined one after the other, and what the key of the result is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from streams_sql.analysis.calls import scalar_call
from streams_sql.analysis.column_names import ColumnNaming, joined_name
from streams_sql.analysis.format_rules import check_key_type
from streams_sql.analysis.join_conditions import CLAUSE, Condition, Side, join_condition
from streams_sql.analysis.join_nodes import JoinInput, either, join_node
from streams_sql.analysis.relation import Key, Relation, rows_of, typed_columns
from streams_sql.analysis.scope import NamedSource, Scope, taken_names
from streams_sql.analysis.type_inference import TypeInference
from streams_sql.language.expressions import ColumnName, Expression
from streams_sql.language.formatting import format_expression
from streams_sql.language.statements import Join, JoinKind
from streams_sql.plan.nodes import ForeignKeyJoin, Node
from streams_sql.sources import Column
from streams_sql.typed import Typed

JOINING: Final = "join expression"
FOREIGN_KEY: Final = "foreign key join"
"""What messages call the key of a join, and of one of tables whose key is that of the left table."""

IsSelected: TypeAlias = Callable[[str, str], bool]
"""Whether the column of a source (alias, name) is in the select list."""


@dataclass(frozen=True, slots=True)
class _Tree:
    """What is joined so far. `key` is that of its rows, None where they have none or several; `equal` are the expressions that are the
    same as it, and `viable` those columns among them that can be selected for it."""

    node: Node
    key: Typed | None
    equal: frozenset[Expression]
    viable: tuple[ColumnName, ...]
    is_join: bool = True


def join_relation(scope: Scope, joins: Sequence[Join], is_selected: IsSelected) -> tuple[Relation, Scope]:
    """The relation of a join, and the scope in which its key has a name."""
    tree = _leaf(scope.sources[0])
    for place, join in enumerate(joins, 1):
        known = Scope(scope.sources[: place + 1], scope.is_windowed)
        tree = _joined(known, join, tree)
    columns = typed_columns(tree.node.shape)
    keys, texts = _keys(scope, tree, is_selected)
    synthetic = None
    for key in keys:
        if key.value.type is not None:
            check_key_type(Column(key.name, key.value.type))
        if key.name not in columns:
            synthetic = key.name
            columns[key.name] = key.value
    starred = tuple(
        (side.alias, joined_name(side.alias, column.name)) for side in scope.sources for column in side.starred()
    )
    if synthetic:
        starred = (("", synthetic), *starred)
    kind = FOREIGN_KEY if isinstance(tree.node, ForeignKeyJoin) else JOINING
    relation = Relation(tree.node, columns, keys, starred, kind, texts, any_key=kind == JOINING)
    return relation, Scope(scope.sources, scope.is_windowed, synthetic)


def _leaf(source: NamedSource) -> _Tree:
    node = rows_of(source, joined_name(source.alias, ""))
    keys = source.source.schema.key
    if len(keys) != 1:
        return _Tree(node, None, frozenset(), (), is_join=False)
    column = ColumnName(keys[0].name, source.alias)
    return _Tree(node, typed_columns(node.shape)[node.shape.key[0]], frozenset({column}), (), is_join=False)


def _joined(scope: Scope, join: Join, tree: _Tree) -> _Tree:
    condition = join_condition(scope, join)
    leaf = _leaf(condition.right.source)
    left, right = _input(scope, condition.left, tree), _input(scope, condition.right, leaf)
    node = join_node(join, condition, left, right)
    if isinstance(node, ForeignKeyJoin):
        return _Tree(node, tree.key, tree.equal, ())
    equal = _equal(condition, join.kind, tree)
    columns = (*tree.viable, condition.left.column, condition.right.column)
    viable = dict.fromkeys(column for column in columns if column is not None and column in equal)
    return _Tree(node, _key_value(join.kind, left.key, right.key), equal, tuple(viable))


def _input(scope: Scope, side: Side, tree: _Tree) -> JoinInput:
    """Rows stay under the key that they have where that is what they are joined by."""
    if tree.key is not None and side.expression in tree.equal:
        return JoinInput(tree.node, tree.key, is_keyed=True, is_join=tree.is_join)
    resolved = scope.resolved(side.expression, CLAUSE)
    key = TypeInference(typed_columns(tree.node.shape), scalar_call).of(resolved)
    return JoinInput(tree.node, key, is_keyed=False, is_join=tree.is_join)


def _equal(condition: Condition, kind: JoinKind, tree: _Tree) -> frozenset[Expression]:
    """The key of a full join is equal to neither side: each of them may be missing."""
    if kind is JoinKind.OUTER:
        return frozenset()
    sides = frozenset({condition.left.expression, condition.right.expression})
    return sides | tree.equal if sides & tree.equal else sides


def _key_value(kind: JoinKind, left: Typed, right: Typed) -> Typed:
    if kind is JoinKind.OUTER:
        return either(left, right)
    return right if kind is JoinKind.RIGHT else left


def _keys(scope: Scope, tree: _Tree, is_selected: IsSelected) -> tuple[tuple[Key, ...], tuple[str, ...]]:
    """The key of the result and what may be selected for it."""
    if isinstance(tree.node, ForeignKeyJoin):
        columns = typed_columns(tree.node.shape)
        names = [column.name for column in scope.sources[0].source.schema.key]
        return tuple(Key(name, columns[name]) for name in tree.node.shape.key), tuple(names)
    assert tree.key is not None, "what is joined by something has it for its key"
    if not tree.viable:
        name = ColumnNaming(taken_names(scope)).synthetic_key()
        return (Key(name, tree.key),), (name,)
    selected = [column for column in tree.viable if is_selected(column.source or "", column.name)]
    chosen = (selected or list(tree.viable))[0]
    name = joined_name(chosen.source or "", chosen.name)
    return (Key(name, tree.key),), tuple(map(format_expression, tree.viable))
