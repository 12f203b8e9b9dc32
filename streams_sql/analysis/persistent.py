"""CREATE … AS SELECT and INSERT INTO … SELECT: queries whose rows are written to a topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from streams_sql.analysis.catalogue_view import CatalogueView, source_hint
from streams_sql.analysis.coercion import converted, implicitly_castable
from streams_sql.analysis.defaults import Defaults
from streams_sql.analysis.format_rules import (
    NONE,
    check_key,
    check_value,
    key_format,
    value_format,
    with_case,
    with_key_wrapping,
    with_value_wrapping,
)
from streams_sql.analysis.joins import FOREIGN_KEY
from streams_sql.analysis.outputs import AnalysedQuery, Output, check_names
from streams_sql.analysis.query import NO_LIMITS, aggregates_of, analyse, projected
from streams_sql.analysis.spelling import spelled
from streams_sql.analysis.timestamp_rules import retimed, timestamp_rule
from streams_sql.analysis.with_clause import WithClause
from streams_sql.language.expressions import Literal
from streams_sql.language.statements import CreateAsSelect, InsertSelect, Kind, Query, Window
from streams_sql.plan.nodes import Named, PersistentPlan, Project
from streams_sql.plan.pipeline import makes_keys
from streams_sql.plan.text import expression_text
from streams_sql.problem import SqlProblem, placed_at
from streams_sql.sources import ROWTIME, Column, FormatUse, Schema, Source
from streams_sql.sql_types import quoted

_SYNTHETIC_KEY_LINK: Final = "See https://cnfl.io/2LV7ouS."


@dataclass(frozen=True, slots=True)
class _Columns:
    """What is written, key and value apart."""

    key: tuple[Output, ...]
    value: tuple[Output, ...]

    @property
    def schema(self) -> Schema:
        return Schema(_columns(self.key), _columns(self.value))


def plan_create_as(statement: CreateAsSelect, catalogue: CatalogueView, defaults: Defaults) -> PersistentPlan:
    """The plan, and the sink that it makes; the text of the statement and the id of the query are for who has them to add."""
    with placed_at(statement.position):
        clause = WithClause(statement.properties, is_source=False)
        analysed = _analysed(statement.query, catalogue, defaults.aggregate_limits)
        _check_kind(statement.kind, analysed)
        columns = _columns_of(analysed, statement.name)
        sink = _sink(statement, analysed, spelled(columns.schema, analysed), clause, defaults)
        rows = _written(analysed, columns)
        sink = replace(sink, makes_keys=makes_keys(rows))
        return PersistentPlan(rows if sink.timestamp is None else retimed(rows, sink.timestamp), sink)


def plan_insert(statement: InsertSelect, catalogue: CatalogueView) -> PersistentPlan:
    """The columns are cast to those of the stream that they go into."""
    target = catalogue.source(statement.target)
    if target is None:
        raise SqlProblem(
            f"Source `{statement.target}` does not exist.{source_hint(catalogue, statement.target)}", statement.position
        )
    if target.is_table:
        raise SqlProblem(
            f"INSERT INTO can only be used to insert into a stream. {target.name} is a table.", statement.position
        )
    if target.is_read_only:
        raise SqlProblem(f"Cannot insert into read-only stream: {target.name}", statement.position)
    if target.schema.headers:
        raise SqlProblem(f"Cannot insert into {target.name} because it has header columns", statement.position)
    analysed = _analysed(statement.query, catalogue)
    if analysed.node.shape.is_table:
        raise SqlProblem(
            f"Incompatible data sink and query result. Data sink ({target.name}) type is KSTREAM but select query result is "
            "KTABLE.",
            statement.position,
        )
    with placed_at(statement.query.position):
        columns = _fitted(_columns_of(analysed, target.name), target)
    rows = _written(analysed, columns)
    return PersistentPlan(rows, replace(target, makes_keys=makes_keys(rows)))


def _analysed(query: Query, catalogue: CatalogueView, limits: Mapping[str, int] = NO_LIMITS) -> AnalysedQuery:
    analysed = analyse(query, catalogue, is_persistent=True, limits=limits)
    topics = [source.source for source in analysed.scope.sources if source.rows is None]
    if any(source.is_table and source.key_window for source in topics):
        raise SqlProblem("KSQL does not support persistent queries on windowed tables.", query.source.position)
    if query.limit is not None:
        raise SqlProblem(
            "LIMIT is not possible here: a query that fills a topic never ends. Leave it out.", query.position
        )
    return analysed


def _check_kind(kind: Kind, analysed: AnalysedQuery) -> None:
    found = Kind.TABLE if analysed.node.shape.is_table else Kind.STREAM
    if kind is not found:
        raise SqlProblem(
            f"Invalid result type. Your SELECT query produces a {found.value}. "
            f"Please use CREATE {found.value} AS SELECT statement instead."
        )


def _columns_of(analysed: AnalysedQuery, sink: str) -> _Columns:
    with placed_at(analysed.query.position):
        return _key_and_value(analysed, sink)


def _key_and_value(analysed: AnalysedQuery, sink: str) -> _Columns:
    if analysed.is_grouped and not analysed.relation.keys:
        calls = ", ".join(
            f"{call.function}({', '.join(map(expression_text, call.arguments)) or ROWTIME})"
            for call in aggregates_of(analysed)
        )
        raise SqlProblem(
            f"CREATE TABLE AS SELECT statement does not support aggregate function [{calls}] without a GROUP BY clause."
        )
    if analysed.node.shape.is_table and not analysed.relation.keys:
        raise SqlProblem("The table has no key, under which its rows could be written: GROUP BY something.")
    keys = []
    missing = []
    for index, key in enumerate(analysed.relation.keys):
        selected = [output for output in analysed.outputs if output.key == key]
        if len(selected) > 1:
            raise _key_twice(key.name, selected)
        if selected:
            keys.append(selected[0])
        else:
            missing.append(index)
    value = tuple(output for output in analysed.outputs if output.key is None)
    if not value:
        raise SqlProblem("The projection contains no value columns. Select something beside the key.")
    if missing:
        raise _keys_missing(analysed, sink, missing)
    columns = _Columns(tuple(keys), value)
    _check_names(columns)
    return columns


def _key_twice(name: str, selected: Sequence[Output]) -> SqlProblem:
    names = " and ".join(sorted(output.name for output in selected))
    return SqlProblem(
        f"The projection contains a key column (`{name}`) more than once, aliased as: {names}.\nEach key column must only be in "
        "the projection once. If you intended to copy the key into the value, then consider using the AS_VALUE function to "
        "indicate which key reference should be copied."
    )


def _keys_missing(analysed: AnalysedQuery, sink: str, missing: list[int]) -> SqlProblem:
    relation = analysed.relation
    if relation.key_kind == FOREIGN_KEY:
        return _foreign_keys_missing(analysed, [relation.key_texts[index] for index in missing])
    texts = [relation.key_texts[index] for index in missing] if analysed.is_grouped else list(relation.key_texts)
    is_synthetic = analysed.scope.synthetic_key is not None and relation.any_key
    plural = "s" if len(texts) > 1 else ""
    word = "or" if relation.any_key else "and"
    listed = f"{', '.join(texts[:-1])} {word} {texts[-1]}" if len(texts) > 1 else texts[0]
    example = texts[0] if relation.any_key else ", ".join(texts)
    message = (
        f"Key{'' if relation.any_key else plural} missing from projection (ie, SELECT). "
        f"{_SYNTHETIC_KEY_LINK if is_synthetic else ''}\n"
        f"The query used to build `{sink}` must include the {relation.key_kind}{plural} {listed} in its projection "
        f"(eg, SELECT {example}...)."
    )
    if is_synthetic:
        message += (
            f"\n{texts[0]} was added as a synthetic key column because the join criteria did not match any source column. "
            "This expression must be included in the projection and may be aliased. "
        )
    return SqlProblem(message)


def _foreign_keys_missing(analysed: AnalysedQuery, missing: list[str]) -> SqlProblem:
    plural = "s" if len(missing) > 1 else ""
    left = analysed.scope.sources[0].alias
    return SqlProblem(
        f"Primary key column{plural} missing in projection. For foreign-key table-table joins, the projection must include all "
        f"primary key columns from the left input table (`{left}`). Missing column{plural}: {', '.join(map(quoted, missing))}."
    )


def _check_names(columns: _Columns) -> None:
    schema = columns.schema
    check_names(schema.key, "key")
    check_names(schema.value)
    clashing = {column.name for column in schema.key} & {column.name for column in schema.value}
    if clashing:
        shown = ", ".join(f"`{name}`" for name in sorted(clashing))
        raise SqlProblem(f"Value columns clash with key columns: {shown}. Give one of them another name with AS.")


def _columns(outputs: Sequence[Output]) -> tuple[Column, ...]:
    return tuple(Column(output.name, output.type) for output in outputs)


# -- the sink -------------------------------------------------------------------------------------


def _sink(
    statement: CreateAsSelect, analysed: AnalysedQuery, schema: Schema, clause: WithClause, defaults: Defaults
) -> Source:
    source = analysed.first_source
    key = _key_format(statement, analysed, schema, clause, defaults)
    name = clause.value_format.name or source.value_format.name
    value = with_case(value_format(clause.value_format, name, source.value_format), defaults)
    value = with_value_wrapping(value, schema.value, clause.wrap_single_value, defaults.wrap_single_values)
    check_key(key, schema.key)
    check_value(value, schema.value)
    return Source(
        name=statement.name,
        kind=statement.kind,
        schema=schema,
        topic=clause.topic or defaults.topic_prefix + statement.name,
        key_format=key,
        value_format=value,
        statement="",
        key_window=analysed.node.shape.key_window,
        window=_window(analysed),
        timestamp=timestamp_rule(clause, schema),
    )


def _window(analysed: AnalysedQuery) -> Window | None:
    """The window of the key: of the query itself, or of the one that it reads."""
    return analysed.query.window or (None if analysed.node.shape.key_window is None else analysed.first_source.window)


def _key_format(
    statement: CreateAsSelect, analysed: AnalysedQuery, schema: Schema, clause: WithClause, defaults: Defaults
) -> FormatUse:
    """That of the source, unless the statement says otherwise or the source has no keys."""
    source = analysed.first_source.key_format
    explicit = clause.key_format.name
    if analysed.query.partition_by == (Literal(None),):
        if explicit is not None and explicit.upper() != NONE:
            raise SqlProblem("Key format specified for stream without key columns.", clause.key_format.position)
        return FormatUse(NONE)
    name = explicit or (source.name if schema.key else NONE)
    if explicit is None and name == NONE and schema.key:
        name = defaults.key_format or NONE
    use = with_case(key_format(clause.key_format, name, statement.name, source), defaults)
    return with_key_wrapping(use, len(schema.key))


def _fitted(columns: _Columns, target: Source) -> _Columns:
    """The columns with the types of those of the target."""
    found, wanted = columns.schema, target.schema
    pairs = list(zip((*found.key, *found.value), (*wanted.key, *wanted.value), strict=False))
    is_same_size = (len(found.key), len(found.value)) == (len(wanted.key), len(wanted.value))
    if not is_same_size or any(
        one.name != other.name or not implicitly_castable(one.type, other.type) for one, other in pairs
    ):
        raise SqlProblem(
            f"Incompatible schema between results and sink.\nResult schema is {found}\nSink schema is {wanted}"
        )
    return _Columns(_cast(columns.key, wanted.key), _cast(columns.value, wanted.value))


def _cast(outputs: Sequence[Output], wanted: Sequence[Column]) -> tuple[Output, ...]:
    pairs = zip(outputs, wanted, strict=True)
    return tuple(
        replace(output, value=converted(output.value, column.type), type=column.type) for output, column in pairs
    )


def _written(analysed: AnalysedQuery, columns: _Columns) -> Project:
    named = [Named(output.name, output.value) for output in (*columns.key, *columns.value)]
    return projected(analysed, named, tuple(output.name for output in columns.key))
