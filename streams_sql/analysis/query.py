"""A query from its source to its select list: what persistent and push queries have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from streams_sql.analysis.catalogue_view import CatalogueView
from streams_sql.analysis.column_names import ColumnNaming
from streams_sql.analysis.grouping import GROUPING, grouped, has_aggregates
from streams_sql.analysis.joins import join_relation
from streams_sql.analysis.relation import Key, Relation, filtered, read_relation, rekeyed
from streams_sql.analysis.scope import Scope, scope_of
from streams_sql.analysis.select_list import Item, is_selected, select_list
from streams_sql.analysis.table_functions import flattened, has_table_functions
from streams_sql.analysis.type_inference import TypeInference
from streams_sql.language.expressions import ColumnName, Expression, Literal
from streams_sql.language.problem import SqlProblem
from streams_sql.language.statements import Emit, Query
from streams_sql.plan.nodes import Aggregate, AggregateCall, Filter, Named, Node, Project, Shape
from streams_sql.sources import PSEUDO_COLUMNS, ROWTIME, WINDOW_BOUNDS, Column, Source
from streams_sql.sql_types import SqlType
from streams_sql.typed import Typed

NO_LIMITS: Final[Mapping[str, int]] = {}
_KAFKA_VALUES_HINT: Final = (
    "The KAFKA format is primarily intended for use as a key format. It can be used as a value format, but can not be used in any "
    "operation that requires a repartition or changelog topic.\nMake a copy in another format first: "
    "CREATE STREAM <new-stream-name> WITH(VALUE_FORMAT='JSON') AS SELECT * FROM <existing-kafka-formated-stream-name>;"
)


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the result. `key` is the column of the relation's key that it is, if it is one."""

    name: str
    value: Typed
    type: SqlType
    key: Key | None


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """`relation` is what the outputs are made from."""

    query: Query
    scope: Scope
    relation: Relation
    outputs: tuple[Output, ...]
    is_grouped: bool

    @property
    def node(self) -> Node:
        return self.relation.node

    @property
    def first_source(self) -> Source:
        return self.scope.sources[0].source


def analyse(
    query: Query, catalogue: CatalogueView, is_persistent: bool, limits: Mapping[str, int] = NO_LIMITS
) -> AnalysedQuery:
    """`limits` are what settings allow some aggregates to keep."""
    scope = scope_of(query, catalogue)
    _check_sources(scope, query)
    relation, scope = _source(query, scope)
    relation = filtered(relation, scope, query.where)
    partition_by, names = _partitioning(query, scope, relation)
    if partition_by:
        relation = rekeyed(relation, scope, partition_by, names)
    items = select_list(query, scope, relation, is_persistent)
    items = [_as_key(item, partition_by, names) for item in items]
    relation, items, inference = _grouped_or_flat(query, scope, relation, items, limits)
    _check_emit(query)
    outputs = tuple(_output(item, inference, relation) for item in items)
    return AnalysedQuery(query, scope, relation, outputs, relation.key_kind == GROUPING)


def _check_sources(scope: Scope, query: Query) -> None:
    for source in scope.sources:
        clashing = [column.name for column in source.source.schema.value if column.name in PSEUDO_COLUMNS]
        if clashing:
            raise SqlProblem(
                "Your stream/table has columns with the same name as newly introduced pseudocolumns in ksqlDB, and cannot be "
                f"queried as a result. The conflicting names are: {', '.join(clashing)}."
            )
    kafka = ", ".join(source.alias for source in scope.sources if source.source.value_format.name == "KAFKA")
    if kafka and (scope.is_join or query.group_by):
        clause = "JOIN" if scope.is_join else "GROUP BY"
        raise SqlProblem(
            f"Source(s) {kafka} are using the 'KAFKA' value format. This format does not yet support {clause}.\n"
            f"{_KAFKA_VALUES_HINT}"
        )


def _source(query: Query, scope: Scope) -> tuple[Relation, Scope]:
    if not query.joins:
        return read_relation(scope.sources[0]), scope
    return join_relation(scope, query.joins, lambda alias, name: is_selected(query, scope, alias, name))


def _partitioning(query: Query, scope: Scope, relation: Relation) -> tuple[tuple[Expression, ...], list[str]]:
    by = tuple(scope.resolved(expression, "PARTITION BY") for expression in query.partition_by)
    naming = ColumnNaming(relation.columns)
    names = [
        item.name if isinstance(item, ColumnName) else naming.name_for(item) for item in by if item != Literal(None)
    ]
    if len(names) < len(by) and len(by) > 1:
        raise SqlProblem("Cannot PARTITION BY multiple columns including NULL", query.partition_by[0].position)
    return by, names


def _as_key(item: Item, partition_by: tuple[Expression, ...], names: list[str]) -> Item:
    """What is selected as it is partitioned by is the key."""
    for by, name in zip(partition_by, names, strict=False):
        if item.expression == by:
            return Item(item.name, ColumnName(name, position=item.expression.position))
    return item


def _grouped_or_flat(
    query: Query, scope: Scope, relation: Relation, items: list[Item], limits: Mapping[str, int]
) -> tuple[Relation, list[Item], TypeInference]:
    if query.group_by or has_aggregates(items):
        if has_table_functions(items):
            raise SqlProblem("Table functions cannot be used with aggregations.")
        groups = grouped(relation, scope, query, items, limits)
        return groups.relation, groups.items, groups.relation.inference(groups.names)
    if query.window is not None:
        raise SqlProblem("WINDOW clause requires a GROUP BY clause.", query.window.position)
    if query.having is not None:
        raise SqlProblem("HAVING requires a GROUP BY clause. Use WHERE to choose rows.", query.having.position)
    relation, items = flattened(relation, items)
    return relation, items, relation.inference()


def _check_emit(query: Query) -> None:
    if query.emit is Emit.FINAL and (query.window is None or not query.group_by):
        raise SqlProblem("EMIT FINAL is only supported for windowed aggregations.")


def _output(item: Item, inference: TypeInference, relation: Relation) -> Output:
    key = next((key for key in relation.keys if _is(item.expression, key.name)), None)
    try:
        value = inference.of(item.expression) if key is None else key.value
    except SqlProblem as problem:
        raise SqlProblem(f"Invalid Select: {problem.message}", problem.position) from problem
    if value.type is None:
        raise SqlProblem(
            f"Can't infer a type of null for {item.name}. Please explicitly cast it to a required type, "
            "e.g. CAST(null AS VARCHAR).",
            item.expression.position,
        )
    return Output(item.name, value, value.type, key)


def _is(expression: Expression, name: str) -> bool:
    return isinstance(expression, ColumnName) and expression.name == name


def check_names(columns: Iterable[Column], what: str = "value") -> None:
    seen: set[str] = set()
    for column in columns:
        if column.name in seen:
            raise SqlProblem(
                f"Duplicate {what} columns found in schema: {column}. Give one of them another name with AS."
            )
        seen.add(column.name)


def projected(analysed: AnalysedQuery, columns: Sequence[Named], key: tuple[str, ...]) -> Project:
    """The plan's last step. ROWTIME goes along, and so do the bounds of the window that the key carries."""
    below = analysed.node.shape
    made = tuple(Column(named.name, named.expression.type) for named in columns if named.expression.type is not None)
    along = {**(WINDOW_BOUNDS if below.key_window is not None else {}), ROWTIME: PSEUDO_COLUMNS[ROWTIME]}
    known = {column.name for column in made}
    made += tuple(Column(name, type_) for name, type_ in along.items() if name not in known)
    return Project(analysed.node, tuple(columns), Shape(made, key, below.is_table, below.key_window))


def aggregates_of(analysed: AnalysedQuery) -> tuple[AggregateCall, ...]:
    """HAVING stands as a filter above the groups."""
    node = analysed.node.input if isinstance(analysed.node, Filter) else analysed.node
    return node.aggregates if isinstance(node, Aggregate) else ()
