"""What a query reads, step by step: a node of the plan, and what the names in the query mean there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from streams_sql import typed
from streams_sql.analysis.calls import scalar_call
from streams_sql.analysis.scope import NamedSource, PlannedRows, Scope
from streams_sql.analysis.timestamps import with_times_as_numbers
from streams_sql.analysis.type_inference import Columns, TypeInference
from streams_sql.language.expressions import Expression, Literal
from streams_sql.plan.nodes import Filter, Named, Node, Read, Rekey, Shape
from streams_sql.problem import SqlProblem
from streams_sql.sources import PSEUDO_COLUMNS, ROWTIME, WINDOW_BOUNDS, Column
from streams_sql.sql_types import BOOLEAN
from streams_sql.typed import Typed


@dataclass(frozen=True, slots=True)
class Key:
    """A column of the key: the name by which a query speaks of it, and what is in it. It differs from the column of that name where a
    join finds no partner: the key is that of the side that is there."""

    name: str
    value: Typed


@dataclass(frozen=True, slots=True)
class Relation:
    """`key_kind` and `key_texts` say in messages what has to be selected; one of the texts is enough where `any_key`."""

    node: Node
    columns: Columns
    keys: tuple[Key, ...]
    starred: tuple[tuple[str, str], ...]
    """What `*` stands for: the alias of the source and the name of the column in the relation."""
    key_kind: str = "key column"
    key_texts: tuple[str, ...] = ()
    any_key: bool = False

    def inference(self, names: Mapping[str, str] | None = None) -> TypeInference:
        return TypeInference(self.columns, scalar_call, names or {})


def rows_of(source: NamedSource, prefix: str) -> Node:
    """The rows of a source, or of the query that it is."""
    return source.rows.node(prefix) if isinstance(source.rows, PlannedRows) else read(source, prefix)


def read(source: NamedSource, prefix: str) -> Read:
    """The records of a source. ROWTIME stands beside the column of the source that has its name with a prefix."""
    columns = tuple(Column(prefix + column.name, column.type) for column in source.columns())
    if prefix:
        columns += (Column(ROWTIME, PSEUDO_COLUMNS[ROWTIME]),)
    key = tuple(prefix + column.name for column in source.source.schema.key)
    bounds = tuple(prefix + name for name in WINDOW_BOUNDS)
    shape = Shape(columns, key, source.source.is_table, source.source.key_window, bounds)
    return Read(source.source, prefix, shape)


def read_relation(source: NamedSource) -> Relation:
    node = rows_of(source, "")
    columns = typed_columns(node.shape)
    keys = tuple(Key(name, columns[name]) for name in node.shape.key)
    starred = tuple((source.alias, column.name) for column in source.starred())
    return Relation(node, columns, keys, starred, key_texts=node.shape.key)


def typed_columns(shape: Shape) -> dict[str, Typed]:
    return {column.name: typed.Column(column.name, column.type) for column in shape.columns}


def filtered(relation: Relation, scope: Scope, where: Expression | None) -> Relation:
    if where is None:
        return relation
    condition = typed_condition(relation.inference(), scope.resolved(where, "WHERE"), "WHERE")
    return replace(relation, node=Filter(relation.node, condition, relation.node.shape))


def typed_condition(inference: TypeInference, condition: Expression, clause: str) -> Typed:
    condition = with_times_as_numbers(condition)
    try:
        found = inference.of(condition)
    except SqlProblem as problem:
        raise SqlProblem(f"Error in {clause} expression: {problem.message}", problem.position) from problem
    if found.type != BOOLEAN:
        text = inference.text(condition)
        raise SqlProblem(
            f"Type error in {clause} expression: Should evaluate to boolean but is {text} ({found.type}) instead.",
            condition.position,
        )
    return found


def rekeyed(relation: Relation, scope: Scope, partition_by: tuple[Expression, ...], names: list[str]) -> Relation:
    """PARTITION BY. `names` are those of the new columns of the key."""
    shape = relation.node.shape
    if shape.is_table:
        raise SqlProblem("PARTITION BY is only for streams: a table has its primary key. Use GROUP BY to make another.")
    if shape.key_window is not None:
        raise SqlProblem(
            "Implicit repartitioning of windowed sources is not supported. "
            "See https://github.com/confluentinc/ksql/issues/4385."
        )
    if partition_by == (Literal(None),):
        node = Rekey(relation.node, (), Shape(shape.columns, ()))
        return replace(relation, node=node, keys=())
    inference = relation.inference()
    key = tuple(_key_column(inference, by, name) for by, name in zip(partition_by, names, strict=True))
    known = {column.name for column in shape.columns}
    added = tuple(
        Column(named.name, named.expression.type) for named in key if named.name not in known and named.expression.type
    )
    node = Rekey(relation.node, key, Shape(shape.columns + added, tuple(names)))
    keys = tuple(Key(name, typed_columns(node.shape)[name]) for name in names)
    texts = tuple(inference.text(by) for by in partition_by)
    starred = _rekeyed_star(relation, scope, names)
    return Relation(node, typed_columns(node.shape), keys, starred, "partitioning expression", texts)


def _rekeyed_star(relation: Relation, scope: Scope, names: list[str]) -> tuple[tuple[str, str], ...]:
    """The new key comes first. What was the key is a column of the value now, and comes last among those of its source."""
    old_keys = {
        scope.relation_name(source.alias, column.name)
        for source in scope.sources
        for column in source.source.schema.key
    }
    aliases = {name: alias for alias, name in relation.starred}
    own = "" if scope.is_join else scope.sources[0].alias
    starred = [(aliases.get(name, own), name) for name in names]
    rest = [item for item in relation.starred if item[1] not in names]
    for alias in dict.fromkeys(alias for alias, _ in rest):
        of_source = [item for item in rest if item[0] == alias]
        starred += sorted(of_source, key=lambda item: item[1] in old_keys)
    return tuple(starred)


def _key_column(inference: TypeInference, by: Expression, name: str) -> Named:
    value = inference.of(by)
    if value.type is None:
        raise SqlProblem("Cannot PARTITION BY multiple columns including NULL", by.position)
    return Named(name, value)
