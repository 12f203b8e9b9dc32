"""Which literals of a plan may be exchanged for others without looking at the statement again.

A literal may be if it is an operand of a comparison in the condition, alone or in a cast: nothing else in a plan, and nothing that is
checked when a statement is analysed, depends on which one it is. That is not guessed from the text: the statement is analysed once with
its own literals and once with stand-ins, and both plans must be the same but for these operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final

from streams_sql.plan.nodes import PullPlan
from streams_sql.typed import Cast, Column, Literal, Operation, Operator, Typed
from streams_sql.views.shapes import LiteralValue

_LOGIC: Final = frozenset({Operator.AND, Operator.OR, Operator.NOT})
_COMPARING: Final = frozenset(
    {
        Operator.EQUAL,
        Operator.NOT_EQUAL,
        Operator.LESS,
        Operator.LESS_OR_EQUAL,
        Operator.GREATER,
        Operator.GREATER_OR_EQUAL,
        Operator.IN,
    }
)


@dataclass(frozen=True, slots=True)
class Template:
    """A plan in which columns of the names in `parameters` stand for literals. `slots` tells for each of them which literal of the
    text it is, and whether a minus stands before it."""

    plan: PullPlan
    parameters: tuple[str, ...]
    slots: tuple[tuple[int, bool], ...]

    def arguments(self, literals: Sequence[LiteralValue]) -> list[LiteralValue]:
        # A text never has a minus.
        return [-literals[index] if is_negated else literals[index] for index, is_negated in self.slots]  # type: ignore[operator]


class Unlike(Exception):
    """The plans differ in more than literals that may be exchanged."""


def template(
    plan: PullPlan, other: PullPlan, literals: Sequence[LiteralValue], others: Sequence[LiteralValue | None]
) -> Template:
    """From two plans of one statement: that with its `literals`, and that with `others` in their place; None: the literal stayed as
    it is. Unlike where a literal that was exchanged cannot be one that may be."""
    if not _is_same(replace(plan, condition=None), replace(other, condition=None)):
        raise Unlike
    making = _Making(literals, others)
    if plan.condition is None or other.condition is None:
        condition = plan.condition
    else:
        condition = making.made(plan.condition, other.condition)
    exchanged = {index for index, literal in enumerate(others) if literal is not None}
    if exchanged != {index for index, _ in making.slots}:
        raise Unlike
    if any(column.name.startswith(_PREFIX) for column in plan.source.schema.columns()):
        raise Unlike
    return Template(replace(plan, condition=condition), tuple(making.names()), tuple(making.slots))


_PREFIX: Final = "\0"


class _Making:
    def __init__(self, literals: Sequence[LiteralValue], others: Sequence[LiteralValue | None]) -> None:
        self._literals = literals
        self._others = others
        self.slots: list[tuple[int, bool]] = []

    def names(self) -> Iterator[str]:
        return (f"{_PREFIX}{number}" for number in range(len(self.slots)))

    def made(self, part: Typed, other: Typed) -> Typed:
        """A part of the condition that decides, with the literals in it exchanged for parameters."""
        match part, other:
            case Operation(operator, arguments), Operation(same, others) if operator is same and len(arguments) == len(
                others
            ):
                pairs = zip(arguments, others, strict=True)
                if operator in _LOGIC:
                    return replace(part, arguments=tuple(self.made(one, two) for one, two in pairs))
                if operator in _COMPARING:
                    return replace(part, arguments=tuple(self._operand(one, two) for one, two in pairs))
        if not _is_same(part, other):
            raise Unlike
        return part

    def _operand(self, part: Typed, other: Typed) -> Typed:
        match part, other:
            case Cast(operand, type_), Cast(same, same_type) if type_ == same_type:
                return replace(part, operand=self._operand(operand, same))
            case Literal(value, type_), Literal(changed, same_type) if type_ == same_type and type_ is not None:
                slot = self._slot(value, changed)
                if slot is not None:
                    self.slots.append(slot)
                    return Column(f"{_PREFIX}{len(self.slots) - 1}", type_)
        if not _is_same(part, other):
            raise Unlike
        return part

    def _slot(self, value: Any, changed: Any) -> tuple[int, bool] | None:
        """The literal of the text whose place this is."""
        if value.__class__ not in (int, str) or changed.__class__ is not value.__class__:
            return None
        for index, (literal, other) in enumerate(zip(self._literals, self._others, strict=True)):
            if other is None or literal.__class__ is not value.__class__:
                continue
            if value == literal and changed == other:
                return index, False
            if isinstance(literal, int) and isinstance(other, int) and value == -literal and changed == -other:
                return index, True
        return None


def _is_same(one: Any, other: Any) -> bool:
    """Equal in all parts, with equal types: 1 is not TRUE here."""
    if one is other:
        return True
    if one.__class__ is not other.__class__:
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if is_dataclass(one):
        return all(_is_same(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    return bool(one == other)
