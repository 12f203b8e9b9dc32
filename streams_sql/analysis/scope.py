"""Names: which column of which source is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from streams_sql.analysis.calls import INTERVAL_UNITS, takes_unit
from streams_sql.analysis.catalogue_view import CatalogueView, choice_hint, known_source
from streams_sql.analysis.column_names import SYNTHETIC_KEY, joined_name
from streams_sql.analysis.traversal import rewritten, with_children
from streams_sql.language.expressions import ColumnName, Expression, FunctionCall, Lambda
from streams_sql.language.problem import Position, SqlProblem
from streams_sql.language.statements import Query
from streams_sql.sources import PSEUDO_COLUMNS, WINDOW_BOUNDS, Column, Source

Rename: TypeAlias = Callable[[ColumnName], ColumnName]

SYSTEM_COLUMNS: Final = frozenset({*PSEUDO_COLUMNS, *WINDOW_BOUNDS})


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source under the name by which a query speaks of it."""

    alias: str
    source: Source

    def columns(self) -> Iterator[Column]:
        """All that can be asked of its records: key, window, value, headers and pseudo columns."""
        yield from self.starred()
        yield from (Column(name, type_) for name, type_ in PSEUDO_COLUMNS.items())

    def starred(self) -> Iterator[Column]:
        """What `*` stands for."""
        schema = self.source.schema
        yield from schema.key
        if self.source.key_window is not None:
            yield from (Column(name, type_) for name, type_ in WINDOW_BOUNDS.items())
        yield from schema.value
        yield from (Column(column.name, column.type) for column in schema.headers)

    def has(self, name: str) -> bool:
        schema = self.source.schema
        if name in PSEUDO_COLUMNS or (name in WINDOW_BOUNDS and self.source.key_window is not None):
            return True
        return any(column.name == name for columns in (schema.key, schema.value, schema.headers) for column in columns)


@dataclass(frozen=True, slots=True)
class Scope:
    """The sources of a query. `is_windowed`: its groups have windows, so that their bounds can be asked for. `synthetic_key` is the
    name of a join's key that is no column of any source."""

    sources: tuple[NamedSource, ...]
    is_windowed: bool = False
    synthetic_key: str | None = None

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
        return SqlProblem(message + choice_hint(column.name, names), column.position)

    def resolved(self, expression: Expression, clause: str) -> Expression:
        """The expression with the names that its columns have in the relation that the query reads."""
        return self._renamed(expression, lambda column: self._in_relation(column, clause), frozenset())

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


def scope_of(query: Query, catalogue: CatalogueView) -> Scope:
    relations = [query.source, *(join.right for join in query.joins)]
    sources: list[NamedSource] = []
    for relation in relations:
        source = known_source(catalogue, relation.name, relation.position)
        if any(known.source.name == source.name for known in sources):
            raise SqlProblem(_same_source_twice(source.name, len(sources)), relation.position)
        sources.append(NamedSource(relation.alias, source))
    return Scope(tuple(sources), is_windowed=query.window is not None)


def _same_source_twice(name: str, known: int) -> str:
    if known > 1:
        return f"N-way joins do not support multiple occurrences of the same source. Source: '{name}'."
    return f"Can not join '{name}' to '{name}': self joins are not yet supported."


def taken_names(scope: Scope) -> Iterator[str]:
    """The names of the sources' own columns, with which no generated name may clash."""
    for source in scope.sources:
        yield from (column.name for column in source.source.schema.columns())
