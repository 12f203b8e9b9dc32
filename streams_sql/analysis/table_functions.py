"""Table functions in the select list: a step of the plan that gives them columns."""

from __future__ import annotations

from dataclasses import replace

from streams_sql import typed
from streams_sql.analysis.calls import called, typed_call
from streams_sql.analysis.column_names import table_function_name
from streams_sql.analysis.relation import Relation, typed_columns
from streams_sql.analysis.select_list import Item
from streams_sql.analysis.traversal import rewritten, walk
from streams_sql.function_declaration import Function
from streams_sql.language.expressions import Case, ColumnName, Expression, FunctionCall
from streams_sql.plan.nodes import FlatMap, Shape
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column


def is_table_function(expression: Expression) -> bool:
    return isinstance(expression, FunctionCall) and _table_function(expression) is not None


def _table_function(call: FunctionCall) -> Function | None:
    function = called(call)
    return function if isinstance(function, Function) and function.is_table else None


def has_table_functions(items: list[Item]) -> bool:
    return any(is_table_function(part) for item in items for part in walk(item.expression))


def flattened(relation: Relation, items: list[Item]) -> tuple[Relation, list[Item]]:
    """The relation with a column for each table function, and the items that use these columns."""
    if not has_table_functions(items):
        return relation, items
    if relation.node.shape.is_table:
        raise SqlProblem("Table source is not supported with table functions. Use a stream.")
    calls: list[tuple[str, typed.Call]] = []

    def change(part: Expression) -> Expression | None:
        if isinstance(part, Case):
            _refuse_inside(part, "Table functions cannot be used in CASE: {name}")
        if not isinstance(part, FunctionCall) or not is_table_function(part):
            return None
        for argument in part.arguments:
            _refuse_inside(argument, f"Table functions cannot be nested: {part.name}({{name}}())")
        name = table_function_name(len(calls))
        calls.append((name, _typed(relation, part)))
        return ColumnName(name, position=part.position)

    items = [replace(item, expression=rewritten(item.expression, change)) for item in items]
    shape = relation.node.shape
    added = tuple(Column(name, call.type) for name, call in calls)
    shape = Shape(shape.columns + added, shape.key, shape.is_table, shape.key_window)
    columns = {**relation.columns, **typed_columns(Shape(added, ()))}
    return replace(relation, node=FlatMap(relation.node, tuple(calls), shape), columns=columns), items


def _refuse_inside(expression: Expression, message: str) -> None:
    for part in walk(expression):
        if isinstance(part, FunctionCall) and is_table_function(part):
            raise SqlProblem(message.format(name=part.name), part.position)


def _typed(relation: Relation, call: FunctionCall) -> typed.Call:
    function = _table_function(call)
    assert function is not None, "it was looked at before"
    try:
        return typed_call(relation.inference(), call, function)
    except SqlProblem as problem:
        raise SqlProblem(problem.message, problem.position or call.position) from problem
