"""A query from its source to its select list: what persistent and push queries have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from streams_sql.analysis.catalogue_view import CatalogueView
from streams_sql.analysis.column_names import ColumnNaming
from streams_sql.analysis.derived import Derived, derived_query, derived_union
from streams_sql.analysis.grouping import GROUPING, grouped, has_aggregates
from streams_sql.analysis.joins import join_relation
from streams_sql.analysis.outputs import AnalysedQuery, Output
from streams_sql.analysis.query_parts import relations
from streams_sql.analysis.relation import Relation, filtered, read_relation, rekeyed
from streams_sql.analysis.scope import NamedSource, Scope, scope_of
from streams_sql.analysis.select_list import Item, is_selected, select_list
from streams_sql.analysis.table_functions import flattened, has_table_functions
from streams_sql.analysis.type_inference import TypeInference
from streams_sql.language.expressions import ColumnName, Expression, Literal
from streams_sql.language.statements import Emit, Query, UnionAll
from streams_sql.language.statements import Relation as WrittenRelation
from streams_sql.plan.nodes import Aggregate, AggregateCall, Filter, Named, Node, Project, Shape
from streams_sql.problem import Position, SqlProblem, placed_at
from streams_sql.sources import PSEUDO_COLUMNS, ROWTIME, WINDOW_BOUNDS, Column

NO_LIMITS: Final[Mapping[str, int]] = {}
_KAFKA_VALUES_HINT: Final = (
    "The KAFKA format is primarily intended for use as a key format. It can be used as a value format, but can not be used in any "
    "operation that requires a repartition or changelog topic.\nMake a copy in another format first: "
    "CREATE STREAM <new-stream-name> WITH(VALUE_FORMAT='JSON') AS SELECT * FROM <existing-kafka-formated-stream-name>;"
)


def analyse(
    query: Query,
    catalogue: CatalogueView,
    is_persistent: bool,
    limits: Mapping[str, int] = NO_LIMITS,
    is_bounded: bool = False,
    has_null_groups: bool = False,
) -> AnalysedQuery:
    """`limits` are what settings allow some aggregates to keep. `is_bounded`: it is a look at what there is, which ends.
    `has_null_groups`: NULL is a group, as in SQL; persistent queries have a key for each group, and none for NULL."""
    if is_persistent:
        _refuse_ranges(query)
    return _Analysis(catalogue, limits, is_bounded=is_bounded, has_null_groups=has_null_groups).of(query, is_persistent)


class _Analysis:
    """Of a query and of those in it. One that is used several times is analysed once."""

    def __init__(
        self, catalogue: CatalogueView, limits: Mapping[str, int], *, is_bounded: bool, has_null_groups: bool
    ) -> None:
        self._catalogue = catalogue
        self._is_bounded = is_bounded
        self._has_null_groups = has_null_groups
        self._limits = limits
        self._derived: dict[int, Derived] = {}
        self._names: set[str] = set()

    def of(self, query: Query, is_persistent: bool, outside: frozenset[str] = frozenset()) -> AnalysedQuery:
        with placed_at(query.position):
            return self._of(query, is_persistent, outside)

    def _of(self, query: Query, is_persistent: bool, outside: frozenset[str]) -> AnalysedQuery:
        _refuse_order(query)
        self._names.update(common.name for common in query.common)
        for common in query.common:
            # One that nobody uses must be right, too.
            self._derive(common, frozenset())
        for relation in (query.source, *(join.right for join in query.joins)):
            self._check_order(relation)
        scope = scope_of(query, self._catalogue, self._derive, outside)
        _check_sources(scope, query, is_bounded=self._is_bounded)
        analysed = _analysed(query, scope, is_persistent, self._limits)
        if not self._has_null_groups:
            return analysed
        return replace(analysed, relation=replace(analysed.relation, node=_with_null_groups(analysed.relation.node)))

    def _check_order(self, written: WrittenRelation) -> None:
        is_unknown = written.query is None and self._catalogue.source(written.name) is None
        if is_unknown and written.name in self._names:
            raise SqlProblem(
                f"{written.name} is not known here: a query of WITH sees those before it, neither itself nor those behind it.",
                written.position,
            )

    def _derive(self, written: WrittenRelation, outside: frozenset[str]) -> NamedSource:
        assert written.query is not None
        if isinstance(written.query, Query) and written.query.limit is not None:
            if self._is_bounded:
                raise SqlProblem(
                    f"The query {written.alias} has a LIMIT, which it cannot have here: a query over streams that is joined, grouped by "
                    "windows or flattened takes its rows one by one as time goes on, and nobody knows which come first. Put the LIMIT at "
                    "the end of the whole query, or take a part of the topic: PARTITION, SINCE, TAIL.",
                    written.position,
                )
            raise SqlProblem(
                f"The query {written.alias} has a LIMIT, and never ends: LIMIT stands at the end of the whole query.",
                written.position,
            )
        derived = self._derived.get(id(written.query))
        if derived is None:
            if isinstance(written.query, UnionAll):
                if not self._is_bounded:
                    _refuse_distinct_union(written.query, written.position)
                analysed = [self.of(each, is_persistent=True, outside=outside) for each in written.query.queries]
                if self._is_bounded:
                    _refuse_mixture(analysed, written.position)
                    _refuse_distinct_union(written.query, written.position)
                derived = derived_union(written.alias, analysed, written.position)
            else:
                derived = derived_query(written.alias, self.of(written.query, is_persistent=True, outside=outside))
            self._derived[id(written.query)] = derived
        return NamedSource(written.alias, replace(derived.source, name=written.alias), derived)


def _with_null_groups(node: Node) -> Node:
    """The aggregate of a query, below the conditions of HAVING."""
    match node:
        case Aggregate():
            return replace(node, has_null_groups=True)
        case Filter() | Project():
            return replace(node, input=_with_null_groups(node.input))
    return node


def _analysed(query: Query, scope: Scope, is_persistent: bool, limits: Mapping[str, int]) -> AnalysedQuery:
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


def _refuse_distinct_union(union: UnionAll, position: Position | None) -> None:
    if union.is_distinct:
        raise SqlProblem(
            "UNION without ALL needs rows that come to an end, to know which of them are there already: write UNION ALL. It is possible "
            "without EMIT, over tables and over records of topics that are neither joined nor grouped by windows.",
            position,
        )


def _refuse_mixture(analysed: Sequence[AnalysedQuery], position: Position | None) -> None:
    kinds = [each.node.shape.is_table for each in analysed]
    if any(kinds) and not all(kinds):
        raise SqlProblem(
            f"UNION puts streams together, or tables, and here query {kinds.index(False) + 1} gives a stream and query "
            f"{kinds.index(True) + 1} a table: a stream and a table cannot be put together. Ask each by itself.",
            position,
        )


def _refuse_ranges(query: Query) -> None:
    for relation in relations(query):
        if relation.range is not None:
            raise SqlProblem(
                "A query that runs on reads all records from where auto.offset.reset lets it begin. Ranges of topics are for looking: "
                "leave out CREATE … AS or INSERT INTO, or the range.",
                relation.range.position,
            )


def _refuse_order(query: Query) -> None:
    """What needs all rows at once."""
    if query.order_by:
        raise SqlProblem(
            "ORDER BY needs rows that come to an end, and those of a query with EMIT or of CREATE … AS never do: they come in the "
            "order in which they are made. Leave EMIT out to look at what a table holds now, in any order.",
            query.order_by[0].expression.position,
        )
    if query.is_distinct:
        raise SqlProblem(
            "SELECT DISTINCT needs rows that come to an end. Where they come as they are made, groups tell them apart: "
            "SELECT a, COUNT(*) … GROUP BY a."
        )
    if query.offset is not None:
        raise SqlProblem("OFFSET needs rows in an order that stays. Leave EMIT out to look at what a table holds now.")


def _check_sources(scope: Scope, query: Query, *, is_bounded: bool) -> None:
    for source in scope.sources:
        clashing = [column.name for column in source.source.schema.value if column.name in PSEUDO_COLUMNS]
        if clashing:
            raise SqlProblem(
                "Your stream/table has columns with the same name as newly introduced pseudocolumns in ksqlDB, and cannot be "
                f"queried as a result. The conflicting names are: {', '.join(clashing)}.",
                query.source.position,
            )
    topics = [source for source in scope.sources if source.rows is None]
    kafka = ", ".join(source.alias for source in topics if source.source.value_format.name == "KAFKA")
    if kafka and not is_bounded and (scope.is_join or query.group_by):
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
        raise SqlProblem("EMIT FINAL is only supported for windowed aggregations.", query.emit_position)


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
