"""The select list: stars expanded, names resolved and given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from streams_sql.analysis.column_names import ColumnNaming, joined_name
from streams_sql.analysis.relation import Relation
from streams_sql.analysis.scope import SYSTEM_COLUMNS, Scope, taken_names
from streams_sql.language.expressions import ColumnName, Dereference, Expression
from streams_sql.language.statements import Query, SelectAll, SelectColumn
from streams_sql.problem import SqlProblem
from streams_sql.sources import WINDOW_BOUNDS
from streams_sql.sql_types import Struct


@dataclass(frozen=True, slots=True)
class Item:
    """One column of the result: its name, and an expression on the columns of the relation that the query reads."""

    name: str
    expression: Expression


def is_selected(query: Query, scope: Scope, alias: str, name: str) -> bool:
    """Whether the select list has this column of a source as it is."""
    for item in query.select:
        match item:
            case SelectAll(source, None):
                if source in (None, alias):
                    return True
            case SelectColumn(ColumnName() as column):
                if column.name == name and (
                    column.source == alias or (column.source is None and not scope.is_clashing(name))
                ):
                    return True
    return False


def select_list(query: Query, scope: Scope, relation: Relation, is_persistent: bool) -> list[Item]:
    naming = ColumnNaming(taken_names(scope))
    items: list[Item] = []
    for selected in query.select:
        if isinstance(selected, SelectColumn):
            items.append(_column(selected, scope, naming, is_persistent))
        elif selected.struct is None:
            items += _starred(selected, scope, relation, is_persistent)
        else:
            items += _fields(selected.struct, scope, relation)
    return items


def _column(selected: SelectColumn, scope: Scope, naming: ColumnNaming, is_persistent: bool) -> Item:
    written = selected.expression
    name = selected.alias or (_own_name(written, scope) if isinstance(written, ColumnName) else None)
    if name is not None:
        _check_reserved(name, written, is_persistent)
    expression = scope.resolved(written, "SELECT")
    return Item(naming.name_for(expression) if name is None else name, expression)


def _own_name(column: ColumnName, scope: Scope) -> str:
    if scope.is_clashing(column.name):
        return joined_name(scope.owner(column, "SELECT").alias, column.name)
    return column.name


def _check_reserved(name: str, written: Expression, is_persistent: bool) -> None:
    reserved = name.upper()
    if reserved not in SYSTEM_COLUMNS:
        return
    if not isinstance(written, ColumnName) or written.name != reserved:
        raise SqlProblem(
            f"`{reserved}` is a reserved column name. You cannot use it as an alias for a column.", written.position
        )
    if is_persistent:
        raise SqlProblem(
            f"Reserved column name in select: `{reserved}`. Please remove or alias the column.", written.position
        )


def _starred(selected: SelectAll, scope: Scope, relation: Relation, is_persistent: bool) -> Iterator[Item]:
    """The bounds of windows are in the key already where the result is written to a topic."""
    if selected.source is not None:
        scope.source(selected.source, selected.position)
    bounds = {scope.relation_name(source.alias, name) for source in scope.sources for name in WINDOW_BOUNDS}
    for alias, name in relation.starred:
        if selected.source in (None, alias) and not (is_persistent and not scope.is_join and name in bounds):
            yield Item(name, ColumnName(name, position=selected.position))


def _fields(struct: Expression, scope: Scope, relation: Relation) -> Iterator[Item]:
    base = scope.resolved(struct, "SELECT")
    inference = relation.inference()
    found = inference.of(base).type
    if not isinstance(found, Struct):
        raise SqlProblem(
            f"{inference.text(base)} is not a STRUCT type, but {found}: it has no fields.", struct.position
        )
    for field in found.fields:
        yield Item(field.name, Dereference(base, field.name, position=struct.position))
