"""DELETE FROM … WHERE: which keys are meant."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Final

from streams_sql.analysis.catalogue_view import CatalogueView, choice_hint, source_hint
from streams_sql.analysis.insertion import column_value
from streams_sql.language.expressions import Binary, ColumnName, Expression, In
from streams_sql.language.formatting import format_expression
from streams_sql.language.table_statements import DeleteRows
from streams_sql.plan.nodes import DeletePlan
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column, Source
from streams_sql.typed import Typed

KEYS_MAX: Final = 10_000
"""Of one statement."""


def plan_delete(statement: DeleteRows, catalogue: CatalogueView) -> DeletePlan:
    target = _target(statement, catalogue)
    key = {column.name: column for column in target.schema.key}
    values: dict[str, tuple[Typed, ...]] = {}
    for part in _conjuncts(statement.where):
        name, chosen = _choice(part, target, key)
        if name in values:
            raise SqlProblem(f"{name} is given twice: say once which values are meant.", part.position)
        values[name] = tuple(column_value(key[name], each) for each in chosen)
    missing = [name for name in key if name not in values]
    if missing:
        raise SqlProblem(
            f"DELETE needs the whole key, and nothing is said of {', '.join(missing)}: {_form(target)}",
            statement.where.position,
        )
    count = prod(len(chosen) for chosen in values.values())
    if count > KEYS_MAX:
        raise SqlProblem(
            f"These are {count} keys, and one statement deletes {KEYS_MAX} at most.", statement.where.position
        )
    return DeletePlan(target, tuple(product(*(values[name] for name in key))))


def _target(statement: DeleteRows, catalogue: CatalogueView) -> Source:
    target = catalogue.source(statement.target)
    cannot = f"Cannot delete from {statement.target}"  # noqa: S608 - a message
    if target is None:
        raise SqlProblem(
            f"{cannot}: there is no such table.{source_hint(catalogue, statement.target)}", statement.position
        )
    if not target.is_table:
        raise SqlProblem(
            f"{cannot}: it is a stream, whose records stand for themselves. Rows of tables can be deleted.",
            statement.position,
        )
    if target.is_read_only:
        raise SqlProblem(f"{cannot}: it is a SOURCE table, which is read-only.", statement.position)
    if target.query_id is not None:
        raise SqlProblem(
            f"{cannot}: the query {target.query_id} fills it, and would write the row again. Delete in what it reads.",
            statement.position,
        )
    if target.key_window is not None:
        raise SqlProblem(f"{cannot}: its keys have windows, which only queries write.", statement.position)
    return target


def _conjuncts(where: Expression) -> list[Expression]:
    match where:
        case Binary("AND", left, right):
            return [*_conjuncts(left), *_conjuncts(right)]
    return [where]


def _choice(part: Expression, target: Source, key: dict[str, Column]) -> tuple[str, tuple[Expression, ...]]:
    """A column of the key and the values that it may have."""
    match part:
        case Binary("=", ColumnName() as column, value):
            chosen: tuple[Expression, ...] = (value,)
        case Binary("=", value, ColumnName() as column):
            chosen = (value,)
        case In(ColumnName() as column, chosen, False):
            pass
        case _:
            raise SqlProblem(
                f"DELETE takes keys alone, and {format_expression(part)} is none: {_form(target)}", part.position
            )
    if column.source not in (None, target.name) or column.name not in key:
        raise SqlProblem(
            f"{column} is no column of the key of {target.name}, by which rows are deleted.{choice_hint(column.name, key)}",
            column.position,
        )
    return column.name, chosen


def _form(target: Source) -> str:
    wanted = " AND ".join(f"{column.name} = …" for column in target.schema.key)
    return f"DELETE FROM {target.name} WHERE {wanted}, or IN (…)."  # noqa: S608 - a message
