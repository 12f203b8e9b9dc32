"""A plan as people read it: a line for each step, what it takes its rows from further in below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from streams_sql import typed
from streams_sql.language.statements import Emit, JoinKind, Window
from streams_sql.plan.nodes import (
    Aggregate,
    AggregateCall,
    Filter,
    FlatMap,
    ForeignKeyJoin,
    LookupJoin,
    Node,
    PersistentPlan,
    Project,
    PullPlan,
    PushPlan,
    Read,
    Rekey,
    StreamJoin,
    TableJoin,
    UnionAll,
    inputs_of,
)
from streams_sql.sources import Source
from streams_sql.sql_types import quoted
from streams_sql.typed import Operator, Typed

_INDENT: Final = "  "
_BEFORE: Final = frozenset({Operator.NOT})
_BEHIND: Final = frozenset({Operator.IS_NULL, Operator.IS_NOT_NULL})


def plan_text(plan: PersistentPlan | PushPlan | PullPlan) -> str:
    if isinstance(plan, PullPlan):
        return _pull_text(plan)
    if isinstance(plan, PersistentPlan):
        head = f"Write {source_text(plan.sink)}"
    else:
        head = "Send the rows" if plan.limit is None else f"Send the first {plan.limit} rows"
    return "\n".join([head, *(_INDENT + line for line in node_lines(plan.node))])


def expression_text(expression: Typed | typed.Lambda) -> str:
    return _FORMS[type(expression)](expression)


def call_text(call: AggregateCall) -> str:
    return f"{call.function}({', '.join([*map(expression_text, call.arguments), *map(repr, call.constants)])})"


# -- steps ----------------------------------------------------------------------------------------


def node_lines(node: Node) -> list[str]:
    return [_STEPS[type(node)](node), *(_INDENT + line for below in inputs_of(node) for line in node_lines(below))]


def _pull_text(plan: PullPlan) -> str:
    lines = [f"Columns {named_text(plan.columns)}"]
    if plan.condition is not None:
        lines.append(f"Filter {expression_text(plan.condition)}")
    lines.append(f"Look at {source_text(plan.source)}")
    head = "Send the rows" if plan.limit is None else f"Send at most {plan.limit} rows"
    return "\n".join([head, *(_INDENT * (depth + 1) + line for depth, line in enumerate(lines))])


def source_text(source: Source) -> str:
    formats = f"key {source.key_format.name}, value {source.value_format.name}"
    return f"{source.kind.value} {quoted(source.name)} (topic {source.topic}, {formats}): {source.schema}"


def _read(node: Read) -> str:
    return f"Read {source_text(node.source)}"


def _filter(node: Filter) -> str:
    return f"Filter {expression_text(node.condition)}"


def _project(node: Project) -> str:
    return f"Columns {named_text(node.columns)}"


def _flat_map(node: FlatMap) -> str:
    return (
        f"A row for each of {', '.join(f'{quoted(name)} = {expression_text(call)}' for name, call in node.functions)}"
    )


def _rekey(node: Rekey) -> str:
    return f"Partition by {named_text(node.key)}" if node.key else "Partition by nothing"


def _aggregate(node: Aggregate) -> str:
    calls = ", ".join(f"{quoted(call.name)} = {call_text(call)}" for call in node.aggregates)
    window = "" if node.window is None else f", {_window(node.window)}"
    when = "when a window is over" if node.emit is Emit.FINAL else "at each change"
    return f"Group by {named_text(node.keys) or 'nothing'}: {calls}{window}, {when}"


def _window(window: Window) -> str:
    parts = {
        "size": window.size_ms,
        "advance": window.advance_ms,
        "retention": window.retention_ms,
        "grace": window.grace_ms,
    }
    shown = ", ".join(f"{name} {span} ms" for name, span in parts.items() if span is not None)
    return f"{window.kind.value} window ({shown})"


def _stream_join(node: StreamJoin) -> str:
    within = f"{node.within.before_ms} ms before and {node.within.after_ms} ms after"
    grace = "" if node.within.grace_ms is None else f", grace {node.within.grace_ms} ms"
    sides = f"{expression_text(node.left_key)} = {expression_text(node.right_key)}"
    return f"{join_text(node.kind)} of streams on {sides}, within {within}{grace}"


def _lookup_join(node: LookupJoin) -> str:
    return f"{join_text(node.kind)} with a table on {expression_text(node.stream_key)}"


def _table_join(node: TableJoin) -> str:
    keys = (" and ".join(quoted(name) for name in side.shape.key) for side in (node.left, node.right))
    return f"{join_text(node.kind)} of tables on {' = '.join(keys)}"


def _foreign_key_join(node: ForeignKeyJoin) -> str:
    (key,) = node.right.shape.key
    return f"{join_text(node.kind)} of tables on the foreign key {expression_text(node.foreign_key)} = {quoted(key)}"


def join_text(kind: JoinKind) -> str:
    return f"{kind.value.capitalize()} join"


def named_text(columns: tuple[Any, ...]) -> str:
    shown = []
    for named in columns:
        text = expression_text(named.expression)
        name = quoted(named.name)
        shown.append(name if text == name else f"{name} = {text}")
    return ", ".join(shown)


_STEPS: Final[Mapping[type, Callable[[Any], str]]] = {
    Read: _read,
    Filter: _filter,
    Project: _project,
    FlatMap: _flat_map,
    Rekey: _rekey,
    UnionAll: lambda node: f"All rows of {len(node.inputs)} streams",
    Aggregate: _aggregate,
    StreamJoin: _stream_join,
    LookupJoin: _lookup_join,
    TableJoin: _table_join,
    ForeignKeyJoin: _foreign_key_join,
}

# -- expressions ----------------------------------------------------------------------------------


def _literal(node: typed.Literal) -> str:
    value = node.value
    if isinstance(value, bool) or value is None:
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _operation(node: typed.Operation) -> str:
    arguments = [expression_text(argument) for argument in node.arguments]
    operator = node.operator
    if operator in _BEHIND:
        return f"({arguments[0]} {operator.value})"
    if operator in _BEFORE:
        return f"({operator.value} {arguments[0]})"
    if operator is Operator.NEGATE:
        return f"-{arguments[0]}"
    if operator is Operator.IN:
        return f"({arguments[0]} IN ({', '.join(arguments[1:])}))"
    return f"({f' {operator.value} '.join(arguments)})"


def _case(node: typed.Case) -> str:
    whens = " ".join(f"WHEN {expression_text(when)} THEN {expression_text(then)}" for when, then in node.whens)
    default = "" if node.default is None else f" ELSE {expression_text(node.default)}"
    return f"CASE {whens}{default} END"


def _call(node: typed.Call) -> str:
    return f"{node.name}({', '.join(map(expression_text, node.arguments))})"


def _lambda(node: typed.Lambda) -> str:
    return f"({', '.join(parameter.name for parameter in node.parameters)}) => {expression_text(node.body)}"


def _array(node: typed.MakeArray) -> str:
    return f"ARRAY[{', '.join(map(expression_text, node.elements))}]"


def _map(node: typed.MakeMap) -> str:
    return f"MAP({', '.join(f'{expression_text(key)} := {expression_text(value)}' for key, value in node.entries)})"


def _struct(node: typed.MakeStruct) -> str:
    return f"STRUCT({', '.join(f'{quoted(name)} := {expression_text(value)}' for name, value in node.fields)})"


_FORMS: Final[Mapping[type, Callable[[Any], str]]] = {
    typed.Literal: _literal,
    typed.Column: lambda node: quoted(node.name),
    typed.Parameter: lambda node: str(node.name),
    typed.Operation: _operation,
    typed.Like: lambda node: f"({expression_text(node.operand)} LIKE {expression_text(node.pattern)})",
    typed.Cast: lambda node: f"CAST({expression_text(node.operand)} AS {node.type})",
    typed.Case: _case,
    typed.Call: _call,
    typed.Lambda: _lambda,
    typed.Subscript: lambda node: f"{expression_text(node.operand)}[{expression_text(node.index)}]",
    typed.StructField: lambda node: f"{expression_text(node.operand)}->{quoted(node.name)}",
    typed.MakeArray: _array,
    typed.MakeMap: _map,
    typed.MakeStruct: _struct,
}
