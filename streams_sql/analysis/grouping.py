"""GROUP BY: aggregates apart from what is done with their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from streams_sql import typed
from streams_sql.analysis.calls import called, cast_hint, is_aggregate
from streams_sql.analysis.coercion import converted
from streams_sql.analysis.column_names import ColumnNaming, aggregate_name
from streams_sql.analysis.relation import Key, Relation, typed_columns, typed_condition
from streams_sql.analysis.scope import Scope
from streams_sql.analysis.select_list import Item
from streams_sql.analysis.traversal import rewritten, walk
from streams_sql.function_declaration import UNLIMITED, AggregateFunction
from streams_sql.functions.library import LIBRARY
from streams_sql.functions.resolution import LambdaTypes, resolve_aggregate, unknown_function
from streams_sql.language.expressions import ColumnName, Expression, FunctionCall
from streams_sql.language.formatting import format_expression
from streams_sql.language.statements import Emit, Query, Window, WindowKind
from streams_sql.plan.nodes import Aggregate, AggregateCall, Filter, Named, Shape
from streams_sql.problem import SqlProblem
from streams_sql.sources import PSEUDO_COLUMNS, ROWTIME, WINDOW_BOUNDS, Column, KeyWindow
from streams_sql.typed import Typed

_LOOSE_ITEMS: Final = (
    "Non-aggregate SELECT expression(s) not part of GROUP BY: {}\n"
    "Either add the column(s) to the GROUP BY or remove them from the SELECT."
)
GROUPING: Final = "grouping expression"
_EVERY_ROW: Final = typed.Column(ROWTIME, PSEUDO_COLUMNS[ROWTIME])
_AGGREGATION_REQUIRED: Final = "GROUP BY requires aggregate functions in either the SELECT or HAVING clause."


@dataclass(frozen=True, slots=True)
class Grouped:
    """A relation of groups, the select list on its columns, and what messages call them."""

    relation: Relation
    items: list[Item]
    names: Mapping[str, str]


def has_aggregates(items: list[Item]) -> bool:
    return any(is_aggregate(part) for item in items for part in walk(item.expression))


def grouped(relation: Relation, scope: Scope, query: Query, items: list[Item], limits: Mapping[str, int]) -> Grouped:
    """`limits` are what settings allow some aggregates to keep."""
    if query.window is not None:
        _check_window(query.window)
    groups = group_expressions(query, scope)
    for by in (*groups, *([scope.resolved(query.where, "WHERE")] if query.where else [])):
        _refuse_window_bounds(by, query.window)
    names = _key_names(groups, items, relation)
    parts = GroupParts(relation, dict(zip(groups, names, strict=True)), query.window, limits)
    selected = parts.selected(items)
    having = None if query.having is None else parts.having(scope.resolved(query.having, "HAVING"))
    parts.check()
    node = _node(relation, query, parts, list(zip(names, groups, strict=True)))
    columns = typed_columns(node.shape)
    keys = tuple(Key(name, columns[name]) for name in names)
    texts = tuple(format_expression(group) for group in groups)
    result = Relation(node, columns, keys, (), GROUPING, texts)
    if having is not None:
        condition = typed_condition(result.inference(parts.names), having, "HAVING")
        result = replace(result, node=Filter(node, condition, node.shape))
    return Grouped(result, selected, parts.names)


def _check_window(window: Window) -> None:
    if window.size_ms <= 0:
        raise SqlProblem("Window size must be larger than zero.", window.position)
    if window.advance_ms is not None and not 0 < window.advance_ms <= window.size_ms:
        raise SqlProblem(
            f"Window advance interval should be more than zero and no more than window duration: it is {window.advance_ms} ms, "
            f"the window {window.size_ms} ms.",
            window.position,
        )
    least_ms = window.size_ms + (window.grace_ms or 0)
    if window.retention_ms is not None and window.retention_ms < least_ms:
        raise SqlProblem(
            f"Window retention must be larger or equal to the sum of the window size and the grace period: it is "
            f"{window.retention_ms} ms, they are {least_ms} ms.",
            window.position,
        )


def group_expressions(query: Query, scope: Scope) -> list[Expression]:
    groups: list[Expression] = []
    for written in query.group_by:
        group = scope.resolved(written, "GROUP BY")
        if group in groups:
            raise SqlProblem(f"Duplicate GROUP BY expression: {format_expression(written)}", written.position)
        for part in walk(group):
            if isinstance(part, FunctionCall) and is_aggregate(part):
                raise SqlProblem(
                    f"GROUP BY does not support aggregate functions: {part.name} is an aggregate function.",
                    part.position,
                )
        groups.append(group)
    return groups


def _refuse_window_bounds(expression: Expression, window: Window | None) -> None:
    for part in walk(expression):
        if window is not None and isinstance(part, ColumnName) and part.name in WINDOW_BOUNDS:
            raise SqlProblem(
                f"Window bounds column {part.name} can only be used in the SELECT clause of windowed aggregations and can not "
                "be passed to aggregate functions.\nSee https://github.com/confluentinc/ksql/issues/4397",
                part.position,
            )


def _key_names(groups: list[Expression], items: list[Item], relation: Relation) -> list[str]:
    """A key is called as it is in the select list."""
    names = []
    for group in groups:
        selected = [item.name for item in items if item.expression == group]
        if len(selected) > 1:
            shown = " and ".join(f"`{name}`" for name in selected)
            raise SqlProblem(
                f"The projection contains a key column more than once: {shown}.\nEach key column must only be in the projection "
                "once. If you intended to copy the key into the value, then consider using the AS_VALUE function to indicate "
                "which key reference should be copied.",
                group.position,
            )
        names.append(selected[0] if selected else _own_name(group, relation))
    return names


def _own_name(group: Expression, relation: Relation) -> str:
    return group.name if isinstance(group, ColumnName) else ColumnNaming(relation.columns).name_for(group)


class GroupParts:
    """Takes expressions apart: what stands in groups and aggregates is given the names of their columns."""

    def __init__(
        self,
        relation: Relation,
        groups: Mapping[Expression, str],
        window: Window | None,
        limits: Mapping[str, int],
        every_row: Typed = _EVERY_ROW,
    ) -> None:
        """`every_row` is what COUNT(*) counts: no row has NULL there."""
        self._relation = relation
        self._every_row = every_row
        self._groups = groups
        self._window = window
        self._limits = limits
        self._calls: dict[FunctionCall, AggregateCall] = {}
        self._loose_items: list[Expression] = []
        self._loose_having: list[Expression] = []
        self._loose_order: list[Expression] = []
        self.names = {name: format_expression(group) for group, name in self._groups.items()}

    @property
    def aggregates(self) -> tuple[AggregateCall, ...]:
        return tuple(self._calls.values())

    def selected(self, items: list[Item]) -> list[Item]:
        changed = []
        for item in items:
            loose: list[Expression] = []
            changed.append(replace(item, expression=rewritten(item.expression, self._change(loose))))
            if loose:
                self._loose_items.append(item.expression)
        return changed

    def ordered(self, expressions: list[Expression]) -> list[Expression]:
        """Those of ORDER BY."""
        return [rewritten(expression, self._change(self._loose_order)) for expression in expressions]

    def having(self, condition: Expression) -> Expression:
        _refuse_window_bounds(condition, self._window)
        return rewritten(condition, self._change(self._loose_having))

    def check(self) -> None:
        if not self._calls:
            raise SqlProblem(_AGGREGATION_REQUIRED)
        self.check_loose()

    def check_loose(self) -> None:
        """SqlProblem where something is neither grouped by nor aggregated."""
        if self._loose_items:
            raise SqlProblem(_LOOSE_ITEMS.format(_listed(self._loose_items)), self._loose_items[0].position)
        if self._loose_having:
            raise SqlProblem(
                f"Non-aggregate HAVING expression not part of GROUP BY: {_listed(self._loose_having)}\n"
                "Consider switching the HAVING clause to a WHERE clause before the GROUP BY.",
                self._loose_having[0].position,
            )
        if self._loose_order:
            raise SqlProblem(
                f"Non-aggregate ORDER BY expression not part of GROUP BY: {_listed(self._loose_order)}\n"
                "Order by what is grouped by, or by an aggregate.",
                self._loose_order[0].position,
            )

    def _change(self, loose: list[Expression]) -> Callable[[Expression], Expression | None]:
        def change(part: Expression) -> Expression | None:
            if part in self._groups:
                return ColumnName(self._groups[part], position=part.position)
            if isinstance(part, FunctionCall):
                return self._call(part)
            if isinstance(part, ColumnName) and self._is_loose(part.name):
                loose.append(part)
            return None

        return change

    def _is_loose(self, name: str) -> bool:
        return name in self._relation.columns and (self._window is None or name not in WINDOW_BOUNDS)

    def _call(self, call: FunctionCall) -> Expression | None:
        function = called(call)
        if function is None:
            problem = unknown_function(call.name, LIBRARY.names())
            problem.position = call.position
            raise problem
        if not isinstance(function, AggregateFunction):
            return None
        for argument in call.arguments:
            self._check_argument(call, argument)
        if call not in self._calls:
            self._calls[call] = self._typed(call, function, aggregate_name(len(self._calls)))
        name = self._calls[call].name
        self.names[name] = format_expression(call)
        return ColumnName(name, position=call.position)

    def _check_argument(self, call: FunctionCall, argument: Expression) -> None:
        _refuse_window_bounds(argument, self._window)
        for part in walk(argument):
            if isinstance(part, FunctionCall) and is_aggregate(part):
                raise SqlProblem(
                    f"Aggregate functions can not be nested: {call.name.upper()}({part.name.upper()}())", part.position
                )

    def _all_rows(self, function: AggregateFunction) -> list[Typed]:
        """COUNT(*) and COUNT() count what every row has."""
        return [] if any(not overload.parameters for overload in function.overloads) else [self._every_row]

    def _typed(self, call: FunctionCall, function: AggregateFunction, name: str) -> AggregateCall:
        inference = self._relation.inference()
        arguments = [inference.of(argument) for argument in call.arguments] or self._all_rows(function)
        types = [argument.type for argument in arguments]
        try:
            resolved = resolve_aggregate(function, types)
        except SqlProblem as problem:
            written = call.arguments if len(call.arguments) == len(types) else ()
            hint = cast_hint(
                types[: len(written)], written, format_expression, lambda tried: resolve_aggregate(function, tried)
            )
            raise SqlProblem(problem.message + hint, call.position) from problem
        cast = [
            argument if wanted is None or isinstance(wanted, LambdaTypes) else converted(argument, wanted)
            for argument, wanted in zip(arguments, resolved.arguments, strict=True)
        ]
        split = len(cast) - resolved.overload.constants
        constants = tuple(_constant(call, index, arguments[index]) for index in range(split, len(arguments)))
        if resolved.overload.limit_setting is not None:
            constants += (self._limits.get(resolved.overload.limit_setting, UNLIMITED),)
        try:
            if constants:
                resolved.overload.new_accumulator(resolved.result, constants)
        except ValueError as problem:
            raise SqlProblem(f"{function.name}: {problem}", call.position) from None
        column = Column(name, resolved.result)
        return AggregateCall(name, function.name, resolved.overload, tuple(cast[:split]), constants, column)


def _listed(expressions: list[Expression]) -> str:
    return ", ".join(map(format_expression, expressions))


def _constant(call: FunctionCall, index: int, argument: Typed) -> object:
    if not isinstance(argument, typed.Literal):
        text = format_expression(call.arguments[index])
        raise SqlProblem(
            f"Parameter {index + 1} passed to function {call.name} must be a literal constant, but was expression: '{text}'",
            call.arguments[index].position,
        )
    return argument.value


def _node(relation: Relation, query: Query, parts: GroupParts, groups: list[tuple[str, Expression]]) -> Aggregate:
    inference = relation.inference()
    keys = tuple(Named(name, _key(inference.of(group), group)) for name, group in groups)
    columns = [Column(key.name, key.expression.type) for key in keys if key.expression.type is not None]
    columns += [call.column for call in parts.aggregates]
    if query.window is not None:
        columns += [Column(name, type_) for name, type_ in WINDOW_BOUNDS.items()]
    columns.append(Column(ROWTIME, PSEUDO_COLUMNS[ROWTIME]))
    window = None if query.window is None else key_window(query.window)
    shape = Shape(tuple(columns), tuple(key.name for key in keys), True, window)
    return Aggregate(relation.node, keys, parts.aggregates, query.window, query.emit or Emit.CHANGES, shape)


def _key(value: Typed, group: Expression) -> Typed:
    if value.type is None:
        raise SqlProblem(
            "GROUP BY NULL makes no groups: a row with NULL among its keys is passed over.", group.position
        )
    return value


def key_window(window: Window) -> KeyWindow:
    return KeyWindow(window.kind, None if window.kind is WindowKind.SESSION else window.size_ms)
