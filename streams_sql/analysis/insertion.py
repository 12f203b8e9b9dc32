"""INSERT INTO … VALUES."""

from __future__ import annotations

from streams_sql.analysis.calls import scalar_call
from streams_sql.analysis.cast_hints import can_cast
from streams_sql.analysis.catalogue_view import CatalogueView, choice_hint, source_hint
from streams_sql.analysis.coercion import converted, implicitly_castable
from streams_sql.analysis.traversal import walk
from streams_sql.analysis.type_inference import TypeInference
from streams_sql.analysis.type_names import base_name
from streams_sql.language.expressions import ColumnName, Expression, Lambda
from streams_sql.language.formatting import format_expression
from streams_sql.language.statements import InsertValues
from streams_sql.plan.nodes import InsertPlan, InsertRow
from streams_sql.problem import SqlProblem, placed_at
from streams_sql.sources import PSEUDO_COLUMNS, ROWTIME, Column, Source
from streams_sql.typed import Literal, Typed


def plan_insert_values(statement: InsertValues, catalogue: CatalogueView) -> InsertPlan:
    with placed_at(statement.position):
        target = _target(statement, catalogue)
        return InsertPlan(target, tuple(_row(statement, row, target) for row in statement.rows))


def _row(statement: InsertValues, row: tuple[Expression, ...], target: Source) -> InsertRow:
    names = _names(statement, row, target)
    columns = [*target.schema.key, *target.schema.value]
    types = {column.name: column.type for column in columns} | {ROWTIME: PSEUDO_COLUMNS[ROWTIME]}
    values: dict[str, Typed] = {}
    for name, expression in zip(names, row, strict=True):
        if name in values:
            raise SqlProblem(f"Column name {name} is there more than once.", expression.position)
        values[name] = column_value(Column(name, types[name]), expression)
    missing = [column.name for column in target.schema.key if column.name not in values]
    if target.is_table and missing:
        raise SqlProblem(f"Value for primary key column(s) {', '.join(missing)} is required for tables")
    key = tuple(values.get(column.name, Literal(None, column.type)) for column in target.schema.key)
    value = tuple(values.get(column.name, Literal(None, column.type)) for column in target.schema.value)
    return InsertRow(key, value, values.get(ROWTIME))


def _target(statement: InsertValues, catalogue: CatalogueView) -> Source:
    target = catalogue.source(statement.target)
    if target is None:
        raise SqlProblem(
            f"Cannot insert values into an unknown stream/table: `{statement.target}`"
            f"{source_hint(catalogue, statement.target)}",
            statement.position,
        )
    if target.is_read_only:
        kind = target.kind.value.lower()
        raise SqlProblem(f"Cannot insert values into read-only {kind}: {target.name}", statement.position)
    if target.key_window is not None:
        raise SqlProblem(f"Cannot insert values into windowed stream/table: {target.name}", statement.position)
    return target


def _names(statement: InsertValues, row: tuple[Expression, ...], target: Source) -> list[str]:
    schema = target.schema
    writable = [column.name for column in (*schema.key, *schema.value)]
    headers = [column.name for column in schema.headers]
    names = list(statement.columns) or writable
    if not statement.columns and headers and len(row) == len(writable) + len(headers):
        names = [column.name for column in schema.columns()]
    found = [name for name in names if name in headers]
    if found:
        raise SqlProblem(f"Cannot insert into HEADER columns: {', '.join(found)}")
    for name, place in zip(names, statement.places or [statement.position] * len(names), strict=True):
        if name in PSEUDO_COLUMNS and name != ROWTIME:
            raise SqlProblem(f"Inserting into column `{name}` is not allowed.", place)
        if name not in writable and name != ROWTIME:
            raise SqlProblem(f"Column name `{name}` does not exist.{choice_hint(name, writable)}", place)
    if statement.columns and len(names) != len(row):
        raise SqlProblem(f"Expected number columns and values to match: {len(names)}, {len(row)}", statement.position)
    if len(names) != len(row):
        raise SqlProblem(
            f"Expected a value for each column. Expected Columns: {_listed(names)}. Got {_values(row)}: "
            f"{len(names)} columns, {len(row)} values."
        )
    return names


def _listed(names: list[str]) -> str:
    return f"[{', '.join(f'`{name}`' for name in names)}]"


def _values(row: tuple[Expression, ...]) -> str:
    return f"[{', '.join(map(format_expression, row))}]"


def column_value(column: Column, expression: Expression) -> Typed:
    """An expression without columns, as the type of the column that it is for."""
    parameters = {name for part in walk(expression) if isinstance(part, Lambda) for name in part.parameters}
    for part in walk(expression):
        if isinstance(part, ColumnName) and part.name not in parameters:
            text = format_expression(expression)
            raise SqlProblem(
                f"Unsupported column reference in insert value: {text}. Texts stand in single quotes.", part.position
            )
    found = TypeInference({}, scalar_call).of(expression)
    if not implicitly_castable(found.type, column.type):
        text = format_expression(expression)
        hint = (
            f". CAST({text} AS {column.type}) would make it fit."
            if can_cast(expression, found.type, column.type)
            else ""
        )
        raise SqlProblem(
            f"Expected type {column.type} for field `{column.name}` but got {base_name(found.type)}({text}){hint}",
            expression.position,
        )
    return converted(found, column.type)
