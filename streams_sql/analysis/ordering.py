"""ORDER BY: what each of its expressions means."""

from __future__ import annotations

from streams_sql.analysis.scope import Scope
from streams_sql.analysis.select_list import Item
from streams_sql.language.expressions import ColumnName, Expression, Literal
from streams_sql.language.formatting import format_expression
from streams_sql.language.statements import Query, SortItem
from streams_sql.problem import SqlProblem


def order_expressions(query: Query, scope: Scope, items: list[Item]) -> list[Expression]:
    """On the columns of the relation that the query reads. A number is a place in the select list; a name alone is first of all one of
    the select list; inside of an expression it is first of all a column of a source."""
    return [_expression(sorting, scope, items) for sorting in query.order_by]


def _expression(sorting: SortItem, scope: Scope, items: list[Item]) -> Expression:
    written = sorting.expression
    match written:
        case Literal(bool() | None | str()):
            shown = format_expression(written)
            raise SqlProblem(f"ORDER BY {shown} says nothing: it is the same for all rows.", written.position)
        case Literal(int() as place):
            if not 1 <= place <= len(items):
                raise SqlProblem(
                    f"ORDER BY {place}: there is no such place in the select list, which has {len(items)} columns.",
                    written.position,
                )
            return items[place - 1].expression
        case ColumnName(name, None) if (item := _named(name, items)) is not None:
            return item.expression
    return scope.resolved_beside(written, "ORDER BY", {item.name: item.expression for item in items})


def _named(name: str, items: list[Item]) -> Item | None:
    return next((item for item in items if item.name == name), None)
