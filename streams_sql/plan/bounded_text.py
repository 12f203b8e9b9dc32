"""Plans of queries that come to an end, as people read them: a line for each step, what it takes its rows from further in below it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from streams_sql.plan.bounded import (
    Bounded,
    BoundedPlan,
    Chosen,
    Computed,
    Distinct,
    Groups,
    Look,
    OrderBy,
    Pairs,
    Piped,
    Slice,
    Sorted,
    Together,
)
from streams_sql.plan.text import expression_text, join_text, named_text, node_lines, source_text
from streams_sql.sql_types import quoted

_INDENT: Final = "  "

Access: TypeAlias = Callable[[Look], str]
"""How the rows of a look are found."""


def bounded_text(plan: BoundedPlan, access: Access) -> str:
    return "\n".join(["Send the rows", *(_INDENT + line for line in _lines(plan.node, access))])


def _lines(node: Bounded, access: Access) -> list[str]:
    if isinstance(node, Look):
        return _look(node, access)
    if isinstance(node, Piped):
        last = [] if node.row_key is None else ["The last row of each key"]
        return [*last, *(_INDENT * len(last) + line for line in node_lines(node.node))]
    below: tuple[Bounded, ...]
    match node:
        case Pairs():
            below = (node.left, node.right)
        case Together():
            below = node.inputs
        case _:
            below = (node.input,)
    return [_step(node), *(_INDENT + line for each in below for line in _lines(each, access))]


def _step(node: Pairs | Chosen | Groups | Computed | Distinct | Sorted | Slice | Together) -> str:
    match node:
        case Chosen():
            return f"Filter {expression_text(node.condition)}"
        case Computed():
            return f"Columns {named_text(node.named)}"
        case Distinct():
            return "Distinct rows"
        case Sorted():
            first = "" if node.first is None else f", the first {node.first}"
            return f"Order by {_order(node.order)}{first}"
        case Slice():
            limit = "All rows" if node.limit is None else f"At most {node.limit} rows"
            return limit + (f" after the first {node.offset}" if node.offset else "")
        case Groups():
            return _groups(node)
        case Together():
            return f"All rows of {len(node.inputs)} queries"
    return _pairs(node)


def _groups(node: Groups) -> str:
    calls = ", ".join(
        f"{quoted(call.name)} = {call.function}({', '.join([*map(expression_text, call.arguments), *map(repr, call.constants)])})"
        for call in node.aggregates
    )
    return f"Group by {named_text(node.keys) or 'nothing'}{': ' if calls else ''}{calls}"


def _pairs(node: Pairs) -> str:
    parts = [f"{expression_text(one)} = {expression_text(other)}" for one, other in node.equal]
    if node.condition is not None:
        parts.append(expression_text(node.condition))
    return f"{join_text(node.kind)} on {' AND '.join(parts)}"


def _look(look: Look, access: Access) -> list[str]:
    lines = [f"Look at {source_text(look.source)}"]
    if look.condition is not None:
        lines.append(f"{_INDENT}where {expression_text(look.condition)}")
    if look.first is not None:
        lines.append(f"{_INDENT}the first {look.first} by {_order(look.order)}")
    return [*lines, f"{_INDENT}{access(look)}"]


def _order(order: tuple[OrderBy, ...]) -> str:
    return ", ".join(
        f"{quoted(by.column)} {'DESC' if by.is_descending else 'ASC'} NULLS {'FIRST' if by.has_nulls_first else 'LAST'}"
        for by in order
    )
