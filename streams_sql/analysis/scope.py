"""Names: which column of which source is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, runtime_checkable

from streams_sql.analysis.calls import INTERVAL_UNITS, takes_unit
from streams_sql.analysis.catalogue_view import CatalogueView, choice_hint, known_source, text_hint
from streams_sql.analysis.column_names import SYNTHETIC_KEY, joined_name
from streams_sql.analysis.traversal import rewritten, with_children
from streams_sql.language.expressions import ColumnName, Expression, FunctionCall, Lambda
from streams_sql.language.statements import Query
from streams_sql.language.statements import Relation as WrittenRelation
from streams_sql.plan.nodes import Node
from streams_sql.problem import Position, SqlProblem
from streams_sql.sources import PSEUDO_COLUMNS, ROWTIME, WINDOW_BOUNDS, Column, Source
from streams_sql.sql_types import SqlType

Rename: TypeAlias = Callable[[ColumnName], ColumnName]

_OTHER: Final = "\0"
"""No source has this name."""
SYSTEM_COLUMNS: Final = frozenset({*PSEUDO_COLUMNS, *WINDOW_BOUNDS})


class DerivedRows(Protocol):
    """What a query in FROM gives. `hidden` are columns of its key that it does not show; `has_time`: ROWTIME goes along by itself."""

    @property
    def hidden(self) -> frozenset[str]: ...

    @property
    def has_time(self) -> bool: ...


@runtime_checkable
class PlannedRows(DerivedRows, Protocol):
    """That of a query which runs on."""

    def node(self, prefix: str) -> Node:
        """The rows, with a prefix before the names of their columns."""


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source under the name by which a query speaks of it. `rows` are there if it is no stream or table but a query itself."""

    alias: str
    source: Source
    rows: DerivedRows | None = None

    @property
    def _pseudo_columns(self) -> Mapping[str, SqlType]:
        """Rows that come from no topic have no place there."""
        if self.rows is None:
            return {} if self.source.is_row else PSEUDO_COLUMNS
        return {ROWTIME: PSEUDO_COLUMNS[ROWTIME]} if self.rows.has_time else {}

    @property
    def _hidden(self) -> frozenset[str]:
        return frozenset() if self.rows is None else self.rows.hidden

    def columns(self) -> Iterator[Column]:
        """All that can be asked of its records: key, window, value, headers and pseudo columns."""
        yield from self.starred()
        yield from (Column(name, type_) for name, type_ in self._pseudo_columns.items())
        yield from (Column(column.name, column.type) for column in self.source.record_columns)

    def starred(self) -> Iterator[Column]:
        """What `*` stands for."""
        schema = self.source.schema
        yield from (column for column in schema.key if column.name not in self._hidden)
        if self.source.key_window is not None:
            yield from (Column(name, type_) for name, type_ in WINDOW_BOUNDS.items())
        yield from schema.value
        yield from (Column(column.name, column.type) for column in schema.headers)

    def has(self, name: str) -> bool:
        schema = self.source.schema
        if name in self._pseudo_columns or (name in WINDOW_BOUNDS and self.source.key_window is not None):
            return True
        if name in self._hidden:
            return False
        groups = (schema.key, schema.value, schema.headers, self.source.record_columns)
        return any(column.name == name for columns in groups for column in columns)


@dataclass(frozen=True, slots=True)
class Scope:
    """The sources of a query. `is_windowed`: its groups have windows, so that their bounds can be asked for. `synthetic_key` is the
    name of a join's key that is no column of any source. `outside` are names of sources of the queries around this one."""

    sources: tuple[NamedSource, ...]
    is_windowed: bool = False
    synthetic_key: str | None = None
    outside: frozenset[str] = frozenset()

    @property
    def is_join(self) -> bool:
        return len(self.sources) > 1

    def relation_name(self, alias: str, column: str) -> str:
        """What a source's column is called in the relation that the query reads."""
        return joined_name(alias, column) if self.is_join else column

    def is_clashing(self, name: str) -> bool:
        """Whether several sources have a column of that name."""
        return self.is_join and sum(source.has(name) for source in self.sources) > 1

    def source(self, alias: str, position: Position | None) -> NamedSource:
        for source in self.sources:
            if source.alias == alias:
                return source
        if alias in self.outside:
            raise SqlProblem(
                f"'{alias}' stands outside of this query, which sees its own sources alone. Select the columns here, and say in the "
                "ON of a JOIN outside which rows belong together.",
                position,
            )
        hint = choice_hint(alias, [source.alias for source in self.sources])
        raise SqlProblem(f"'{alias}' is not a valid stream/table name or alias.{hint}", position)

    def owner(self, column: ColumnName, clause: str) -> NamedSource:
        """The source that has the column."""
        if column.source is not None:
            owners = [source for source in (self.source(column.source, column.position),) if self._has(source, column)]
        else:
            owners = [source for source in self.sources if self._has(source, column)]
        if len(owners) == 1:
            return owners[0]
        if owners and column.name not in WINDOW_BOUNDS:
            choices = " or ".join(f"{source.alias}.{column.name}" for source in owners)
            raise SqlProblem(f"Column '{column}' is ambiguous. Could be {choices}.", column.position)
        raise self._unknown(column, clause)

    def _has(self, source: NamedSource, column: ColumnName) -> bool:
        return source.has(column.name) or (self.is_windowed and column.name in WINDOW_BOUNDS)

    def _unknown(self, column: ColumnName, clause: str) -> SqlProblem:
        message = f"{clause} column '{column}' cannot be resolved."
        if clause == "PARTITION BY":
            message = (
                f"{clause} column '{column}' cannot be resolved. '{column}' must be a column in the source schema since "
                "PARTITION BY is applied on the input."
            )
        asked = [source for source in self.sources if column.source in (None, source.alias)]
        names = [known.name for source in asked for known in source.columns()]
        hint = text_hint(column) or (choice_hint(column.name, names) if names else " The query has no FROM.")
        return SqlProblem(message + hint, column.position)

    def resolved(self, expression: Expression, clause: str) -> Expression:
        """The expression with the names that its columns have in the relation that the query reads."""
        return self._renamed(expression, lambda column: self._in_relation(column, clause), frozenset())

    def resolved_beside(self, expression: Expression, clause: str, others: Mapping[str, Expression]) -> Expression:
        """The same, but a name that no source has may be one of the others, and stands for that expression then."""

        def rename(column: ColumnName) -> ColumnName:
            is_other = column.source is None and column.name in others
            if is_other and not any(source.has(column.name) for source in self.sources):
                return ColumnName(column.name, _OTHER, position=column.position)
            return self._in_relation(column, clause)

        def put_in(part: Expression) -> Expression | None:
            return others[part.name] if isinstance(part, ColumnName) and part.source == _OTHER else None

        return rewritten(self._renamed(expression, rename, frozenset()), put_in)

    def qualified(self, expression: Expression, clause: str) -> Expression:
        """The expression with the names of its columns behind those of their sources."""

        def rename(column: ColumnName) -> ColumnName:
            return ColumnName(column.name, self.owner(column, clause).alias, position=column.position)

        return self._renamed(expression, rename, frozenset())

    def _renamed(self, expression: Expression, rename: Rename, parameters: frozenset[str]) -> Expression:
        """Parameters of lambdas stay as they are, and so do words such as DAYS where a function takes them."""

        def change(part: Expression) -> Expression | None:
            match part:
                case ColumnName():
                    return part if part.source is None and part.name in parameters else rename(part)
                case Lambda():
                    inner = parameters | set(part.parameters)
                    return with_children(part, lambda body: self._renamed(body, rename, inner))
                case FunctionCall():
                    units = {id(word) for index, word in enumerate(part.arguments) if self._is_unit(part, index, word)}
                    return with_children(
                        part, lambda word: word if id(word) in units else self._renamed(word, rename, parameters)
                    )
            return None

        return rewritten(expression, change)

    def _is_unit(self, call: FunctionCall, index: int, argument: Expression) -> bool:
        if not isinstance(argument, ColumnName) or argument.source is not None or argument.name not in INTERVAL_UNITS:
            return False
        return takes_unit(call.name, index) and not any(source.has(argument.name) for source in self.sources)

    def _in_relation(self, column: ColumnName, clause: str) -> ColumnName:
        if column.source is None and clause == "SELECT" and self._is_synthetic_key(column.name):
            return column
        owner = self.owner(column, clause)
        if self.is_windowed and column.name in WINDOW_BOUNDS and not owner.has(column.name):
            return ColumnName(column.name, position=column.position)
        return ColumnName(self.relation_name(owner.alias, column.name), position=column.position)

    def _is_synthetic_key(self, name: str) -> bool:
        return self.is_join and name.startswith(SYNTHETIC_KEY) and name == self.synthetic_key


Derive: TypeAlias = Callable[[WrittenRelation, frozenset[str]], NamedSource]
"""What a query in FROM gives; the names are those of the sources around it."""


def scope_of(
    query: Query,
    catalogue: CatalogueView,
    derive: Derive | None = None,
    outside: frozenset[str] = frozenset(),
    *,
    may_repeat: bool = False,
) -> Scope:
    """Without `derive`, queries in FROM are refused. `may_repeat`: the same source may be joined with itself, under another name."""
    relations = [query.source, *(join.right for join in query.joins)]
    aliases = frozenset(relation.alias for relation in relations)
    sources: list[NamedSource] = []
    for relation in relations:
        if relation.query is None:
            source = NamedSource(relation.alias, known_source(catalogue, relation.name, relation.position))
        elif derive is None:
            raise SqlProblem("Queries in FROM, WITH and UNION ALL are not possible here.", relation.position)
        else:
            source = derive(relation, outside | aliases)
        _check_twice(source, sources, relation.position, may_repeat=may_repeat)
        sources.append(source)
    return Scope(tuple(sources), is_windowed=query.window is not None, outside=outside)


def _check_twice(source: NamedSource, known: list[NamedSource], position: Position | None, *, may_repeat: bool) -> None:
    name = source.source.name
    is_there = any(each.rows is None and each.source.name == name for each in known)
    if is_there and source.rows is None and not may_repeat:
        raise SqlProblem(_same_source_twice(name, len(known)), position)
    if any(each.alias == source.alias for each in known):
        raise SqlProblem(
            f"{source.alias} is there twice: give one of them another name, FROM {source.alias} AS other_name.",
            position,
        )


def _same_source_twice(name: str, known: int) -> str:
    if known > 1:
        return f"N-way joins do not support multiple occurrences of the same source. Source: '{name}'."
    return (
        f"Can not join '{name}' to '{name}': self joins are not yet supported. "
        "Let a query in FROM, which selects everything, stand for one of them."
    )


def taken_names(scope: Scope) -> Iterator[str]:
    """The names of the sources' own columns, with which no generated name may clash."""
    for source in scope.sources:
        yield from (column.name for column in source.source.schema.columns())
